// Runs questions.
#include "api/posed.hpp"

#include <algorithm>

namespace plated::api {

using adjoint::Asked;
using adjoint::Forward;

Posed::Posed(const Call& of, Inputs prepared, Semiring in)
    : call(of),
      inputs(std::move(prepared)),
      semiring(in),
      dtype(engine::element_dtype(of.operands)),
      left_(of, in, true) {}

engine::Settings Posed::settings() const {
  engine::Settings settings = call.settings(semiring);
  settings.output_bytes = held() + held_elsewhere;
  if (inputs.left_to_run && !kept_) settings.unseen = &left_;
  return settings;
}

void Posed::evaluate() {
  forward_ = simplest(call.plan.observed, Forward::both);
  runnable_ = call.plan.runnable({.kind = Asked::Kind::forward, .forward = forward_});
  kept_ = std::make_unique<engine::Kept>(forward(), call.extents(), call.output_shapes(forward().graph, Dtype::float64),
                                         operands(forward(), inputs.centred()), settings());
}

std::vector<Tensor> Posed::operands(const planner::Schedule& schedule, const std::vector<Tensor>& of) const {
  std::vector<Tensor> all = of;
  as_read_by(schedule, call, semiring, all);
  return all;
}

std::vector<Tensor> Posed::operands(Asked asked) const {
  asked.forward = forward_of(asked);
  return operands(call.plan.runnable(asked)->schedule(), inputs.centred());
}

void ReadInputs::put(const Posed& posed, const planner::Schedule& schedule, std::vector<Tensor>& operands) {
  const std::vector<Tensor>& given = posed.inputs.centred();
  const bool is_first = taken_changes_ < 0;
  std::copy_n(given.begin(), is_first ? given.size() : posed.call.operands.size(), operands.begin());
  if (is_first) {
    as_read_by(schedule, posed.call, posed.semiring, operands);
  } else if (taken_changes_ != posed.inputs.taken_changes) {
    renew_as_read_by(schedule, posed.call, posed.semiring, operands);
  }
  taken_changes_ = posed.inputs.taken_changes;
}

Forward Posed::forward_of(const Asked& asked) const { return continues(asked) ? forward_ : asked.forward; }

std::size_t Posed::outputs(const Asked& asked) const {
  const std::size_t own = call.graph.outputs().size();
  switch (forward_of(asked)) {
    case Forward::outputs:
      return own;
    case Forward::total:
      return 1;
    case Forward::both:
      return own + 1;
  }
  return own;
}

std::size_t Posed::total(const Asked& asked) const { return call.plan.total_of(forward_of(asked)); }

std::vector<Tensor> Posed::given_outputs(Dtype of) const {
  std::vector<Tensor> places = call.output_shapes(call.graph, of);
  const Runnable& value = call.plan.value();
  return value.run(std::move(places), operands(value.schedule(), inputs.given), settings());
}

Tensor Posed::given_total(Dtype of) const {
  // A score has the bits of einsum; log Z is summed in double.
  const Asked alone{.kind = Asked::Kind::outputs,
                    .keep_sums = semiring == Semiring::log,
                    .own_outputs = false,
                    .axes = {graph::batch_axes(call.graph)}};
  const auto runnable = call.plan.runnable(alone);
  const std::vector<Tensor> total =
      runnable->run({shape_only(of, call.batch_shape())}, operands(runnable->schedule(), inputs.given), settings());
  check_results(total, "the total, output", semiring, call);
  return total[0];
}

}  // namespace plated::api
