// Runs messages forwards and asks each slice without the message that comes back.
#include "chain/filtered.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chain/context.hpp"

namespace plated::chain {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// Weights of the outer variables' states in each slice: exp(logs) normalised over them for each slice and row.
Tensor outer_weights(const Tensor& logs, std::int64_t outer, const std::vector<double>& exists) {
  std::vector<double> values = logs.values();
  for (std::size_t first = 0; first < values.size(); first += static_cast<std::size_t>(outer)) {
    double high = minus_infinity;
    for (std::int64_t k = 0; k < outer; ++k) high = std::max(high, values[first + k]);
    double sum = 0;
    for (std::int64_t k = 0; k < outer; ++k) sum += high == minus_infinity ? 0 : std::exp(values[first + k] - high);
    for (std::int64_t k = 0; k < outer; ++k) {
      double& w = values[first + k];
      w = sum > 0 ? std::exp(w - high) / sum * exists[first + k] : 0;
    }
  }
  return Tensor::of(logs.shape(), values);
}

}  // namespace

void answer_filtered(const Program& program, std::size_t piece, std::span<const Tensor> operands,
                     const std::vector<Tensor>& results, const Tensor& mass, const Probe& probe, const Call& call) {
  const FactorGraph& graph = program.pieces().graph;
  const Piece& p = program.pieces().pieces[piece];
  const Dtype dtype = engine::element_dtype(operands.first(program.graph().factors().size()));
  Sweep sweep(program, piece, operands, Semiring::log, call,
              sweep_size(program, piece, dtype, 64.0 * 1024, call.settings.memory_limit));
  (void)sweep.result(true);
  const Tensor context = log_context(program, piece, operands, results, mass.values(), call);
  std::int64_t outer = 1;
  for (const DimId d : p.outer) outer *= graph.dims()[d].size;
  // Where messages run forwards by themselves, what lies outside has yet to weigh the outer variables' states.
  std::vector<double> outside(static_cast<std::size_t>(sweep.rows()), 0.0);
  if (p.forward) {
    const std::vector<double> values = context.values();
    for (std::int64_t r = 0; r < sweep.rows(); ++r) {
      double high = minus_infinity;
      for (std::int64_t k = 0; k < sweep.states(); ++k) high = std::max(high, values[r * sweep.states() + k]);
      double sum = 0;
      for (std::int64_t k = 0; k < sweep.states() && high != minus_infinity; ++k) {
        sum += std::exp(values[r * sweep.states() + k] - high);
      }
      outside[r] = sum > 0 ? high + std::log(sum) : minus_infinity;
    }
  }
  sweep.back(context, [&](const Block& block) {
    const InnerCall inner(call, Semiring::log, p.chain, block.first, block.count);
    std::vector<Tensor> inputs = block.operands;
    inputs.push_back(block.before());
    const Tensor one = dtype == Dtype::float32 ? Tensor::scalar(0.0F) : Tensor::scalar(0.0);
    inputs.push_back(one.broadcast(block.after().shape()));
    SliceQuestion question{.slices = block.count};
    const std::string size = std::to_string(piece) + " " + std::to_string(block.count);
    const auto totals = program.part("filtered totals of " + size, [&] { return slice_graph(graph, p, question); });
    Tensor logs = outputs(*totals, {Tensor(Dtype::float64, block.exists.shape())}, inputs, inner)[0];
    auto* values = static_cast<double*>(logs.mutable_data());
    for (std::int64_t k = 0; k < logs.elements(); ++k) values[k] += block.forward_offset[k] + outside[k % sweep.rows()];

    question.probes = {probe.axes};
    std::string key = "filtered " + size + " probe";
    for (const DimId d : probe.axes) key += " " + std::to_string(d);
    const auto part = program.part(key, [&] { return slice_graph(graph, p, question); });
    const Tensor place = narrowed(probe.place, probe.axes, p.chain, block.first, block.count);
    inputs.push_back(one.broadcast(place.shape()));
    inputs.push_back(outer_weights(logs, outer, block.exists.values()));
    adjoint::GradientQuestion asked{.semiring = Semiring::log, .reads_answers = false};
    asked.wanted.assign(inputs.size() - 1, false);
    asked.wanted.back() = true;
    (void)gradient(*part, asked, {Tensor(Dtype::float64, block.exists.shape()), place}, inputs, inner);
  });
}

}  // namespace plated::chain
