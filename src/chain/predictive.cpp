// Asks each slice with and without some of its factors.
#include "chain/predictive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chain/walk.hpp"

namespace plated::chain {

Tensor leave_one_out(const Program& program, std::size_t piece, const std::vector<std::size_t>& masked,
                     std::span<const Tensor> operands, const Call& call,
                     const std::function<void(const Tensor&)>& check) {
  const Pieces& pieces = program.pieces();
  const Piece& p = pieces.pieces[piece];
  Walk walk(program, operands, call);
  check(walk.log_partition());
  std::vector<std::int64_t> shape = engine::sizes(pieces.graph, p.rows);
  shape.push_back(pieces.graph.dims()[p.chain].size);
  Tensor answer(Dtype::float64, shape);
  auto* values = static_cast<double*>(answer.mutable_data());
  std::int64_t outer = 1;
  for (const DimId d : p.outer) outer *= pieces.graph.dims()[d].size;
  const std::int64_t rows = walk.sweep(piece).rows();
  walk.visit(piece, [&](const Block& block, const std::vector<double>& weight, const Call& inner) {
    const auto totals = [&](bool mask) {
      std::string key =
          (mask ? "masked totals of " : "slice totals of ") + std::to_string(piece) + " " + std::to_string(block.count);
      for (const std::size_t f : masked) {
        if (mask) key += " " + std::to_string(f);
      }
      const auto part = program.part(key, [&] {
        return slice_graph(pieces.graph, p,
                           {.slices = block.count, .masked = mask ? masked : std::vector<std::size_t>{}});
      });
      std::vector<Tensor> inputs;
      for (std::size_t k = 0; k < p.factors.size(); ++k) {
        const bool left_out = std::find(masked.begin(), masked.end(), p.factors[k]) != masked.end();
        if (!mask || !left_out) inputs.push_back(block.operands[k]);
      }
      inputs.push_back(block.before());
      inputs.push_back(block.after());
      return outputs(*part, {Tensor(Dtype::float64, block.exists.shape())}, inputs, inner)[0].values();
    };
    const std::vector<double> with = totals(false);
    const std::vector<double> without = totals(true);
    const std::vector<double> exists = block.exists.values();
    for (std::int64_t s = 0; s < block.count; ++s) {
      for (std::int64_t first = 0; first < rows; first += std::max<std::int64_t>(1, outer)) {
        // Z without the factors, over Z: the mean over the outer variables' posterior.
        double mean = 0;
        double mass = 0;
        for (std::int64_t r = first; r < first + outer; ++r) {
          const std::int64_t at = s * rows + r;
          if (weight[r] == 0) continue;
          mass += weight[r];
          mean += weight[r] * std::exp(without[at] - with[at]);
        }
        if (exists[s * rows + first] == 0 || mass == 0) continue;
        values[first / outer * shape.back() + block.first + s] = -std::log(mean / mass);
      }
    }
  });
  return answer;
}

}  // namespace plated::chain
