// Checks and times one measurement.
#include "paper_model/comparison.hpp"

#include <cmath>
#include <functional>
#include <stdexcept>

#include "paper_model/plated_runner.hpp"

namespace bench {
namespace {

// Results of float32 arithmetic over sums of 32; products over plates are kept in double, and relative errors average
// out.
constexpr double log_tolerance = 2e-6;
// A product of n sums in real space has n relative errors of float32, which its logarithm shows as absolute ones.
double real_tolerance(const TreeSizes& sizes) {
  return 1e-5 + 4e-8 * std::sqrt(static_cast<double>(2 * sizes.slices() * sizes.domain));
}

}  // namespace

Comparison compare(const TreeModel& model, const TreeModel& plain, plated::Semiring semiring, int threads,
                   const std::optional<Reference>& expected, Budget budget) {
  const bool logs = semiring == plated::Semiring::log;
  PlatedRunner plated(model, semiring, threads);
  plated();
  if (!std::isfinite(plated.log_result())) throw std::runtime_error("no finite result of " + model.equation());
  if (expected) {
    require_close("Plated", plated.log_result(), expected->log_total,
                  logs ? log_tolerance : real_tolerance(model.sizes()));
  }
  std::vector<std::function<void()>> runners = {[&] { plated(); }};

  std::optional<Roofline> roofline;
  volatile double sink = 0;  // so that no bare loop is dropped
  if (Roofline::fits(plain.sizes())) {
    roofline.emplace(plain, threads);
    if (expected) {
      const double found = logs ? roofline->log_sum_exps() : roofline->sum();
      require_close("the roofline", found, logs ? expected->log_sum_exps : expected->sum, log_tolerance);
    }
    runners.emplace_back([&] { sink = logs ? roofline->log_sum_exps() : roofline->sum(); });
  }
  const std::vector<double> best = best_times(runners, budget);
  return {best[0], best.size() > 1 ? std::optional(best[1]) : std::nullopt};
}

}  // namespace bench
