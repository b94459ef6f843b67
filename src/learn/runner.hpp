// What a restart is run by: batch EM, or steps on minibatches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "learn/learnt.hpp"

namespace plated::learn {

using LearntParts = std::vector<std::unique_ptr<Learnt>>;

/// Where a restart ended.
struct Outcome {
  std::vector<double> parameters;
  double log_likelihood = 0;
  std::vector<double> history;  ///< of the objective; the last is that of the parameters
  std::int64_t iterations = 0;
  bool converged = false;
  bool interrupted = false;
  std::vector<std::string> notes;  ///< of the last M-step
};

/// Hears of the iteration and the objective of each E-step, or of each pass over the data.
using Told = std::function<void(std::int64_t, double)>;

class Runner {
 public:
  /// The parts outlive it.
  explicit Runner(const LearntParts& parts) : parts_(parts) {}
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  virtual ~Runner() = default;

  /// From the parameters of a start. Where it is cancelled, what has been found until then; throws CancelledError
  /// before anything has been, and ImpossibleError where the data have no probability.
  [[nodiscard]] virtual Outcome run(std::vector<double> start, const Told& told) = 0;

 protected:
  /// A call of visit(part, its stretch of the parameters) for each part.
  template <class Visit>
  void each(const Visit& visit) {
    each_of(now_, visit);
  }
  [[nodiscard]] double log_prior() const {
    double sum = 0;
    each_of(now_, [&](const Learnt& part, std::span<const double> numbers) { sum += part.log_prior(numbers); });
    return sum;
  }

  std::vector<double> now_;  // the parameters

 private:
  template <class Numbers, class Visit>
  void each_of(Numbers& numbers, const Visit& visit) const {
    std::size_t offset = 0;
    for (const auto& part : parts_) {
      visit(*part, std::span(numbers).subspan(offset, part->size()));
      offset += part->size();
    }
  }

  const LearntParts& parts_;
};

/// Makes one that runs on so many threads, and asks whether it is cancelled.
using MakeRunner = std::function<std::unique_ptr<Runner>(int threads, std::function<bool()> cancelled)>;

}  // namespace plated::learn
