// Asks each slice with and without some of its factors.
#include "chain/predictive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chain/context.hpp"
#include "chain/walk.hpp"
#include "plated/error.hpp"

namespace plated::chain {

FactorsLeftOut leave_one_out(const Program& program, std::size_t piece, const std::vector<std::size_t>& masked,
                             std::span<const Tensor> operands, const Call& call) {
  const Pieces& pieces = program.pieces();
  const Piece& p = pieces.pieces[piece];
  if (const PointEnds* ends = program.point_ends()) {
    for (const std::size_t f : masked) {
      if (!ends->holds(f)) continue;
      throw OptionError("factor '" + pieces.graph.factors()[f].name + "' cannot be left out of slices of chain '" +
                        pieces.graph.dims()[p.chain].name + "': it lies outside of them");
    }
    const auto inputs = program.sliced_inputs(operands, Semiring::log, call);
    return leave_one_out(program.sliced(), piece, masked, inputs.operands, inputs.call);
  }
  if (const Program& joined = program.for_lengths(call); &joined != &program) {
    // The same factors are in a piece that may have another number there.
    const std::vector<Piece>& others = joined.pieces().pieces;
    const auto found = std::find_if(others.begin(), others.end(), [&](const Piece& each) {
      return each.chain == p.chain && std::all_of(masked.begin(), masked.end(), [&](std::size_t f) {
               return std::find(each.factors.begin(), each.factors.end(), f) != each.factors.end();
             });
    });
    if (found == others.end()) {
      throw OptionError("factor '" + pieces.graph.factors()[masked[0]].name +
                        "' cannot be left out of slices of chain '" + pieces.graph.dims()[p.chain].name +
                        "': with lengths, these are eliminated together with those of a chain around them");
    }
    return leave_one_out(joined, static_cast<std::size_t>(found - others.begin()), masked, operands, call);
  }
  Walk walk(program, operands, call);
  std::vector<DimId> axes = p.rows;
  axes.push_back(p.chain);
  const std::vector<std::int64_t> shape = engine::sizes(pieces.graph, axes);
  Tensor answer(Dtype::float64, shape);
  auto* values = static_cast<double*>(answer.mutable_data());
  std::int64_t outer = 1;
  for (const DimId d : p.outer) outer *= pieces.graph.dims()[d].size;
  const std::int64_t rows = walk.sweep(piece).rows();
  const Tensor context = log_context(program, piece, operands, walk.results(), walk.mass(piece), call);
  walk.visit(piece, context, [&](const Block& block, const Call& inner) {
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
        if (exists[s * rows + first] == 0) continue;
        const auto total = [&](const std::vector<double>& logs) {
          double high = -std::numeric_limits<double>::infinity();
          double sum = 0;
          const auto term = [&](std::int64_t r) {
            const std::int64_t at = s * rows + r;
            return logs[at] + block.forward_offset[at] + block.backward_offset[at + rows];
          };
          for (std::int64_t r = first; r < first + outer; ++r) high = std::max(high, term(r));
          if (high == -std::numeric_limits<double>::infinity()) return high;
          for (std::int64_t r = first; r < first + outer; ++r) sum += std::exp(term(r) - high);
          return high + std::log(sum);
        };
        const double rest = total(without);
        if (rest == -std::numeric_limits<double>::infinity()) {
          throw ImpossibleError("without what is left out of slice " + std::to_string(block.first + s) + " of chain '" +
                                pieces.graph.dims()[p.chain].name + "', nothing is possible");
        }
        values[first / outer * shape.back() + block.first + s] = total(with) - rest;
      }
    }
  });
  // Plates come before chains, in whatever order the rows have them.
  std::vector<DimId> order = without(graph::AnswerAxes(program.graph())(p.sources[0], false), p.chain);
  order.push_back(p.chain);
  Tensor ordered = reordered(answer, axes, order);
  return {.axes = std::move(order), .values = std::move(ordered)};
}

SlicesLeftOut leave_out_slices(const Program& program, DimId plate, std::span<const Tensor> operands,
                               const Call& call) {
  if (program.point_ends() != nullptr) {
    const auto inputs = program.sliced_inputs(operands, Semiring::log, call);
    return leave_out_slices(program.sliced(), plate, inputs.operands, inputs.call);
  }
  if (const Program& joined = program.for_lengths(call); &joined != &program) {
    return leave_out_slices(joined, plate, operands, call);
  }
  TakeOut how = program.how();
  how.apart = plate;
  if (const Program& apart = program.taking_out(how); &apart != &program) {
    return leave_out_slices(apart, plate, operands, call);
  }
  const Pieces& pieces = program.pieces();
  const std::string& name = pieces.graph.dims()[plate].name;
  for (const Piece& piece : pieces.pieces) {
    if (std::find(piece.rows.begin(), piece.rows.end(), plate) != piece.rows.end()) continue;
    for (const std::size_t f : piece.factors) {
      const std::vector<DimId> plates = pieces.graph.factor_plates(f);
      if (std::find(plates.begin(), plates.end(), plate) == plates.end()) continue;
      throw OptionError("slices of '" + name + "' are to be left out, and it lies inside chain '" +
                        pieces.graph.dims()[piece.chain].name + "': only plates around a chain can be");
    }
  }
  const Walk walk(program, operands, call);
  const auto rest = program.rest_total();
  const FactorGraph& graph = rest->graph();
  std::vector<std::int64_t> shape = engine::sizes(graph, graph::batch_axes(graph));
  const Tensor total = engine::shape_only(Dtype::float64, shape);
  shape.push_back(graph.dims()[plate].size);
  engine::Settings settings = call.settings;
  settings.semiring = Semiring::log;
  if (graph.dims()[plate].size != 1) {
    const auto runnable = rest->question("leave one out of " + name, [&] {
      return adjoint::predictive_schedule(adjoint::forward(graph, program.options()), plate);
    });
    const std::vector<Tensor> both =
        runnable->run({total, engine::shape_only(Dtype::float64, shape)}, walk.rest_operands(), settings);
    return {both[0], both[1]};
  }
  // Without its only slice the plate is empty.
  const auto empty =
      rest->question("without " + name, [&] { return planner::plan(graph.resized(name, 0), program.options()); });
  const Tensor without = empty->run({total}, walk.rest_operands(), settings)[0];
  return {walk.log_partition(), Tensor::of(shape, without.values())};
}

}  // namespace plated::chain
