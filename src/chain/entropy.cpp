// Entropy and expectations: each slice's own, added up along the chain.
#include <algorithm>
#include <cmath>

#include "chain/walk.hpp"

namespace plated::chain {
namespace {

planner::Schedule total_forward(const Program& program) {
  return adjoint::forward(graph::total_graph(program.graph()), program.options());
}

/// The questions whose answer is a number for each batch, of a graph without chains.
Tensor plain_number(const Program& program, const std::string& key, const std::function<planner::Schedule()>& plan,
                    std::span<const Tensor> operands, const std::vector<Tensor>& more, const Call& call) {
  const FactorGraph& graph = program.graph();
  const std::vector<std::int64_t> shape = engine::sizes(graph, graph::batch_axes(graph));
  std::vector<Tensor> inputs(operands.begin(), operands.end());
  inputs.push_back(Tensor::scalar(1.0).broadcast(shape));
  inputs.insert(inputs.end(), more.begin(), more.end());
  engine::Settings settings = call.settings;
  settings.semiring = Semiring::log;
  const Tensor place = engine::shape_only(Dtype::float64, shape);
  return program.question(key, plan)->run({place, place}, inputs, settings)[1];
}

/// Adds numbers for each slice, row and outer state, weighed, to a number for each batch.
class BatchSum {
 public:
  BatchSum(const Program& program, const Piece& piece, Tensor& sum) : sum_(sum) {
    const FactorGraph& graph = program.pieces().graph;
    for (const DimId d : piece.rows) {
      if (graph.dims()[d].kind != DimKind::batch) within_ *= graph.dims()[d].size;
    }
    for (const DimId d : piece.outer) within_ *= graph.dims()[d].size;
  }
  void add(std::int64_t row, double value) {
    static_cast<double*>(sum_.mutable_data())[row / std::max<std::int64_t>(1, within_)] += value;
  }

