// What a restart is run by: batch EM, or steps on minibatches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
  explicit Runner(const LearntParts& parts) : parts_(parts) {
    std::size_t size = 0;
    for (const auto& part : parts) size += part->statistics();
    statistics_.resize(size);
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  virtual ~Runner() = default;

  /// From the parameters of a start. Where it is cancelled, what has been found until then; throws CancelledError
  /// before anything has been, and ImpossibleError where the data have no probability.
  [[nodiscard]] virtual Outcome run(std::vector<double> start, const Told& told) = 0;
  /// The statistics of all data under parameters, those of each part one behind the other; none where the data have no
  /// probability under them.
  [[nodiscard]] virtual std::optional<std::vector<double>> count(std::vector<double> parameters) = 0;

 protected:
  /// A call of visit(part, its stretch of the parameters, and of the statistics) for each part.
  template <class Visit>
  void each(const Visit& visit) {
    std::size_t offset = 0;
    std::size_t counted = 0;
    for (const auto& part : parts_) {
      visit(*part, std::span(now_).subspan(offset, part->size()),
            std::span(statistics_).subspan(counted, part->statistics()));
      offset += part->size();
      counted += part->statistics();
    }
  }
  [[nodiscard]] double log_prior() const {
    double sum = 0;
    std::size_t offset = 0;
    for (const auto& part : parts_) {
      sum += part->log_prior(std::span(now_).subspan(offset, part->size()));
      offset += part->size();
    }
    return sum;
  }

  std::vector<double> now_;         // the parameters
  std::vector<double> statistics_;  // of the last E-step, or an average
  std::vector<std::string> notes_;  // of the last M-step

 private:
  const LearntParts& parts_;
};

/// Makes one that runs on so many threads, and asks whether it is cancelled.
using MakeRunner = std::function<std::unique_ptr<Runner>(int threads, std::function<bool()> cancelled)>;

}  // namespace plated::learn
