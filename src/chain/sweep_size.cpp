// Decides how many messages are kept and how many slices are asked at once.
#include <algorithm>
#include <cmath>

#include "chain/sweep.hpp"
#include "plated/error.hpp"

namespace plated::chain {
namespace {

double elements_as_double(const FactorGraph& graph, const std::vector<DimId>& dims) {
  double product = 1;
  for (const DimId d : dims) product *= static_cast<double>(graph.dims()[d].size);
  return product;
}

}  // namespace

SweepSize sweep_size(const Program& program, std::size_t piece, Dtype dtype, double asked_bytes,
                     std::int64_t memory_limit) {
  const FactorGraph& graph = program.pieces().graph;
  const Piece& p = program.pieces().pieces[piece];
  const auto slices = static_cast<double>(std::max<std::int64_t>(1, graph.dims()[p.chain].size));
  const double message = elements_as_double(graph, message_axes(p, p.sources)) * static_cast<double>(size_of(dtype)) +
                         8.0 * elements_as_double(graph, p.rows);
  double slice = asked_bytes + 2 * message;
  for (const Preparation& preparation : program.body(piece).preparations) {
    if (preparation.varies) {
      slice += 12.0 * elements_as_double(graph, without(preparation.axes, p.chain));
    }
  }
  constexpr double usual_block = 8 << 20;
  constexpr double usual_kept = 256 << 20;
  const auto limit = static_cast<double>(memory_limit);
  SweepSize size;
  size.keeps_all = slices * message <= (memory_limit > 0 ? limit / 2 : usual_kept);
  double block = (memory_limit > 0 ? std::min(limit / 4, usual_block) : usual_block) / slice;
  if (!size.keeps_all) block = std::max(block, std::sqrt(slices * message / slice));
  size.block = static_cast<std::int64_t>(std::clamp(block, 1.0, slices));
  const double kept = size.keeps_all ? slices * message : std::ceil(slices / static_cast<double>(size.block)) * message;
  const double needed = kept + static_cast<double>(size.block) * slice;
  if (memory_limit > 0 && needed > limit) {
    throw MemoryLimitError("the messages of chain '" + graph.dims()[p.chain].name + "' need " +
                               std::to_string(static_cast<std::int64_t>(needed)) + " bytes, and the limit is " +
                               std::to_string(memory_limit) + "; nothing was allocated",
                           static_cast<std::int64_t>(needed), memory_limit);
  }
  return size;
}

}  // namespace plated::chain
