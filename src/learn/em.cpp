// EM with squared extrapolation: Varadhan and Roland, "Simple and globally convergent methods for accelerating the
// convergence of any EM algorithm", 2008, scheme S3, with every extrapolation checked before it counts.
#include "learn/em.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/assert.hpp"
#include "plated/error.hpp"

namespace plated::learn {

Em::Em(const LearntParts& parts, const Blocks& blocks, const FitOptions& options, int threads,
       const std::function<bool()>& cancelled)
    : Runner(parts), counts_(blocks, threads, cancelled), options_(options) {}

void Em::write() {
  each([&](const Learnt& part, std::span<const double> numbers, auto) { part.write(numbers, counts_.operands()); });
}

void Em::gather() {
  std::fill(statistics_.begin(), statistics_.end(), 0.0);
  each([&](const Learnt& part, std::span<const double> numbers, std::span<double> statistics) {
    part.count(numbers, counts_.operands(), statistics);
  });
}

void Em::maximise() {
  notes_.clear();
  gather();
  each([&](const Learnt& part, std::span<double> numbers, std::span<const double> statistics) {
    part.maximise(numbers, statistics, notes_);
  });
}

std::optional<std::vector<double>> Em::count(std::vector<double> parameters) {
  now_ = std::move(parameters);
  write();
  if (!std::isfinite(counts_.count())) return std::nullopt;
  gather();
  return statistics_;
}

void Em::extrapolate() {
  double first = 0;
  double bend = 0;
  for (std::size_t k = 0; k < now_.size(); ++k) {
    const double r = x1_[k] - x0_[k];
    const double v = now_[k] - x1_[k] - r;
    first += r * r;
    bend += v * v;
  }
  if (!(bend > 0)) return;
  const double length = std::min(std::sqrt(first / bend), longest_);
  if (length == longest_) longest_ *= 4;
  if (!(length > 1)) return;
  fallback_ = now_;
  for (std::size_t k = 0; k < now_.size(); ++k) {
    const double r = x1_[k] - x0_[k];
    const double v = now_[k] - x1_[k] - r;
    now_[k] = x0_[k] + 2 * length * r + length * length * v;
  }
  std::size_t offset = 0;
  each([&](const Learnt& part, std::span<double> numbers, auto) {
    part.restrain(numbers, std::span<const double>(fallback_).subspan(offset, part.size()));
    offset += part.size();
  });
  extrapolated_ = true;
}

void Em::iterate(Outcome& outcome, const Told& told) {
  while (outcome.iterations < options_.iterations) {
    write();
    const double total = counts_.count();
    const double objective = total + log_prior();
    ++outcome.iterations;
    if (extrapolated_ && !(objective >= outcome.history.back())) {
      now_ = fallback_;
      longest_ = std::max(1.0, longest_ / 4);
      extrapolated_ = false;
      continue;
    }
    if (outcome.history.empty() && !(objective > -std::numeric_limits<double>::infinity())) {
      throw ImpossibleError("the data have no probability under the model: its zeros exclude them");
    }
    if (told) told(outcome.iterations, objective);
    const double scale = std::max(1.0, std::abs(objective));
    const double gain = outcome.history.empty() ? scale : objective - outcome.history.back();
    PLATED_ASSERT(gain >= -1e-9 * scale);
    outcome.history.push_back(objective);
    outcome.parameters = now_;
    outcome.log_likelihood = total;
    // The gain of an extrapolation says nothing about that of a step.
    if (!extrapolated_ && outcome.history.size() > 1 && gain <= options_.tolerance * scale) {
      outcome.converged = true;
      return;
    }
    extrapolated_ = false;
    if (options_.accelerate) (steps_ == 0 ? x0_ : x1_) = now_;
    maximise();
    steps_ = (steps_ + 1) % 2;
    if (options_.accelerate && steps_ == 0 && outcome.iterations < options_.iterations) extrapolate();
  }
  // The numbers are those after the last M-step, which nothing has been counted under yet.
  write();
  outcome.log_likelihood = counts_.log_total();
  outcome.parameters = now_;
  outcome.history.push_back(outcome.log_likelihood + log_prior());
}

Outcome Em::run(std::vector<double> start, const Told& told) {
  Outcome outcome;
  now_ = std::move(start);
  steps_ = 0;
  extrapolated_ = false;
  longest_ = 4;
  notes_.clear();
  outcome.history.reserve(static_cast<std::size_t>(std::min<std::int64_t>(options_.iterations, 1000)) + 1);
  try {
    iterate(outcome, told);
  } catch (const CancelledError&) {
    if (outcome.history.empty()) throw;
    outcome.interrupted = true;
  }
  outcome.notes = std::move(notes_);
  return outcome;
}

}  // namespace plated::learn
