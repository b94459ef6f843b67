// Runs plans for outputs and normalises these.
#include "api/joint_posteriors.hpp"

#include <limits>

#include "api/link_ends.hpp"
#include "engine/log_posterior.hpp"

namespace plated::api {

using adjoint::Asked;

JointPosteriors::JointPosteriors(const Posed& posed, const Asked& asked, bool ends)
    : posed_(posed), operands_(posed.inputs.centred()) {
  const Call& call = posed.call;
  const FactorGraph& graph = call.graph;
  std::vector<std::vector<DimId>> axes = asked.axes;
  if (ends) {
    std::vector<std::vector<std::string>> names;
    for (const std::vector<DimId>& of : axes) names.push_back(graph::names(graph, of));
    ends_ = add_ends(call.plan, names, axes);
    if (!ends_.empty()) with_ends_ = call.plan.asking(names);
  }
  runnable_ =
      with_ends_ ? with_ends_->runnable({.kind = Asked::Kind::outputs, .keep_sums = true}) : call.plan.runnable(asked);
  const FactorGraph& asked_graph = runnable_->schedule().graph;
  extents_ = call.extents();
  for (std::size_t d = extents_.size(); d < asked_graph.dims().size(); ++d) {
    extents_.push_back(asked_graph.dims()[d].size);
  }
  for (const Output& output : asked_graph.outputs()) {
    blank_.push_back(shape_only(Dtype::float64, planner::sizes(extents_, output.dims)));
  }
  for (const std::vector<DimId>& of : axes) {
    std::int64_t& states = states_.emplace_back(1);
    for (const DimId d : of) states *= graph.dims()[d].kind == DimKind::variable ? graph.dims()[d].size : 1;
    absent_.emplace_back(call.extents(), call.exponents(), of);
  }
}

const Tensor& JointPosteriors::run() {
  if (places_.empty()) places_ = blank_;
  engine::Settings settings = posed_.settings();
  settings.extents = &extents_;
  read_.put(posed_, runnable_->schedule(), operands_);
  if (!lease_) lease_.emplace(*runnable_);
  std::vector<Tensor> places;
  std::swap(places, places_);  // which are lost where the run throws
  places_ = runnable_->run(std::move(places), operands_, settings, *lease_);
  constexpr double impossible = -std::numeric_limits<double>::infinity();
  for (std::size_t o = 1; o < absent_.size(); ++o) absent_[o].erase(places_[o], impossible);
  return places_[0];
}

const Tensor& JointPosteriors::posterior(std::size_t output, bool log) {
  engine::make_posterior(places_[output], states_[output], log);
  return places_[output];
}

}  // namespace plated::api
