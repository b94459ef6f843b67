// The parts of the benchmark: each prints a table as it goes and returns its rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "workload/timing.hpp"

namespace bench {

struct Settings {
  std::int64_t domain = 32;
  std::int64_t largest = 512;  ///< I = J of the largest model
  std::int64_t checked = 64;   ///< models up to this I = J are compared with the reference
  std::vector<int> threads = {1, 2};
  std::int64_t layout_size = 128;  ///< I = J of the layouts
  bool all_layouts = true;
  std::int64_t memory_size = 512;  ///< I = J of the models whose memory is measured
  Budget budget;                   ///< for each figure
};

/// Time against I = J, beside the roofline.
[[nodiscard]] Json measure_runtimes(const Settings& settings);
/// The same model stored and spelled differently, with odd domains and a third plate.
[[nodiscard]] Json measure_layouts(const Settings& settings);
/// Peak memory of the process over the bytes of the inputs.
[[nodiscard]] Json measure_memory(const Settings& settings);
/// The questions of the reverse sweep against I = J, beside the roofline; many joint samples beside one.
[[nodiscard]] Json measure_adjoints(const Settings& settings);
/// Calls of a tiny plan, and planning.
[[nodiscard]] Json measure_overhead(const Settings& settings);

}  // namespace bench
