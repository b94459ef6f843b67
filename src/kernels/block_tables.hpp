// Tables for small blocks of loops: the offset of every index, and the offsets as runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/reduce_plan.hpp"

namespace plated::kernels {

/// Offsets of the block that a list of loops spans, innermost first.
inline Block tabulate(const std::vector<Loop>& loops, std::size_t inputs) {
  Block block;
  for (const Loop& loop : loops) block.count *= loop.extent;
  block.offset.assign(inputs, {});
  for (std::size_t i = 0; i < inputs; ++i) {
    auto& table = block.offset[i];
    table.reserve(static_cast<std::size_t>(block.count));
    table.push_back(0);
    for (const Loop& loop : loops) {
      const std::size_t inside = table.size();
      for (std::int64_t k = 1; k < loop.extent; ++k) {
        for (std::size_t j = 0; j < inside; ++j) table.push_back(table[j] + k * loop.input[i]);
      }
    }
  }
  return block;
}

/// For each index of the block, the index within the block of the selected roles alone.
inline std::vector<std::int64_t> project(const std::vector<Loop>& loops, bool kept, bool product) {
  std::vector<std::int64_t> table = {0};
  std::int64_t weight = 1;
  for (const Loop& loop : loops) {
    const bool selected = (loop.role == Role::kept && kept) || (loop.role == Role::product && product);
    const std::size_t inside = table.size();
    for (std::int64_t k = 1; k < loop.extent; ++k) {
      for (std::size_t j = 0; j < inside; ++j) table.push_back(table[j] + (selected ? k * weight : 0));
    }
    if (selected) weight *= loop.extent;
  }
  return table;
}

inline std::vector<Run> runs_of(const std::vector<std::int64_t>& table) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    if (!runs.empty()) {
      Run& run = runs.back();
      if (run.length == 1) run.step = table[i] - run.target;
      if (table[i] == run.target + run.length * run.step) {
        ++run.length;
        continue;
      }
    }
    runs.push_back({index, 1, table[i], 0});
  }
  return runs;
}

/// Runs whose steps are 0 or 1 only, as products want them.
inline std::vector<Run> unit_runs_of(const std::vector<std::int64_t>& table) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!runs.empty()) {
      Run& run = runs.back();
      const std::int64_t step = table[i] - (run.target + (run.length - 1) * run.step);
      if ((step == 0 || step == 1) && (run.length == 1 || step == run.step)) {
        run.step = step;
        ++run.length;
        continue;
      }
    }
    runs.push_back({static_cast<std::int64_t>(i), 1, table[i], 0});
  }
  return runs;
}

}  // namespace plated::kernels
