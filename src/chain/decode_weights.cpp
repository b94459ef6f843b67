// Finds the strides of a slice's factors, and plans the table of the chosen variables.
#include "chain/decode_weights.hpp"

#include <algorithm>

#include "chain/decode_states.hpp"
#include "graph/derived.hpp"

namespace plated::chain {
namespace {

std::vector<std::int64_t> strides_along(const Tensor& tensor, const std::vector<DimId>& axes,
                                        const std::vector<DimId>& dims) {
  std::vector<std::int64_t> list;
  for (const DimId d : dims) list.push_back(engine::stride_along(tensor, axes, d));
  return list;
}

/// Those of the variables that an input has, in their order.
std::vector<DimId> table_axes(const std::vector<DimId>& axes, const SliceChoice& choice) {
  std::vector<DimId> list;
  for (const std::vector<DimId>* variables : {&choice.chosen, &choice.summed}) {
    for (const DimId v : *variables) {
      if (holds(axes, v)) list.push_back(v);
    }
  }
  return list;
}

Tensor view_of(const SliceWeights::Input& input, Tensor::Shape shape, Tensor::Shape strides) {
  if (input.dtype == Dtype::float32) {
    return Tensor::view(reinterpret_cast<const float*>(input.data), std::move(shape), std::move(strides));
  }
  return Tensor::view(reinterpret_cast<const double*>(input.data), std::move(shape), std::move(strides));
}

FactorGraph table_graph(const FactorGraph& graph, const SliceChoice& choice,
                        const std::vector<std::vector<DimId>>& inputs) {
  graph::Derived derived(graph);
  for (const DimId v : choice.chosen) derived.variable(v, {});
  for (const DimId v : choice.summed) derived.variable(v, {});
  for (std::size_t k = 0; k < inputs.size(); ++k) derived.factor("input " + std::to_string(k), inputs[k]);
  derived.output(choice.chosen);
  return std::move(derived).finish();
}

}  // namespace

SliceChoice slice_choice(const FactorGraph& graph, const Piece& piece, const Body& body) {
  SliceChoice choice;
  choice.known = piece.forward ? piece.targets : piece.sources;
  const std::vector<DimId>& other = piece.forward ? piece.sources : piece.targets;
  for (const DimId v : other) {
    if (!holds(choice.known, v)) choice.chosen.push_back(v);
  }
  std::sort(choice.chosen.begin(), choice.chosen.end());
  choice.extent = engine::sizes(graph, choice.chosen);
  for (const DimId v : other) {
    const auto known = std::find(choice.known.begin(), choice.known.end(), v);
    if (known != choice.known.end()) {
      choice.next.push_back({.index = static_cast<std::size_t>(known - choice.known.begin())});
    } else {
      const auto chosen = std::find(choice.chosen.begin(), choice.chosen.end(), v);
      choice.next.push_back({.index = static_cast<std::size_t>(chosen - choice.chosen.begin()), .is_chosen = true});
    }
  }
  for (const BodyFactor& factor : body.factors) {
    for (const DimId d : factor.axes) {
      const bool slices_own = base::contains(piece.inside, d) && !holds(piece.sources, d) && !holds(piece.targets, d);
      if (slices_own && !holds(choice.summed, d)) choice.summed.push_back(d);
    }
  }
  return choice;
}

SliceWeights slice_weights(const Program& program, std::size_t piece, const SliceChoice& choice,
                           const TraceBlock& block) {
  const FactorGraph& graph = program.pieces().graph;
  const Piece& p = program.pieces().pieces[piece];
  const Body& body = program.body(piece);
  SliceWeights weights;
  std::vector<std::vector<DimId>> tables;
  const auto add = [&](const Tensor& tensor, const std::vector<DimId>& axes, std::int64_t first) {
    tables.push_back(table_axes(axes, choice));
    if (tables.back().empty()) {  // the same for all that can be chosen
      tables.pop_back();
      return;
    }
    SliceWeights::Input input;
    input.dtype = tensor.dtype();
    input.step = engine::stride_along(tensor, axes, p.chain);
    input.data = static_cast<const std::byte*>(tensor.data()) +
                 first * input.step * static_cast<std::int64_t>(size_of(tensor.dtype()));
    input.row = offsets(engine::sizes(graph, p.rows), strides_along(tensor, axes, p.rows));
    input.outer = strides_along(tensor, axes, p.outer);
    input.known = strides_along(tensor, axes, choice.known);
    input.chosen = strides_along(tensor, axes, choice.chosen);
    input.operand = view_of(input, engine::sizes(graph, tables.back()), strides_along(tensor, axes, tables.back()));
    weights.inputs.push_back(std::move(input));
  };
  std::vector<DimId> axes = message_axes(p, p.forward ? p.sources : p.targets);
  axes.insert(axes.begin(), p.chain);
  add(block.messages, axes, p.forward ? 0 : 1);
  for (std::size_t k = 0; k < body.factors.size(); ++k) add(block.factors[k], body.factors[k].axes, 0);
  if (!choice.summed.empty()) {
    weights.table = program.question("weights " + std::to_string(piece), [&] {
      planner::Options options = program.options();
      options.sums_only = false;
      return planner::plan(table_graph(graph, choice, tables), options);
    });
  }
  return weights;
}

}  // namespace plated::chain
