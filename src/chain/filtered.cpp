// Runs messages forwards and asks each slice with what lies outside of the chain in place of the message that comes
// back.
#include "chain/filtered.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chain/context.hpp"
#include "chain/messages.hpp"

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

/// What comes back to each slice where later slices have no factors: what lies outside of the chain, seen through their
/// links. Of a path of m links the last state is in the last m slices; to all others it is summed.
class Returning {
 public:
  Returning(const Program& program, std::size_t piece, const Tensor& context, const Call& call)
      : piece_(program.pieces().pieces[piece]) {
    const FactorGraph& graph = program.pieces().graph;
    const auto step = program.part("filtered return of " + std::to_string(piece),
                                   [&] { return body_graph(graph, piece_, {}, false); });
    messages_.push_back(context.values());
    Tensor message = context;
    for (std::size_t k = 0; k < piece_.links.size(); ++k) {
      message = outputs(*step, {Tensor(Dtype::float64, context.shape())}, std::vector<Tensor>{message},
                        InnerCall(call, Semiring::log))[0];
      messages_.push_back(message.values());
    }
  }

  /// For the slices of a block, with the scalars of each slice and row in `offset`.
  [[nodiscard]] Tensor after(const Block& block, const Sweep& sweep, std::vector<double>& offset) const {
    const std::int64_t rows = sweep.rows();
    const std::int64_t states = sweep.states();
    std::vector<double> values(static_cast<std::size_t>(block.count * rows * states), 0.0);
    offset.assign(static_cast<std::size_t>(block.count * rows), 0.0);
    for (std::int64_t at = 0; at < block.count * rows; ++at) {
      const std::int64_t later = sweep.length(at % rows) - 1 - (block.first + at / rows);
      if (later < 0) continue;
      const auto known = std::min<std::size_t>(static_cast<std::size_t>(later), messages_.size() - 1);
      const double* message = messages_[known].data() + at % rows * states;
      const double high = *std::max_element(message, message + states);
      offset[at] = high;
      if (high == minus_infinity) continue;
      for (std::int64_t k = 0; k < states; ++k) values[at * states + k] = message[k] - high;
    }
    return converted(Tensor::of(block.after().shape(), values), sweep.dtype());
  }

 private:
  const Piece& piece_;
  std::vector<std::vector<double>> messages_;  // by the number of later slices
};

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
  const Returning returning(program, piece, context, call);
  sweep.back(context, [&](const Block& block) {
    const InnerCall inner(call, Semiring::log, p.chain, block.first, block.count);
    std::vector<Tensor> inputs = block.operands;
    inputs.push_back(block.before());
    const Tensor one = dtype == Dtype::float32 ? Tensor::scalar(0.0F) : Tensor::scalar(0.0);
    std::vector<double> outside;
    inputs.push_back(returning.after(block, sweep, outside));
    SliceQuestion question{.slices = block.count};
    const std::string size = std::to_string(piece) + " " + std::to_string(block.count);
    const auto totals = program.part("filtered totals of " + size, [&] { return slice_graph(graph, p, question); });
    Tensor logs = outputs(*totals, {Tensor(Dtype::float64, block.exists.shape())}, inputs, inner)[0];
    auto* values = static_cast<double*>(logs.mutable_data());
    for (std::int64_t k = 0; k < logs.elements(); ++k) values[k] += block.forward_offset[k] + outside[k];

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
