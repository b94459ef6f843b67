// leave_one_out: compares the total with and without each slice of a plate.
#include <algorithm>

#include "api/held.hpp"
#include "api/plan_cache.hpp"
#include "api/sweep.hpp"
#include "base/watch.hpp"
#include "engine/check_answers.hpp"
#include "engine/erase.hpp"
#include "engine/log_posterior.hpp"
#include "plated/error.hpp"
#include "plated/marginals.hpp"

namespace plated {

namespace {

std::vector<std::size_t> indices(const FactorGraph& graph, const std::vector<std::string>& factors) {
  std::vector<std::size_t> list;
  for (const std::string& factor : factors) {
    const auto found = std::find_if(graph.factors().begin(), graph.factors().end(),
                                    [&](const Factor& known) { return known.name == factor; });
    if (found == graph.factors().end()) {
      throw UnknownNameError("factor '" + factor + "' is to be left out, and the model has no such factor");
    }
    const auto index = static_cast<std::size_t>(found - graph.factors().begin());
    if (std::find(list.begin(), list.end(), index) != list.end()) {
      throw DuplicateNameError("factor '" + factor + "' is named twice among those to leave out");
    }
    list.push_back(index);
  }
  return list;
}

/// Throws UnknownNameError, and OptionError for factors of a plate.
DimId find_plate(const FactorGraph& graph, std::string_view plate, const std::vector<std::string>& factors) {
  const auto dim = graph.find(plate);
  if (!dim || !has_slices(graph.dims()[*dim].kind)) {
    throw UnknownNameError("slices of '" + std::string(plate) +
                           "' are to be left out, and the model has no such plate or chain");
  }
  if (graph.dims()[*dim].kind == DimKind::plate && !factors.empty()) {
    throw OptionError("factors to leave out are named for a chain; of a plate, whole slices are");
  }
  return *dim;
}

/// What is left out.
struct LeftOut {
  std::string plate;
  std::vector<std::string> factors;
};
struct GivenLeftOut {
  std::string_view plate;
  const std::vector<std::string>& factors;
  operator LeftOut() const { return {std::string(plate), factors}; }  // NOLINT(google-explicit-constructor)
  bool operator==(const LeftOut& other) const { return plate == other.plate && factors == other.factors; }
};

class LeaveOneOutAsker {
 public:
  using Parameters = LeftOut;
  static Semiring semiring(const RunOptions& /*options*/) { return Semiring::log; }
  static void take(const api::Call& call, Semiring /*semiring*/, api::Look /*look*/, api::Inputs& inputs) {
    api::take_log_inputs(call, api::Look::before, inputs);
  }

  LeaveOneOutAsker(const api::Posed& posed, const LeftOut& what)
      : posed_(posed),
        plate_(find_plate(posed.call.graph, what.plate, what.factors)),
        whole_(posed.call.graph.dims()[plate_].kind == DimKind::plate),
        left_out_(whole_ ? factors_in(posed.call.graph, plate_) : indices(posed.call.graph, what.factors)),
        asked_(asked()),
        axes_(axes()),
        absent_(posed.call.extents(), posed.call.presence(), axes_),
        sweep_(posed, asked_, Dtype::float64, {api::shape_only(Dtype::float64, posed.call.shape(axes_))}) {}

  void ask(Tensor& answer) {
    const api::Call& call = posed_.call;
    const std::span<const Tensor> both = sweep_.run();
    Tensor without = both[1];
    if (!whole_) absent_.erase(without, 0.0);
    engine::predict(call.graph, plate_, both[0], without);
    api::add_offsets(call, posed_.inputs, left_out_, axes_, without);
    absent_.erase(without, 0.0);
    base::tell_progress(1);
    engine::put(without, posed_.dtype, answer, "the answer");
    engine::check_answer("the answer", "", answer, Semiring::log);
  }
  [[nodiscard]] std::int64_t bytes() const { return sweep_.bytes(); }

 private:
  static std::vector<std::size_t> factors_in(const FactorGraph& graph, DimId plate) {
    std::vector<std::size_t> list;
    for (std::size_t f = 0; f < graph.factors().size(); ++f) {
      if (engine::holds(graph.factor_plates(f), plate)) list.push_back(f);
    }
    return list;
  }

  /// Whole slices, or some factors in each of them.
  [[nodiscard]] adjoint::Asked asked() const {
    const api::Call& call = posed_.call;
    adjoint::Asked asked =
        call.plan.parts({.kind = Question::Kind::leave_one_out, .plate = call.graph.dims()[plate_].name})[0];
    if (whole_) return asked;
    asked.chosen.resize(call.plan.observed.factors().size(), false);
    for (const std::size_t f : left_out_) asked.chosen[f] = true;
    return asked;
  }
  [[nodiscard]] std::vector<DimId> axes() const {
    if (!whole_) return posed_.call.plan.runnable(asked_)->schedule().outputs.back();
    std::vector<DimId> list = graph::batch_axes(posed_.call.graph);
    list.push_back(plate_);
    return list;
  }

  const api::Posed& posed_;
  DimId plate_;
  bool whole_;  // slices are left out, not some of their factors
  std::vector<std::size_t> left_out_;
  adjoint::Asked asked_;
  std::vector<DimId> axes_;
  engine::Absent absent_;  // slices that do not exist
  api::Sweep sweep_;
};

}  // namespace

Tensor leave_one_out(const Plan& plan, Tensors operands, std::string_view plate, const RunOptions& options,
                     const std::vector<std::string>& factors) {
  const base::Watch watch(options.cancelled, options.progress);
  (void)find_plate(plan.graph(), plate, {});
  const api::Call call(plan, operands, options);
  (void)find_plate(call.graph, plate, factors);
  const api::Posed posed(call, api::log_inputs(call, api::Look::before), Semiring::log);
  Tensor answer;
  LeaveOneOutAsker(posed, GivenLeftOut{plate, factors}).ask(answer);
  watch.finish();
  return answer;
}

void leave_one_out_into(Tensor& answer, const Plan& plan, Tensors operands, std::string_view plate,
                        Workspace& workspace, const RunOptions& options, const std::vector<std::string>& factors) {
  const base::Watch watch(options.cancelled, options.progress);
  (void)find_plate(plan.graph(), plate, factors);
  api::ask_held<LeaveOneOutAsker>(workspace, plan, operands, options, GivenLeftOut{plate, factors},
                                  [&](LeaveOneOutAsker& asker) { asker.ask(answer); });
  watch.finish();
}

Tensor leave_one_out(std::string_view equation, Tensors operands, std::string_view plate, const EinsumOptions& options,
                     const std::vector<std::string>& factors) {
  const auto [plan, how] = api::call_of(equation, operands, options);
  return leave_one_out(plan, std::span<const Tensor>(operands), plate, how, factors);
}

}  // namespace plated
