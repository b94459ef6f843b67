// Decodes a graph with chains: the rest first, then each chain's path, then what lies inside its slices.
#include "chain/decode.hpp"

#include <algorithm>
#include <memory>

#include "base/watch.hpp"
#include "chain/decode_inside.hpp"
#include "chain/decode_path.hpp"
#include "chain/decode_states.hpp"
#include "chain/sweep.hpp"

namespace plated::chain {
namespace {

using Check = std::function<void(const Tensor&)>;

/// A graph without chains; its plates are in declaration order in the assignments, too.
Tensor decode_plain(const Program& program, std::span<const Tensor> operands, const adjoint::Choice& choice,
                    const engine::Settings& settings, const Check& check, std::vector<Integers>& assignment) {
  const auto runnable = program.question("assignments", [&] {
    planner::Options all_kept = program.options();
    all_kept.sums_only = false;
    all_kept.without.insert("reuse_buffers");
    return planner::plan(graph::total_graph(program.graph()), all_kept);
  });
  const planner::Schedule& schedule = runnable->schedule();
  const engine::Runnable::Lease lease(*runnable);
  Tensor total = runnable->run(engine::output_shapes(schedule.graph, engine::element_dtype(operands)), operands,
                               settings, lease)[0];
  if (check) check(total);
  adjoint::backtrace(schedule, settings.semiring, operands, *lease, choice, settings.threads, assignment);
  return total;
}

/// What the rest's factors hold in slices that do not exist is not read.
void pad(std::vector<Tensor>& inputs, const Pieces& pieces, const Call& call) {
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (pieces.rest_factors[k].is_piece) continue;
    const std::vector<DimId>& axes = pieces.graph.factors()[pieces.rest_factors[k].index].dims;
    for (const Chain& chain : pieces.graph.chains()) {
      const Ragged* ragged = call.ragged(chain.dim);
      if (ragged == nullptr) continue;
      inputs[k] = padded(inputs[k], axes, chain.dim, 0, *ragged, call.settings.semiring);
    }
  }
}

Tensor decode_rest(const Program& program, std::span<const Tensor> operands, const std::vector<Tensor>& results,
                   const adjoint::Choice& choice, const Call& call, const Check& check, States& states) {
  const Pieces& pieces = program.pieces();
  const auto rest = program.rest_total();
  std::vector<Tensor> inputs = program.rest_operands(operands, results);
  pad(inputs, pieces, call);
  const graph::AnswerAxes axes(rest->graph());
  const SortedSet variables = rest_variables(pieces);
  std::vector<Integers> chosen(rest->graph().dims().size());
  for (const DimId v : variables) {
    if (axes(v, false) == states.axes(v)) {
      chosen[v] = std::move(states.all(v));
      continue;
    }
    std::vector<std::int64_t> shape = engine::sizes(rest->graph(), axes(v, false));
    if (choice.draw) shape.insert(shape.begin(), choice.count);
    chosen[v] = Integers(std::move(shape));
  }
  Tensor total = decode_plain(*rest, inputs, choice, call.settings, check, chosen);
  for (const DimId v : variables) {
    if (axes(v, false) == states.axes(v)) {
      states.all(v) = std::move(chosen[v]);
    } else {
      states.put(v, 0, states.samples(), chosen[v].values.data(), axes(v, false),
                 engine::sizes(rest->graph(), axes(v, false)));
    }
  }
  return total;
}

}  // namespace

Tensor decode(const Program& program, std::span<const Tensor> operands, const adjoint::Choice& choice, const Call& call,
              const Check& check, std::vector<Integers>& assignment) {
  operands = operands.first(program.graph().factors().size());
  if (!program.has_chains()) return decode_plain(program, operands, choice, call.settings, check, assignment);
  if (program.point_ends() != nullptr) {
    const auto inputs = program.sliced_inputs(operands, call.settings.semiring, call);
    return decode(program.sliced(), inputs.operands, choice, inputs.call, check, assignment);
  }
  if (const Program& joined = program.for_lengths(call); &joined != &program) {
    return decode(joined, operands, choice, call, check, assignment);
  }
  const Pieces& pieces = program.pieces();
  const Dtype dtype = engine::element_dtype(operands);
  base::Phases phases;
  const double of_a_piece = 1 / static_cast<double>(pieces.pieces.size());
  std::vector<std::unique_ptr<Sweep>> sweeps;
  std::vector<Tensor> results;
  for (std::size_t p = 0; p < pieces.pieces.size(); ++p) {
    sweeps.push_back(std::make_unique<Sweep>(program, p, operands, call.settings.semiring, call,
                                             sweep_size(program, p, dtype, 0, call.settings.memory_limit)));
    const auto phase = phases.next(0.4 * of_a_piece);
    results.push_back(sweeps.back()->result(true));
  }
  States states(pieces.graph, assignment, choice);
  Tensor total = decode_rest(program, operands, results, choice, call, check, states);
  for (std::size_t p = 0; p < pieces.pieces.size(); ++p) {
    const auto phase = phases.next(0.6 * of_a_piece);
    Path(program, p, choice, call, states).trace(*sweeps[p]);
    sweeps[p].reset();
    decode_inside(program, p, operands, choice, call, states);
  }
  if (call.lengths != nullptr) states.erase_beyond(*call.lengths);
  assignment.resize(program.graph().dims().size());
  return total;
}

}  // namespace plated::chain
