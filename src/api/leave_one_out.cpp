// leave_one_out: compares the total with and without each slice of a plate.
#include <algorithm>

#include "adjoint/questions.hpp"
#include "api/chained.hpp"
#include "api/inputs.hpp"
#include "api/log_posterior.hpp"
#include "api/plan_cache.hpp"
#include "api/question_inputs.hpp"
#include "base/watch.hpp"
#include "chain/predictive.hpp"
#include "engine/check_answers.hpp"
#include "plated/error.hpp"
#include "plated/marginals.hpp"

namespace plated {

namespace {

/// The total of all slices, and that without each of them.
std::vector<Tensor> totals(const api::PlanImpl& impl, DimId plate, std::span<const Tensor> inputs,
                           const engine::Settings& settings) {
  const FactorGraph& graph = impl.graph;
  const std::string& name = graph.dims()[plate].name;
  const std::vector<std::int64_t> batch = api::sizes(graph, adjoint::batch_axes(graph));
  std::vector<std::int64_t> slices = batch;
  slices.push_back(graph.dims()[plate].size);
  std::vector<Tensor> outputs{api::shape_only(Dtype::float64, batch), api::shape_only(Dtype::float64, slices)};
  if (graph.dims()[plate].size != 1) {
    const auto runnable = impl.question(
        "leave one out of " + name, [&] { return adjoint::predictive_schedule(impl.observed, impl.options, plate); });
    return runnable->run(std::move(outputs), inputs, settings);
  }
  // Without its only slice the plate is empty.
  planner::Options options = impl.options;
  options.sums_only = false;
  options.keep_sums = true;  // for sums in double
  const FactorGraph total = adjoint::total_graph(impl.observed);
  const auto whole = impl.question("log Z alone", [&] { return planner::plan(total, options); });
  const auto rest = impl.question("without " + name, [&] { return planner::plan(total.resized(name, 0), options); });
  Tensor without(Dtype::float64, slices);
  const Tensor place = Tensor::view(static_cast<double*>(without.mutable_data()), batch);
  base::Phases phases;
  {
    const auto phase = phases.next(0.5);
    (void)rest->run({place}, inputs, settings);
  }
  const auto phase = phases.next(0.5);
  return {whole->run({outputs[0]}, inputs, settings)[0], without};
}

}  // namespace

namespace {

/// The answer in the operands' type.
Tensor answered(const Tensor& values, std::span<const Tensor> operands) {
  Tensor answer = api::filled(engine::element_dtype(operands), values.shape(), values.values());
  engine::check_answer("the answer", "", answer, Semiring::log);
  return answer;
}

std::string not_joined(const std::string& factor, const std::string& chain) {
  return "factor '" + factor + "' cannot be left out of slices of chain " + chain +
         ": the factors must be joined to its linked variables, and to each other";
}

/// The chain's piece that holds the named factors.
Tensor along_chain(const api::PlanImpl& impl, DimId chain, std::span<const Tensor> operands, const RunOptions& options,
                   const std::vector<std::string>& factors) {
  const FactorGraph& graph = impl.graph;
  const std::string name = "'" + graph.dims()[chain].name + "'";
  if (factors.empty()) {
    throw OptionError("which factors of a slice of chain " + name + " are left out? Name them");
  }
  const auto program = api::total_program(impl);
  std::vector<std::size_t> masked;
  std::size_t piece = 0;
  for (const std::string& factor : factors) {
    const auto found = std::find_if(graph.factors().begin(), graph.factors().end(),
                                    [&](const Factor& known) { return known.name == factor; });
    if (found == graph.factors().end()) {
      throw UnknownNameError("factor '" + factor + "' is to be left out, and the model has no such factor");
    }
    const auto index_of_factor = static_cast<std::size_t>(found - graph.factors().begin());
    if (std::find(masked.begin(), masked.end(), index_of_factor) != masked.end()) {
      throw DuplicateNameError("factor '" + factor + "' is named twice among those to leave out");
    }
    masked.push_back(index_of_factor);
    const std::vector<chain::Piece>& pieces = program->pieces().pieces;
    const auto holder = std::find_if(pieces.begin(), pieces.end(), [&](const chain::Piece& p) {
      return p.chain == chain && std::find(p.factors.begin(), p.factors.end(), masked.back()) != p.factors.end();
    });
    const auto index = static_cast<std::size_t>(holder - pieces.begin());
    if (holder == pieces.end() || (masked.size() > 1 && index != piece)) {
      throw OptionError(not_joined(factor, name));
    }
    piece = index;
  }
  const api::Inputs inputs = api::log_inputs(impl, operands, options);
  const engine::Settings settings = api::question_settings(options, inputs, Semiring::log);
  chain::FactorsLeftOut answer =
      chain::leave_one_out(*program, piece, masked, inputs.centred, api::ChainCall(impl, options, settings));
  api::add_offsets(impl, inputs, masked, answer.axes, api::ragged_chains(impl, options.lengths), answer.values);
  base::tell_progress(1);
  return answered(answer.values, operands);
}

}  // namespace

Tensor leave_one_out(const Plan& plan, std::span<const Tensor> operands, std::string_view plate,
                     const RunOptions& options, const std::vector<std::string>& factors) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::PlanImpl& impl = api::PlanAccess::impl(plan);
  const auto dim = impl.graph.find(plate);
  if (!dim || !has_slices(impl.graph.dims()[*dim].kind)) {
    throw UnknownNameError("slices of '" + std::string(plate) +
                           "' are to be left out, and the model has no such plate or chain");
  }
  if (impl.graph.dims()[*dim].kind == DimKind::chain) return along_chain(impl, *dim, operands, options, factors);
  if (!factors.empty()) throw OptionError("factors to leave out are named for a chain; of a plate, whole slices are");
  const api::Inputs inputs = api::log_inputs(impl, operands, options);
  const engine::Settings settings = api::question_settings(options, inputs, Semiring::log);
  std::vector<Tensor> both;
  if (impl.chains) {
    const chain::SlicesLeftOut left_out = chain::leave_out_slices(*api::total_program(impl), *dim, inputs.centred,
                                                                  api::ChainCall(impl, options, settings));
    both = {left_out.total, left_out.without};
  } else {
    both = totals(impl, *dim, inputs.centred, settings);
  }
  Tensor answer = api::predictive(impl.graph, *dim, both[0], both[1]);
  std::vector<DimId> axes = adjoint::batch_axes(impl.graph);
  axes.push_back(*dim);
  std::vector<std::size_t> left_out;
  for (std::size_t f = 0; f < impl.graph.factors().size(); ++f) {
    if (chain::holds(impl.graph.factor_plates(f), *dim)) left_out.push_back(f);
  }
  api::add_offsets(impl, inputs, left_out, axes, api::ragged_chains(impl, options.lengths), answer);
  watch.finish();
  return answered(answer, operands);
}

Tensor leave_one_out(std::string_view equation, const std::vector<Tensor>& operands, std::string_view plate,
                     const EinsumOptions& options, const std::vector<std::string>& factors) {
  const Plan plan = api::cached_plan(equation, operands, options);
  return leave_one_out(plan, std::span<const Tensor>(operands), plate, api::run_options(options), factors);
}

}  // namespace plated