 private:
  Tensor& sum_;
  std::int64_t within_ = 1;
};

/// −x log x of shares of a weight.
double surprise(double part, double whole) { return part > 0 ? -part * std::log(part / whole) : 0.0; }

}  // namespace

Tensor entropy(const Program& program, std::span<const Tensor> operands, const Call& call) {
  if (!program.has_chains()) {
    return plain_number(
        program, "entropy", [&] { return adjoint::entropy_schedule(total_forward(program), 0); }, operands, {}, call);
  }
  if (program.point_ends() != nullptr) {
    const auto inputs = program.sliced_inputs(operands, Semiring::log, call);
    return entropy(program.sliced(), inputs.operands, inputs.call);
  }
  if (const Program& joined = program.for_lengths(call); &joined != &program) {
    return entropy(joined, operands, call);
  }
  const Pieces& pieces = program.pieces();
  Walk walk(program, operands, call);
  Tensor sum = entropy(*program.rest_total(), walk.rest_operands(), call);
  for (std::size_t p = 0; p < pieces.pieces.size(); ++p) {
    const Piece& piece = pieces.pieces[p];
    const std::int64_t rows = walk.sweep(p).rows();
    const std::int64_t states = walk.sweep(p).states();
    BatchSum into(program, piece, sum);
    std::vector<bool> has_slices(static_cast<std::size_t>(rows), false);
    std::vector<double> weight;
    // The chain rule: the entropies of slices, less those of the states that neighbours share.
    walk.visit(p, [&](const Block& block, const std::vector<double>& weights, const Call& inner) {
      weight = weights;
      const std::string size = std::to_string(p) + " " + std::to_string(block.count);
      const auto slices = program.part("slice totals of " + size,
                                       [&] { return slice_graph(pieces.graph, piece, {.slices = block.count}); });
      std::vector<Tensor> inputs = block.operands;
      inputs.push_back(block.before());
      inputs.push_back(block.after());
      const std::vector<double> of_slices =
          in_order(entropy(*slices, inputs, inner), slices->graph(), slice_batch(piece));
      const auto between =
          program.part("states between " + size, [&] { return state_graph(pieces.graph, piece, block.count, {}); });
      Block swapped = block;
      swapped.forward = block.backward;
      const std::vector<double> of_states =
          in_order(entropy(*between, std::vector<Tensor>{block.before(), swapped.before()}, inner), between->graph(),
                   slice_batch(piece));
      const std::vector<double> exists = block.exists.values();
      for (std::int64_t s = 0; s < block.count; ++s) {
        for (std::int64_t r = 0; r < rows; ++r) {
          const std::int64_t at = s * rows + r;
          if (exists[at] == 0 || weights[r] == 0) continue;
          has_slices[r] = true;
          const double shared = block.first + s > 0 ? of_states[at] : 0.0;
          into.add(r, weights[r] * (of_slices[at] - shared));
        }
      }
    });
    // The rest counts the states at the end of the messages once already.
    for (std::int64_t r = 0; r < rows; ++r) {
      if (!has_slices[r]) continue;
      for (std::int64_t k = 0; k < states; ++k) into.add(r, -surprise(walk.mass(p)[r * states + k], weight[r]));
    }
  }
  return sum;
}

Tensor expectation(const Program& program, std::span<const Tensor> operands, const std::vector<Tensor>& statistics,
                   const Call& call) {
  std::vector<bool> given;
  std::vector<Tensor> present;
  std::string key = "expectation ";
  for (const Tensor& tensor : statistics) {
    given.push_back(tensor.data() != nullptr);
    key += given.back() ? '1' : '0';
    if (given.back()) present.push_back(tensor);
  }
  if (!program.has_chains()) {
    return plain_number(
        program, key, [&] { return adjoint::expectation_schedule(total_forward(program), 0, given); }, operands,
        present, call);
  }
  if (const PointEnds* ends = program.point_ends()) {
    const auto inputs = program.sliced_inputs(operands, Semiring::log, call);
    std::vector<Tensor> of_slices = statistics;
    for (std::size_t f = 0; f < statistics.size(); ++f) {
      if (given[f] && ends->holds(f)) of_slices[f] = ends->expanded(f, statistics[f], 0.0, call.lengths);
    }
    of_slices.resize(ends->graph().factors().size());
    return expectation(program.sliced(), inputs.operands, of_slices, inputs.call);
  }
  if (const Program& joined = program.for_lengths(call); &joined != &program) {
    return expectation(joined, operands, statistics, call);
  }
  const Pieces& pieces = program.pieces();
  Walk walk(program, operands, call);
  std::vector<Tensor> rest_statistics;
  for (const RestFactor& from : pieces.rest_factors) {
    rest_statistics.push_back(from.is_piece ? Tensor() : statistics[from.index]);
  }
  Tensor sum = expectation(*program.rest_total(), walk.rest_operands(), rest_statistics, call);
  for (std::size_t p = 0; p < pieces.pieces.size(); ++p) {
    const Piece& piece = pieces.pieces[p];
    const std::int64_t rows = walk.sweep(p).rows();
    BatchSum into(program, piece, sum);
    std::vector<double> weight;
    walk.visit(p, [&](const Block& block, const std::vector<double>& weights, const Call& inner) {
      weight = weights;
      const auto part = program.part("slice totals of " + std::to_string(p) + " " + std::to_string(block.count),
                                     [&] { return slice_graph(pieces.graph, piece, {.slices = block.count}); });
      std::vector<Tensor> inputs = block.operands;
      inputs.push_back(block.before());
      inputs.push_back(block.after());
      std::vector<Tensor> of_slices;
      for (const std::size_t f : piece.factors) {
        of_slices.push_back(
            given[f] ? narrowed(statistics[f], pieces.graph.factors()[f].dims, piece.chain, block.first, block.count)
                     : Tensor());
        const Ragged* ragged = call.ragged(piece.chain);
        const std::vector<DimId>& axes = pieces.graph.factors()[f].dims;
        if (given[f] && ragged != nullptr) {
          of_slices.back() = padded(of_slices.back(), axes, piece.chain, block.first, *ragged, Semiring::log);
        }
      }
      of_slices.resize(of_slices.size() + 2);
      const std::vector<double> values =
          in_order(expectation(*part, inputs, of_slices, inner), part->graph(), slice_batch(piece));
      const std::vector<double> exists = block.exists.values();
      for (std::size_t k = 0; k < values.size(); ++k) {
        const std::int64_t r = static_cast<std::int64_t>(k) % rows;
        if (exists[k] != 0 && weights[r] != 0) into.add(r, weights[r] * values[k]);
      }
    });
    if (piece.absorbed.empty()) continue;
    const auto start =
        program.part("start of " + std::to_string(p), [&] { return start_graph(pieces.graph, piece, true); });
    std::vector<Tensor> inputs;
    std::vector<Tensor> of_start;
    for (const std::size_t f : piece.absorbed) {
      inputs.push_back(operands[f]);
      of_start.push_back(statistics[f]);
    }
    inputs.push_back(walk.sweep(p).returned());
    of_start.emplace_back();
    const std::vector<double> values =
        in_order(expectation(*start, inputs, of_start, call), start->graph(), without(slice_batch(piece), piece.chain));
    if (weight.empty()) {  // no slices: the weights are the masses of the states themselves
      const std::int64_t states = walk.sweep(p).states();
      weight.assign(static_cast<std::size_t>(rows), 0.0);
      for (std::int64_t k = 0; k < rows * states; ++k) weight[k / states] += walk.mass(p)[k];
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      if (weight[r] != 0) into.add(r, weight[r] * values[r]);
    }
  }
  return sum;
}

}  // namespace plated::chain
