// Stepwise EM: Cappé and Moulines, "On-line expectation-maximization algorithm for latent data models", 2009; with the
// step sizes of Liang and Klein, "Online EM for unsupervised models", 2009.
#include "learn/stepwise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "plated/error.hpp"

namespace plated::learn {
namespace {

/// What step k, from 0, weighs against all before it.
double step_size(std::int64_t k) { return std::pow(static_cast<double>(k + 1), -0.7); }

double sum_of(const Tensor& batches) {
  const auto* const values = static_cast<const double*>(batches.data());
  return std::accumulate(values, values + batches.elements(), 0.0);
}

}  // namespace

Stepwise::Stepwise(const LearntParts& parts, const Minibatches& batches, const FitOptions& options, int threads,
                   std::function<bool()> cancelled)
    : Runner(parts),
      batches_(batches),
      blocks_(batches.blocks()),
      counting_(blocks_.counting()),
      options_(options),
      threads_(threads),
      cancelled_(std::move(cancelled)),
      workspace_(counting_.plan()),
      factors_(counting_.factors()),
      operands_(factors_.size()),
      messages_(factors_.size()),
      found_messages_(factors_.size()),
      found_counts_(factors_.size()),
      lists_(blocks_.lists(), threads),
      logs_(factors_.size(), nullptr),
      counts_(factors_.size(), nullptr),
      numbers_(parts.size()) {
  places_.gradients.resize(factors_.size());
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    if (!counting_.is_counted(f) || blocks_.is_measured(f)) continue;
    factors_[f] = counting_.start(f);
    found_counts_[f] = counting_.operand(f);
  }
}

void Stepwise::write_lists(std::size_t block) {
  for (const model::Listed& list : blocks_.lists()) {
    const std::size_t f = list.factor();
    const auto renew = [&](Tensor& message) {
      Tensor other = blocks_.message(list, block);
      if (message.data() == nullptr || message.shape() != other.shape()) message = std::move(other);
      return blocks_.read_part(list, message, block);
    };
    operands_[f] = renew(messages_[f]);
    if (counting_.is_counted(f)) places_.gradients[f] = renew(found_messages_[f]);
  }
  lists_.spread(factors_, messages_, std::vector<bool>(factors_.size(), true), blocks_.first_slice(block));
}

void Stepwise::write(std::size_t block) {
  Blocks::Run run = blocks_.run(block);
  run_ = std::move(run.options);
  run_.threads = threads_;
  run_.cancelled = cancelled_;
  block_ = block;
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    operands_[f] = run.factors[f];
    if (!counting_.is_counted(f)) continue;
    if (blocks_.is_measured(f)) {
      const Tensor::Shape& shape = run.factors[f].shape();
      factors_[f] = Tensor(Dtype::float64, shape);
      if (found_counts_[f].shape() != shape) found_counts_[f] = Tensor(Dtype::float64, shape);
    }
    operands_[f] = factors_[f];
    places_.gradients[f] = found_counts_[f];
    logs_[f] = static_cast<double*>(factors_[f].mutable_data());
    counts_[f] = static_cast<const double*>(found_counts_[f].data());
  }
  each([&](const Learnt& part, std::span<const double> numbers, auto) { part.write(numbers, operands()); });
  write_lists(block);
}

double Stepwise::count_block(std::size_t block) {
  write(block);
  value_and_gradient_into(found_, counting_.plan(), operands_, workspace_, run_, places_);
  lists_.collect(found_messages_, found_counts_, counting_.counted(), blocks_.first_slice(block));
  return sum_of(found_.values[0]);
}

void Stepwise::blend(double share, double kept) {
  each([&](const Learnt& part, std::span<const double> numbers, std::span<double> statistics) {
    own_.assign(statistics.size(), 0.0);
    part.count(numbers, operands(), own_);
    for (std::size_t k = 0; k < own_.size(); ++k) statistics[k] = kept * statistics[k] + share * own_[k];
  });
}

void Stepwise::maximise(std::size_t block) {
  notes_.clear();
  auto seen = numbers_.begin();
  each([&](const Learnt& part, std::span<double> numbers, std::span<double> statistics) {
    *seen += part.numbers(block);
    if (*seen++ < part.numbers_needed()) return;
    before_.assign(numbers.begin(), numbers.end());
    part.maximise(numbers, statistics, notes_);
    part.recentre(before_, numbers, statistics);
  });
}

double Stepwise::step(std::size_t block) {
  const double log_z = count_block(block);
  const double size = step_size(steps_++);
  blend(size, 1 - size);
  maximise(block);
  return log_z;
}

double Stepwise::log_total() {
  double total = 0;
  for (std::size_t block = 0; block < blocks_.count(); ++block) {
    write(block);
    total += batches_.share(block) * sum_of(counting_.plan().run(operands_, run_)[0]);
  }
  return total;
}

std::optional<std::vector<double>> Stepwise::count(std::vector<double> parameters) {
  now_ = std::move(parameters);
  std::fill(statistics_.begin(), statistics_.end(), 0.0);
  for (std::size_t block = 0; block < blocks_.count(); ++block) {
    if (!std::isfinite(count_block(block))) return std::nullopt;
    blend(batches_.share(block), 1);
  }
  return statistics_;
}

void Stepwise::pass(Outcome& outcome, std::vector<std::size_t>& order, base::Random& random) {
  for (std::size_t k = order.size(); k > 1; --k) {
    std::swap(order[k - 1], order[random.below(static_cast<std::uint32_t>(k))]);
  }
  double total = 0;
  for (const std::size_t block : order) {
    const double log_z = step(block);
    if (!(log_z > -std::numeric_limits<double>::infinity())) {
      throw ImpossibleError("the data have no probability under the model: its zeros exclude them");
    }
    total += batches_.share(block) * log_z;
    outcome.parameters = now_;
  }
  ++outcome.iterations;
  outcome.history.push_back(total + log_prior());
}

Outcome Stepwise::run(std::vector<double> start, const Told& told) {
  Outcome outcome;
  now_ = std::move(start);
  steps_ = 0;
  notes_.clear();
  std::fill(statistics_.begin(), statistics_.end(), 0.0);
  std::fill(numbers_.begin(), numbers_.end(), std::size_t{0});
  base::Random random(options_.seed);
  std::vector<std::size_t> order(blocks_.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  try {
    while (outcome.iterations < options_.iterations && !outcome.converged) {
      pass(outcome, order, random);
      const std::vector<double>& history = outcome.history;
      if (told) told(outcome.iterations, history.back());
      const double scale = std::max(1.0, std::abs(history.back()));
      outcome.converged =
          history.size() > 1 && std::abs(history.back() - history.end()[-2]) <= options_.tolerance * scale;
    }
    outcome.parameters = now_;
    outcome.log_likelihood = log_total();
    outcome.history.push_back(outcome.log_likelihood + log_prior());
  } catch (const CancelledError&) {
    if (outcome.history.empty()) throw;
    outcome.interrupted = true;
    outcome.log_likelihood = outcome.history.back() - log_prior();
  }
  outcome.notes = std::move(notes_);
  return outcome;
}

}  // namespace plated::learn
