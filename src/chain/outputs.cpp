// Outputs of a graph with chains: of the rest, and of slices between the messages that meet in them.
#include <algorithm>
#include <cmath>

#include "adjoint/questions.hpp"
#include "base/watch.hpp"
#include "chain/context.hpp"
#include "chain/program.hpp"
#include "chain/sweep.hpp"
#include "semiring/dispatch.hpp"

namespace plated::chain {
namespace {

std::vector<Tensor> plain_outputs(const Program& program, std::vector<Tensor> places, std::span<const Tensor> operands,
                                  const Call& call) {
  const auto runnable = program.question("outputs", [&] { return planner::plan(program.graph(), program.options()); });
  return runnable->run(std::move(places), operands, call.settings);
}

}  // namespace

Tensor scalars_of(const Block& block, std::int64_t rows, Semiring semiring) {
  Tensor scalars(Dtype::float64, block.exists.shape());
  auto* values = static_cast<double*>(scalars.mutable_data());
  const auto [zero, one] = semiring::dispatch(
      semiring, [](auto ring) { return std::pair<double, double>(decltype(ring)::zero(), decltype(ring)::one()); });
  const std::vector<double> exists = block.exists.values();
  const bool sums = engine::carries_offset(semiring);
  for (std::int64_t s = 0; s < block.count; ++s) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t at = s * rows + r;
      values[at] = sums ? block.forward_offset[at] + block.backward_offset[at + rows] : one;
      if (exists[at] == 0) values[at] = zero;
    }
  }
  return scalars;
}

std::vector<Tensor> outputs(const Program& program, std::vector<Tensor> places, std::span<const Tensor> operands,
                            const Call& call) {
  if (!program.has_chains()) return plain_outputs(program, std::move(places), operands, call);
  const Semiring semiring = call.settings.semiring;
  if (program.point_ends() != nullptr) {
    const auto inputs = program.sliced_inputs(operands, semiring, call);
    const PointEnds& ends = *program.point_ends();
    ends.take_outputs(outputs(program.sliced(), ends.output_places(places), inputs.operands, inputs.call), places,
                      call.lengths);
    return places;
  }
  if (const Program& joined = program.for_lengths(call); &joined != &program) {
    return outputs(joined, std::move(places), operands, call);
  }
  const Pieces& pieces = program.pieces();
  const Dtype dtype = engine::element_dtype(operands.first(program.graph().factors().size()));
  std::vector<std::vector<std::size_t>> of_piece(pieces.pieces.size());
  std::vector<std::vector<DimId>> asked;
  std::vector<std::size_t> asked_output;
  for (std::size_t o = 0; o < pieces.answers.size(); ++o) {
    if (pieces.answers[o].rest) {
      asked.push_back(program.graph().outputs()[o].dims);
      asked_output.push_back(o);
    } else {
      of_piece[pieces.answers[o].piece].push_back(o);
    }
  }
  base::Phases phases;
  std::vector<std::unique_ptr<Sweep>> sweeps;
  std::vector<Tensor> results;
  std::string key = "rest outputs";
  for (std::size_t p = 0; p < pieces.pieces.size(); ++p) {
    const bool returns = !of_piece[p].empty();
    const double asked_bytes = returns ? 64.0 * 1024 : 0;
    sweeps.push_back(std::make_unique<Sweep>(program, p, operands, semiring, call,
                                             sweep_size(program, p, dtype, asked_bytes, call.settings.memory_limit)));
    const auto phase = phases.next(0.4 / static_cast<double>(pieces.pieces.size()));
    results.push_back(sweeps[p]->result(returns));
    if (!returns) continue;
    asked.push_back(message_axes(pieces.pieces[p], pieces.pieces[p].result()));
    key += " " + std::to_string(p);
  }
  std::vector<Tensor> rest_places;
  for (std::size_t k = 0; k < asked.size(); ++k) {
    rest_places.push_back(k < asked_output.size()
                              ? places[asked_output[k]]
                              : engine::shape_only(Dtype::float64, engine::sizes(pieces.graph, asked[k])));
  }
  const auto rest = program.part(key, [&] { return rest_asking(pieces, asked); });
  const bool any_sliced = asked.size() > asked_output.size();
  {
    const auto phase = phases.next(any_sliced ? 0.1 : 0.6);
    rest_places = outputs(*rest, std::move(rest_places), program.rest_operands(operands, results), call);
  }
  for (std::size_t k = 0; k < asked_output.size(); ++k) places[asked_output[k]] = rest_places[k];

  std::size_t next = asked_output.size();
  for (std::size_t p = 0; p < pieces.pieces.size(); ++p) {
    if (of_piece[p].empty()) continue;
    const Piece& piece = pieces.pieces[p];
    SliceQuestion question{.outer_is_batch = false, .offsets = true};
    for (const std::size_t o : of_piece[p]) {
      question.outputs.push_back(program.graph().outputs()[o].dims);
      if (places[o].data() == nullptr) places[o] = Tensor::uninitialised(places[o].dtype(), places[o].shape());
    }
    const Tensor context = context_of(rest_places[next++], results[p], semiring);
    const auto phase = phases.next(0.5 / static_cast<double>(asked.size() - asked_output.size()));
    sweeps[p]->back(context, [&](const Block& block) {
      question.slices = block.count;
      const auto part = program.part("slices of " + std::to_string(p) + " " + std::to_string(block.count),
                                     [&] { return slice_graph(pieces.graph, piece, question); });
      std::vector<Tensor> inputs = block.operands;
      inputs.push_back(block.before());
      inputs.push_back(block.after());
      inputs.push_back(scalars_of(block, sweeps[p]->rows(), semiring));
      std::vector<Tensor> block_places;
      for (const std::size_t o : of_piece[p]) {
        block_places.push_back(
            narrowed(places[o], program.graph().outputs()[o].dims, piece.chain, block.first, block.count));
      }
      (void)outputs(*part, std::move(block_places), inputs,
                    InnerCall(call, semiring, piece.chain, block.first, block.count));
    });
  }
  return places;
}

}  // namespace plated::chain
