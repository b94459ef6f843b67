// Draws numbers from the distributions.
#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "plated/error.hpp"
#include "plated/torch/distributions.hpp"

namespace plated::torch {

namespace {

using Axes = std::vector<DimPointer>;
using Tensors = std::vector<at::Tensor>;

/// A function of the parameters, each with all of these axes in their order, and then its own.
template <class Function>
Value drawn(const Axes& axes, std::vector<Value> parameters, Function function) {
  std::vector<std::int64_t> shape;
  for (const DimPointer& axis : axes) shape.push_back(axis->size);
  parameters.insert(parameters.begin(), Value(at::empty(shape, at::kDouble), axes));
  return map_entries(parameters, [&](const Tensors& tensors) {
    Tensors full;
    for (std::size_t k = 1; k < tensors.size(); ++k) {
      std::vector<std::int64_t> own = shape;
      for (std::int64_t a = 0; a < parameters[k].own_axes(); ++a) {
        own.push_back(parameters[k].tensor().size(static_cast<std::int64_t>(parameters[k].axes().size()) + a));
      }
      full.push_back(tensors[k].to(at::kDouble).broadcast_to(own));
    }
    return function(full);
  });
}

/// States with probabilities that are in proportion: the first of independent clocks to ring.
Value draw_states(const Value& log_states, const Axes& axes, const at::Generator& generator) {
  return drawn(axes, {log_states}, [&](const Tensors& t) {
    const at::Tensor clocks = at::empty(t[0].sizes(), at::kDouble).exponential_(1, generator);
    return (t[0] - clocks.log()).argmax(-1);
  });
}

at::Tensor uniform(const at::Tensor& like, const at::Generator& generator) {
  return at::empty(like.sizes(), at::kDouble).uniform_(0, 1, generator);
}

at::Tensor gamma(const at::Tensor& concentration, const at::Generator& generator) {
  return at::_standard_gamma(concentration.contiguous(), generator);
}

/// Angles around 0 by rejection: D. J. Best and N. I. Fisher, "Efficient simulation of the von Mises distribution",
/// 1979.
at::Tensor von_mises(const at::Tensor& concentration, const at::Generator& generator) {
  const at::Tensor k = concentration.clamp_min(1e-8);
  const at::Tensor tau = 1 + (1 + 4 * k * k).sqrt();
  const at::Tensor rho = (tau - (2 * tau).sqrt()) / (2 * k);
  const at::Tensor s = at::where(k < 1e-5, 1 / k + k, (1 + rho * rho) / (2 * rho));  // rho loses its digits
  at::Tensor cosine = at::zeros_like(k);
  at::Tensor accepted = at::zeros_like(k, at::kBool);
  while (!accepted.all().item<bool>()) {
    const at::Tensor z = (std::numbers::pi * uniform(k, generator)).cos();
    const at::Tensor f = (1 + s * z) / (s + z);
    const at::Tensor c = k * (s - f);
    const at::Tensor u = uniform(k, generator);
    const at::Tensor good = at::logical_or(c * (2 - c) > u, (c / u).log() + 1 >= c);
    cosine = at::where(at::logical_and(good, accepted.logical_not()), f, cosine);
    accepted = at::logical_or(accepted, good);
  }
  const at::Tensor angle = cosine.clamp(-1, 1).acos();
  return at::where(uniform(k, generator) < 0.5, angle, -angle);
}

}  // namespace

Value Distribution::draw(const Axes& /*axes*/, const at::Generator& /*generator*/) const {
  throw OptionError(name() + " does not say how it is drawn from: it needs with() and draw()");
}

std::shared_ptr<const Distribution> Bernoulli::with(const Change& change) const {
  return std::make_shared<Bernoulli>(Bernoulli(Given(), change(log_states_)));
}
Value Bernoulli::draw(const Axes& axes, const at::Generator& generator) const {
  return draw_states(log_states_, axes, generator);
}

std::shared_ptr<const Distribution> Categorical::with(const Change& change) const {
  return std::make_shared<Categorical>(Categorical(Given(), change(log_states_)));
}
Value Categorical::draw(const Axes& axes, const at::Generator& generator) const {
  return draw_states(log_states_, axes, generator);
}

std::shared_ptr<const Distribution> Binomial::with(const Change& change) const {
  return std::make_shared<Binomial>(total_, change(probs_));
}
Value Binomial::draw(const Axes& axes, const at::Generator& generator) const {
  return drawn(axes, {probs_}, [&](const Tensors& t) {
    return at::binomial(at::full_like(t[0], static_cast<double>(total_)), t[0].contiguous(), generator);
  });
}

std::shared_ptr<const Distribution> Poisson::with(const Change& change) const {
  return std::make_shared<Poisson>(change(rate_));
}
Value Poisson::draw(const Axes& axes, const at::Generator& generator) const {
  return drawn(axes, {rate_}, [&](const Tensors& t) { return at::poisson(t[0].contiguous(), generator); });
}

std::shared_ptr<const Distribution> Normal::with(const Change& change) const {
  return std::make_shared<Normal>(change(mean_), change(deviation_));
}
Value Normal::draw(const Axes& axes, const at::Generator& generator) const {
  return drawn(axes, {mean_, deviation_}, [&](const Tensors& t) {
    return t[0] + t[1] * at::empty(t[0].sizes(), at::kDouble).normal_(0, 1, generator);
  });
}

std::shared_ptr<const Distribution> Gamma::with(const Change& change) const {
  return std::make_shared<Gamma>(change(concentration_), change(rate_));
}
Value Gamma::draw(const Axes& axes, const at::Generator& generator) const {
  return drawn(axes, {concentration_, rate_}, [&](const Tensors& t) { return gamma(t[0], generator) / t[1]; });
}

std::shared_ptr<const Distribution> Beta::with(const Change& change) const {
  return std::make_shared<Beta>(change(a_), change(b_));
}
Value Beta::draw(const Axes& axes, const at::Generator& generator) const {
  return drawn(axes, {a_, b_}, [&](const Tensors& t) {
    const at::Tensor a = gamma(t[0], generator);
    return a / (a + gamma(t[1], generator));
  });
}

std::shared_ptr<const Distribution> VonMises::with(const Change& change) const {
  return std::make_shared<VonMises>(change(mean_), change(concentration_));
}
Value VonMises::draw(const Axes& axes, const at::Generator& generator) const {
  return drawn(axes, {mean_, concentration_}, [&](const Tensors& t) {
    const at::Tensor angle = t[0] + von_mises(t[1], generator);
    return (angle + std::numbers::pi).remainder(2 * std::numbers::pi) - std::numbers::pi;
  });
}

std::shared_ptr<const Distribution> Dirichlet::with(const Change& change) const {
  return std::make_shared<Dirichlet>(change(concentration_));
}
Value Dirichlet::draw(const Axes& axes, const at::Generator& generator) const {
  return drawn(axes, {concentration_}, [&](const Tensors& t) {
    const at::Tensor weights = gamma(t[0], generator);
    return weights / weights.sum(-1, true);
  });
}

std::shared_ptr<const Distribution> ZeroInflated::with(const Change& change) const {
  std::shared_ptr<const Distribution> base = base_->with(change);
  return base ? std::make_shared<ZeroInflated>(change(gate_), std::move(base)) : nullptr;
}
Value ZeroInflated::draw(const Axes& axes, const at::Generator& generator) const {
  return drawn(axes, {base_->draw(axes, generator), gate_},
               [&](const Tensors& t) { return at::where(uniform(t[1], generator) < t[1], 0.0, t[0]); });
}

}  // namespace plated::torch
