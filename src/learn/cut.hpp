// Deals the slices of a plate to blocks, which nothing joins.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plated/fit.hpp"

namespace plated::learn {

/// Some slices of a plate, and as many slices of the chains and ragged plates in them as the longest of these has.
struct CutBlock {
  std::vector<std::int64_t> slices;       ///< in order
  std::map<DimId, std::int64_t> longest;  ///< of dims that are shorter than in all data
  double work = 0;                        ///< cells that runs go through
};

struct Cut {
  DimId plate = 0;
  std::vector<CutBlock> blocks;
};

/// Why the slices of a plate are not independent of each other, if they are not.
[[nodiscard]] std::optional<std::string> why_joined(const Model& observed, DimId plate);

/// Neighbours, so many in each block. Of a plate whose slices nothing joins.
[[nodiscard]] Cut cut_evenly(const Model& observed, DimId plate, std::int64_t slices);

/// What a block costs besides its cells: for each slice of its chains, and for the run itself.
struct BlockCosts {
  double of_step = 8;
  double of_run = 4096;
};

/// Slices of about equal length together, where that saves a tenth of the work or more: none otherwise. ln Z of all
/// data is then the sum over blocks. Depends on sizes alone. Data that a run would refuse are not cut.
[[nodiscard]] std::optional<Cut> cut_by_length(const Model& observed, const Weights& weights, BlockCosts costs = {});

}  // namespace plated::learn
