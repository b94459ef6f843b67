// Plans a graph with chains.
#include "chain/program.hpp"

#include <algorithm>

#include "adjoint/questions.hpp"
#include "plated/error.hpp"

namespace plated::chain {
namespace {

constexpr std::size_t most_parts = 64;

}  // namespace

InnerCall::InnerCall(const Call& outer, Semiring semiring) : call_(outer) {
  call_.settings.semiring = semiring;
  call_.settings.memory_limit = 0;
  call_.settings.output_bytes = 0;
}

InnerCall::InnerCall(const Call& outer, Semiring semiring, DimId chain, std::int64_t first, std::int64_t count)
    : InnerCall(outer, semiring) {
  if (outer.lengths == nullptr) return;
  for (const auto& [dim, ragged] : *outer.lengths) lengths_[dim] = ragged.narrowed(chain, first, count);
  call_.lengths = &lengths_;
}

Program::Program(FactorGraph graph, planner::Options options, TakeOut how)
    : graph_(std::move(graph)), options_(std::move(options)), how_(std::move(how)) {
  options_.fixed_sizes = true;
  if (graph_.chains().empty()) return;
  if (PointEnds ends(graph_); ends.any()) {
    sliced_ = std::make_unique<const Program>(ends.graph(), options_, how_);
    point_ends_ = std::move(ends);
    return;
  }
  pieces_ = take_out_chains(graph_, how_);
  for (const Piece& piece : pieces_->pieces) bodies_.push_back(plan_body(pieces_->graph, piece, how_.ragged));
}

const Program& Program::for_lengths(const Call& call) const {
  if (!pieces_ || call.lengths == nullptr) return *this;
  TakeOut how = how_;
  for (const DimId chain : pieces_->told_by_lengths) {
    if (call.lengths->contains(chain)) how.ragged = base::unite(how.ragged, {chain});
  }
  return taking_out(how);
}

const Program& Program::taking_out(const TakeOut& how) const {
  if (how == how_) return *this;
  const std::lock_guard lock(mutex_);
  std::unique_ptr<const Program>& program = others_[how];
  if (!program) program = std::make_unique<const Program>(graph_, options_, how);
  return *program;
}

Program::SlicedInputs Program::sliced_inputs(std::span<const Tensor> operands, Semiring semiring,
                                             const Call& call) const {
  SlicedInputs inputs{.operands = {}, .call = call};
  std::int64_t& limit = inputs.call.settings.memory_limit;
  if (limit > 0) {
    const double bytes = point_ends_->bytes(engine::element_dtype(operands.first(graph_.factors().size())));
    if (bytes >= static_cast<double>(limit)) {
      const auto needed = static_cast<std::int64_t>(bytes);
      throw MemoryLimitError("factors on the ends of chains need " + std::to_string(needed) +
                                 " bytes as factors of all slices, and the limit is " + std::to_string(limit) +
                                 "; nothing was allocated",
                             needed, limit);
    }
    limit -= static_cast<std::int64_t>(bytes);
  }
  inputs.operands = point_ends_->operands(operands, semiring, call.lengths);
  return inputs;
}

std::shared_ptr<const Program> Program::part(const std::string& key, const std::function<FactorGraph()>& make) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = parts_.find(key); found != parts_.end()) return found->second;
  }
  auto made = std::make_shared<const Program>(make(), options_);
  const std::lock_guard lock(mutex_);
  if (parts_.size() >= most_parts) parts_.clear();  // those being asked live on with their askers
  return parts_.try_emplace(key, std::move(made)).first->second;
}

std::shared_ptr<const Program> Program::rest_total() const {
  return part("rest total", [&] { return rest_asking(*pieces_, {graph::batch_axes(graph_)}); });
}

std::shared_ptr<const engine::Runnable> Program::step(std::size_t piece, bool forward) const {
  const std::string key = std::string(forward ? "forward " : "backward ") + std::to_string(piece);
  return questions_(key, [&] {
    planner::Options options = options_;
    options.sums_only = false;
    return planner::plan(body_graph(pieces_->graph, pieces_->pieces[piece], bodies_[piece], forward), options);
  });
}

std::vector<Tensor> Program::rest_operands(std::span<const Tensor> operands, const std::vector<Tensor>& results) const {
  std::vector<Tensor> list;
  for (const RestFactor& from : pieces_->rest_factors) {
    list.push_back(from.is_piece ? results[from.index] : operands[from.index]);
  }
  return list;
}

}  // namespace plated::chain
