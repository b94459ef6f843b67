// One restart of EM: E- and M-steps from a start until nothing is gained, with pairs of steps extrapolated.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "learn/counts.hpp"
#include "learn/runner.hpp"

namespace plated::learn {

class Em final : public Runner {
 public:
  /// All outlive it.
  Em(const LearntParts& parts, const Blocks& blocks, const FitOptions& options, int threads,
     const std::function<bool()>& cancelled);

  [[nodiscard]] Outcome run(std::vector<double> start, const Told& told) override;
  [[nodiscard]] std::optional<std::vector<double>> count(std::vector<double> parameters) override;

 private:
  void write();
  void gather();
  void maximise();
  /// Replaces the parameters, which two steps from x0_ over x1_ have led to, by extrapolated ones.
  void extrapolate();
  void iterate(Outcome& outcome, const Told& told);

  Counts counts_;
  const FitOptions& options_;
  std::vector<double> x0_, x1_;   // before the last two steps
  std::vector<double> fallback_;  // the second step itself
  int steps_ = 0;                 // taken since the last extrapolation
  bool extrapolated_ = false;     // the parameters have not been accepted yet
  double longest_ = 4;            // extrapolations reach no further
};

}  // namespace plated::learn
