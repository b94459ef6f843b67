// Walks through slices.
#include "chain/walk.hpp"

#include <algorithm>
#include <cmath>

namespace plated::chain {

Walk::Walk(const Program& program, std::span<const Tensor> operands, const Call& call) : call_(call) {
  const Pieces& pieces = program.pieces();
  const FactorGraph& graph = program.graph();
  const Dtype dtype = engine::element_dtype(operands.first(graph.factors().size()));
  constexpr double asked_bytes = 64 * 1024;
  for (std::size_t p = 0; p < pieces.pieces.size(); ++p) {
    const auto phase = phases_.next(0.3 / static_cast<double>(pieces.pieces.size()));
    sweeps_.push_back(std::make_unique<Sweep>(program, p, operands, Semiring::log, call,
                                              sweep_size(program, p, dtype, asked_bytes, call.settings.memory_limit)));
    results_.push_back(sweeps_[p]->result(true));
  }
  rest_operands_ = program.rest_operands(operands, results_);
  const std::vector<std::int64_t> batch = engine::sizes(graph, graph::batch_axes(graph));
  adjoint::GradientQuestion asked{.semiring = Semiring::log, .reads_answers = false};
  std::vector<Tensor> places{Tensor(Dtype::float64, batch)};
  for (const RestFactor& from : pieces.rest_factors) {
    asked.wanted.push_back(from.is_piece);
    if (from.is_piece) places.emplace_back(Dtype::float64, results_[from.index].shape());
  }
  std::vector<Tensor> inputs = rest_operands_;
  inputs.push_back(Tensor::scalar(1.0).broadcast(batch));
  {
    const auto phase = phases_.next(0.1);
    places = gradient(*program.rest_total(), asked, std::move(places), inputs, call);
  }
  log_partition_ = places[0];
  for (std::size_t p = 0; p < pieces.pieces.size(); ++p) masses_.push_back(places[1 + p].values());
}

void Walk::visit(std::size_t piece,
                 const std::function<void(const Block&, const std::vector<double>&, const Call&)>& show) {
  Sweep& sweep = *sweeps_[piece];
  std::vector<double> context = masses_[piece];
  const std::vector<double> result = results_[piece].values();
  std::vector<double> weight(static_cast<std::size_t>(sweep.rows()), 0.0);
  for (std::size_t k = 0; k < context.size(); ++k) {
    weight[k / static_cast<std::size_t>(sweep.states())] += context[k];
    context[k] = std::log(context[k]) - (context[k] > 0 ? result[k] : 0.0);
  }
  visit(piece, Tensor::of(results_[piece].shape(), context),
        [&](const Block& block, const Call& inner) { show(block, weight, inner); });
}

void Walk::visit(std::size_t piece, const Tensor& context, const std::function<void(const Block&, const Call&)>& show) {
  Sweep& sweep = *sweeps_[piece];
  const auto phase = phases_.next(0.6 / static_cast<double>(sweeps_.size()));
  sweep.back(context, [&](const Block& block) {
    show(block, InnerCall(call_, Semiring::log, sweep.piece().chain, block.first, block.count));
  });
}

std::vector<double> in_order(const Tensor& answer, const FactorGraph& graph, const std::vector<DimId>& batch) {
  return reordered(answer, graph::batch_axes(graph), batch).values();
}

}  // namespace plated::chain
