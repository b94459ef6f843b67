// Log-probabilities of the distributions.
#include "plated/torch/distributions.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "plated/error.hpp"

namespace plated::torch {

namespace {

using Tensors = std::vector<at::Tensor>;

/// The logarithm, which passes nothing back where a probability is 0: nothing it could be multiplied with is finite.
at::Tensor log_of(const at::Tensor& probability) {
  if (!probability.requires_grad()) return probability.log();
  const at::Tensor positive = probability > 0;
  return at::where(positive, at::where(positive, probability, 1.0).log(), -INFINITY);
}

/// k · log(p) that is 0 for k = 0, whatever p is, and passes nothing back there.
at::Tensor times_log(const at::Tensor& count, const at::Tensor& probability) {
  const at::Tensor some = count != 0;
  return at::where(some, count * at::where(some, probability, 1.0).log(), 0.0);
}

at::Tensor floating(const at::Tensor& tensor) {
  return at::isIntegralType(tensor.scalar_type(), true) ? tensor.to(at::kDouble) : tensor;
}

void check_own(const Value& parameter, std::int64_t own, const char* distribution) {
  if (parameter.own_axes() == own) return;
  throw RankError(std::string("a parameter of ") + distribution + " has " + std::to_string(parameter.own_axes()) +
                  " axes without a name, not " + std::to_string(own) +
                  ": index it by values, or name axes by plates with Value(tensor, {plate})");
}

/// A function of the parameters' and the data's tensors, of numbers without axes of their own.
template <class Function>
Value entries(const char* distribution, const std::vector<Value>& inputs, Function function) {
  for (const Value& input : inputs) check_own(input, 0, distribution);
  return map_entries(inputs, [&](const Tensors& tensors) { return function(tensors); });
}

}  // namespace

Bernoulli::Bernoulli(const Value& probs)
    : log_states_(entries("Bernoulli", {probs}, [](const Tensors& t) {
        return at::stack({log_of(1 - t[0]), log_of(t[0])}, -1);
      })) {}

Bernoulli Bernoulli::logits(const Value& logits) {
  return {Given(), entries("Bernoulli", {logits}, [](const Tensors& t) {
            return at::stack({at::log_sigmoid(-t[0]), at::log_sigmoid(t[0])}, -1);
          })};
}

Value Bernoulli::log_prob(const Value& numbers) const {
  return log_states_[Value(numbers.tensor().to(at::kLong), numbers.axes())];
}

Categorical::Categorical(const Value& probs) : log_states_(0.0) {
  check_own(probs, 1, "Categorical");
  const at::Tensor rows = floating(probs.tensor());
  log_states_ = Value(log_of(rows) - rows.sum(-1, true).log(), probs.axes());
}

Categorical Categorical::logits(const Value& logits) {
  check_own(logits, 1, "Categorical");
  return {Given(), Value(at::log_softmax(logits.tensor(), -1), logits.axes())};
}

Value Categorical::log_prob(const Value& numbers) const {
  return log_states_[Value(numbers.tensor().to(at::kLong), numbers.axes())];
}

Value Binomial::log_prob(const Value& numbers) const {
  return entries("Binomial", {numbers, probs_}, [&](const Tensors& t) {
    const at::Tensor k = floating(t[0]);
    const at::Tensor rest = static_cast<double>(total_) - k;
    const at::Tensor ways = std::lgamma(static_cast<double>(total_) + 1) - at::lgamma(k + 1) - at::lgamma(rest + 1);
    return ways + times_log(k, t[1]) + times_log(rest, 1 - t[1]);
  });
}

Value Binomial::log_states() const {
  check_own(probs_, 0, "Binomial");
  const at::Tensor k = at::arange(total_ + 1, at::kDouble);
  const at::Tensor rest = static_cast<double>(total_) - k;
  const at::Tensor ways = std::lgamma(static_cast<double>(total_) + 1) - at::lgamma(k + 1) - at::lgamma(rest + 1);
  const at::Tensor p = floating(probs_.tensor()).unsqueeze(-1);
  return {ways + times_log(k, p) + times_log(rest, 1 - p), probs_.axes()};
}

Value Poisson::log_prob(const Value& numbers) const {
  return entries("Poisson", {numbers, rate_}, [](const Tensors& t) {
    const at::Tensor k = floating(t[0]);
    return times_log(k, floating(t[1])) - t[1] - at::lgamma(k + 1);
  });
}

Value Normal::log_prob(const Value& numbers) const {
  return entries("Normal", {numbers, mean_, deviation_}, [](const Tensors& t) {
    const at::Tensor z = (floating(t[0]) - t[1]) / t[2];
    return -0.5 * z * z - floating(t[2]).log() - 0.5 * std::log(2 * std::numbers::pi);
  });
}

Value Gamma::log_prob(const Value& numbers) const {
  return entries("Gamma", {numbers, concentration_, rate_}, [](const Tensors& t) {
    const at::Tensor x = floating(t[0]);
    const at::Tensor a = floating(t[1]);
    return at::xlogy(a, t[2]) + at::xlogy(a - 1, x) - t[2] * x - at::lgamma(a);
  });
}

Value Beta::log_prob(const Value& numbers) const {
  return entries("Beta", {numbers, a_, b_}, [](const Tensors& t) {
    const at::Tensor x = floating(t[0]);
    const at::Tensor a = floating(t[1]);
    const at::Tensor b = floating(t[2]);
    return at::xlogy(a - 1, x) + at::special_xlog1py(b - 1, -x) + at::lgamma(a + b) - at::lgamma(a) - at::lgamma(b);
  });
}

Value VonMises::log_prob(const Value& numbers) const {
  return entries("VonMises", {numbers, mean_, concentration_}, [](const Tensors& t) {
    const at::Tensor k = floating(t[2]);
    // exp(−k) I₀(k) does not overflow, and k leaves the exponent.
    return k * ((floating(t[0]) - t[1]).cos() - 1) - at::special_i0e(k).log() - std::log(2 * std::numbers::pi);
  });
}

Value Dirichlet::log_prob(const Value& numbers) const {
  check_own(numbers, 1, "Dirichlet");
  check_own(concentration_, 1, "Dirichlet");
  return map_entries({numbers, concentration_}, [](const Tensors& t) {
    const at::Tensor a = floating(t[1]);
    return at::xlogy(a - 1, t[0]).sum(-1) + at::lgamma(a.sum(-1)) - at::lgamma(a).sum(-1);
  });
}

Value ZeroInflated::log_prob(const Value& numbers) const {
  check_own(gate_, 0, "ZeroInflated");
  const at::Tensor zero = numbers.tensor() == 0;
  // A continuous base is asked about other numbers: its density at 0 may be infinite.
  const Value asked = discrete() ? numbers : Value(numbers.tensor().masked_fill(zero, base_->within()), numbers.axes());
  return map_entries({base_->log_prob(asked), gate_, Value(zero, numbers.axes())}, [&](const Tensors& t) {
    const at::Tensor stays = log_of(t[1]);
    const at::Tensor leaves = log_of(1 - t[1]) + t[0];
    return at::where(t[2], discrete() ? at::logaddexp(stays, leaves) : stays, leaves);
  });
}

}  // namespace plated::torch
