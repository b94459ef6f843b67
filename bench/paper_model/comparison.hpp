// One measurement: Plated and the roofline, checked, then timed in turn.
#pragma once

#include <optional>

#include "paper_model/roofline.hpp"
#include "workload/reference.hpp"
#include "workload/timing.hpp"

namespace bench {

struct Comparison {
  double plated = 0;               ///< seconds
  std::optional<double> roofline;  ///< seconds; none for models that the bare loops do not take
};

/// `model` is timed, the roofline streams `plain`: the same model stored plainly, or `model` itself. With `expected`
/// both results are checked; throws std::runtime_error where one is wrong.
[[nodiscard]] Comparison compare(const TreeModel& model, const TreeModel& plain, plated::Semiring semiring, int threads,
                                 const std::optional<Reference>& expected, Budget budget);

}  // namespace bench
