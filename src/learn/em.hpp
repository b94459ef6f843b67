// One restart of EM: E- and M-steps from a start until nothing is gained, with pairs of steps extrapolated.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "learn/counting.hpp"
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

class Em {
 public:
  /// All outlive it.
  Em(const LearntParts& parts, Counts& counts, const FitOptions& options);

  /// From the parameters of a start. `told` hears of each E-step. Where counts are cancelled, what has been found until
  /// then; throws CancelledError before the first E-step has ended, and ImpossibleError where the data have no
  /// probability.
  [[nodiscard]] Outcome run(std::vector<double> start, const std::function<void(std::int64_t, double)>& told);

 private:
  /// A call of visit(part, its stretch of the numbers) for each part.
  template <class Numbers, class Visit>
  void each(Numbers& numbers, const Visit& visit) const;
  [[nodiscard]] double log_prior() const;
  void write();
  void maximise();
  /// Replaces the parameters, which two steps from x0_ over x1_ have led to, by extrapolated ones.
  void extrapolate();
  void iterate(Outcome& outcome, const std::function<void(std::int64_t, double)>& told);

  const LearntParts& parts_;
  Counts& counts_;
  const FitOptions& options_;
  std::vector<double> now_;
  std::vector<double> x0_, x1_;     // before the last two steps
  std::vector<double> fallback_;    // the second step itself
  int steps_ = 0;                   // taken since the last extrapolation
  bool extrapolated_ = false;       // the parameters have not been accepted yet
  std::vector<std::string> notes_;  // of the last M-step
  double longest_ = 4;              // extrapolations reach no further
};

}  // namespace plated::learn
