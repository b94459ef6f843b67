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
      options_(options),
      workspace_(batches.counting().plan()),
      run_(batches.counting().run()),
      factors_(batches.counting().factors()),
      found_counts_(factors_.size()),
      lists_(batches.counting().lists(), threads),
      logs_(factors_.size(), nullptr),
      counts_(factors_.size(), nullptr),
      numbers_(parts.size()) {
  run_.threads = threads;
  run_.cancelled = std::move(cancelled);
  places_.gradients.resize(factors_.size());
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    if (!batches.counting().is_counted(f)) continue;
    factors_[f] = batches.counting().start(f);
    places_.gradients[f] = batches.counting().operand(f);
    if (batches.counting().is_listed(f)) found_counts_[f] = std::exchange(places_.gradients[f], Tensor());
  }
}

void Stepwise::write_lists(std::size_t block) {
  const Counting& counting = batches_.counting();
  if (counting.lists().empty()) return;
  std::vector<Tensor> before = std::exchange(operands_, factors_);
  before.resize(factors_.size());
  for (const model::Listed& list : counting.lists()) {
    const std::size_t f = list.factor();
    const Tensor::Shape shape = list.shape(batches_.slices(block));
    const bool fits = before[f].data() != nullptr && before[f].shape() == shape;
    operands_[f] = fits ? std::move(before[f]) : Tensor(Dtype::float64, shape);
    if (!fits && counting.is_counted(f)) places_.gradients[f] = Tensor(Dtype::float64, shape);
  }
  lists_.spread(factors_, operands_, std::vector<bool>(factors_.size(), true), batches_.first_slice(block));
}

void Stepwise::write(std::size_t block) {
  batches_.observe(block, run_, factors_);
  block_ = block;
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    if (!batches_.counting().is_counted(f)) continue;
    logs_[f] = static_cast<double*>(factors_[f].mutable_data());
    counts_[f] = static_cast<const double*>(found_counts_[f].data());
    if (batches_.counting().is_listed(f)) continue;
    if (places_.gradients[f].shape() != factors_[f].shape()) {
      places_.gradients[f] = Tensor(Dtype::float64, factors_[f].shape());
    }
    counts_[f] = static_cast<const double*>(places_.gradients[f].data());
  }
  each([&](const Learnt& part, std::span<const double> numbers, auto) { part.write(numbers, operands()); });
  write_lists(block);
}

double Stepwise::count_block(std::size_t block) {
  write(block);
  value_and_gradient_into(found_, batches_.counting().plan(), read(), workspace_, run_, places_);
  lists_.collect(places_.gradients, found_counts_, batches_.counting().counted(), batches_.first_slice(block));
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
  for (std::size_t block = 0; block < batches_.count(); ++block) {
    write(block);
    total += batches_.share(block) * sum_of(batches_.counting().plan().run(read(), run_)[0]);
  }
  return total;
}

std::optional<std::vector<double>> Stepwise::count(std::vector<double> parameters) {
  now_ = std::move(parameters);
  std::fill(statistics_.begin(), statistics_.end(), 0.0);
  for (std::size_t block = 0; block < batches_.count(); ++block) {
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
  std::vector<std::size_t> order(batches_.count());
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
