// The graph of dims: two dims are neighbours where a tensor holds both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/contraction_order.hpp"

namespace plated::planner {

struct DimGraph {
  explicit DimGraph(const Network& network);

  std::vector<double> log2_size;                       // [dim]
  std::vector<std::vector<std::uint32_t>> neighbours;  // [dim]: ascending, without the dim itself
  std::vector<std::uint32_t> used;                     // dims that some tensor holds, ascending
};

}  // namespace plated::planner
