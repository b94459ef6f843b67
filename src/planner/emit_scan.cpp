// Plans the body of a scan.
#include "planner/emit_scan.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "planner/contract_network.hpp"
#include "planner/passes.hpp"

namespace plated::planner {
namespace {

using base::contains;
using base::joined;
using base::sorted;
using base::subtract;
using base::unite;

class ScanEmitter {
 public:
  ScanEmitter(Schedule& schedule, ScheduleBuilder& builder, const ScanRequest& request, const EmitOptions& options)
      : schedule_(schedule), builder_(builder), component_(request.component), request_(request), options_(options) {}

  ScanValues run() {
    const ScanRecord& record = *component_.scan;
    scan_ = {.chain = record.chain, .forward = record.forward != request_.returns, .leaf = component_.leaf};
    nodes_ = merged(request_.nodes);
    scan_.ragged = schedule_.weights.contains(record.chain);
    // In a sweep operands are read by ordinary steps only.
    const ValueId first = product(request_.start, component_.parent, builder_.keeps_sums());
    std::vector<ValueId> present;
    if (scan_.ragged) present.push_back(builder_.weights(record.chain));
    // Of the states where messages come out, those that nothing holds under another name keep the slice's.
    std::vector<DimId> ends;
    for (const ProblemLink& link : record.links) {
      scan_.before.push_back(scan_.forward ? link.source : link.target);
      scan_.after.push_back(scan_.forward ? link.target : link.source);
      scan_.start.push_back((scan_.forward ? link.first : link.last).value_or(scan_.before.back()));
      const std::optional<DimId>& end = scan_.forward ? link.last : link.first;
      ends.push_back(end && contains(component_.remaining, *end) ? *end : scan_.after.back());
    }
    find_kept({&nodes_, &present, &request_.start});
    plan_body();
    ScanValues values;
    if (request_.keeps) {
      values.messages =
          builder_.intermediate(joined({scan_.chain}, joined(scan_.kept, scan_.before)), Precision::message);
      values.shifts = builder_.intermediate(joined({scan_.chain}, scan_.kept), Precision::wide);
      scan_.messages = values.messages;
      scan_.shifts = values.shifts;
    }
    values.last = builder_.scan(scan_, joined(joined({first}, nodes_), present), joined(scan_.kept, ends));
    if (builder_.keeps_sums()) write_slices(values.messages);
    return values;
  }

 private:
  /// What the messages after each slice are, for all slices at once: a reverse sweep walks these steps.
  void write_slices(ValueId messages) {
    const std::size_t step = schedule_.steps.size() - 1;
    const ScheduleBuilder::Unshared unshared(builder_);  // what else reads messages has masses of its own
    outside_[0] = messages;
    for (const Step& one : slice_steps_) compute_outside(one);
    std::get<base::Boxed<Scan>>(schedule_.steps[step].operation)->results = outside_[slice_steps_.back().output];
  }

  /// Computes what a step of the body does for all slices at once.
  void compute_outside(const Step& step) {
    const Value& result = body_->values[step.output];
    ScheduleBuilder::Contract request{.inputs = {}, .keep = variables_of(result.dims), .leaf = component_.leaf};
    request.wide = result.kind == Value::Kind::output || result.precision == Precision::wide;
    for (const ValueId v : step.inputs) request.inputs.push_back(outside_[v]);
    outside_[step.output] = builder_.contract(std::move(request));
  }

  [[nodiscard]] SortedSet variables_of(const std::vector<DimId>& dims) const {
    SortedSet variables = sorted(dims);
    std::erase_if(variables, [&](DimId d) { return schedule_.problem.kind[d] != DimKind::variable; });
    return variables;
  }

  ValueId product(const std::vector<ValueId>& values, const SortedSet& leaf, bool wide = false) {
    SortedSet all;
    for (const ValueId v : values) all = unite(all, builder_.carried_variables(v));
    return builder_.contract({.inputs = values, .keep = all, .leaf = leaf, .wide = wide});
  }

  /// Nodes over the same single variable become one.
  std::vector<ValueId> merged(const std::vector<ValueId>& nodes) {
    std::map<SortedSet, std::vector<ValueId>> alike;
    std::vector<ValueId> list;
    for (const ValueId v : nodes) {
      const SortedSet variables = builder_.carried_variables(v);
      if (variables.size() == 1) {
        alike[variables].push_back(v);
      } else {
        list.push_back(v);
      }
    }
    for (const auto& [variables, values] : alike) list.push_back(product(values, component_.leaf));
    return list;
  }

  /// What every message has besides the states of links: batch dims, plates, and variables outside.
  void find_kept(std::initializer_list<const std::vector<ValueId>*> inputs) {
    SortedSet all = unite(component_.scan->carried, request_.carried);
    const SortedSet carried = all;
    for (const std::vector<ValueId>* values : inputs) {
      for (const ValueId v : *values) all = unite(all, builder_.carried(v));
    }
    all = subtract(all, unite(component_.variables, {scan_.chain}));
    all = subtract(all, subtract(sorted(scan_.start), carried));
    for (const bool variables : {false, true}) {
      for (const DimId d : all) {
        if ((schedule_.problem.kind[d] == DimKind::variable) == variables) scan_.kept.push_back(d);
      }
    }
  }

  void plan_body() {
    body_ = empty_body(schedule_);
    body_->outputs = {joined(scan_.kept, scan_.after)};
    ScheduleBuilder body(*body_, options_.without, false);
    body.enter({.leaf = component_.leaf});
    std::vector<ValueId> tensors{body.operand(0, joined(scan_.kept, scan_.before), Precision::message)};
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      std::vector<DimId> dims = schedule_.values[nodes_[k]].dims;
      std::erase(dims, scan_.chain);
      tensors.push_back(body.operand(k + 1, std::move(dims), schedule_.values[nodes_[k]].precision));
    }
    const SortedSet keep = variables_of(joined(scan_.kept, scan_.after));
    const SinkNetwork network{.tensors = tensors, .sinks = {keep}, .leaf = component_.leaf};
    const std::vector<ValueId> last = contract_network(body, schedule_.problem, network, options_.order)[0];
    body.deliver(0, {.inputs = last, .keep = keep});
    hoist();
    slice_steps_ = body_->steps;
    if (!options_.without.contains("fuse_elementwise")) fuse_elementwise(*body_);
    scan_.body = body_;
  }

  /// Moves steps that read no message out of the body, and names what the others read: these are its operands.
  void hoist() {
    std::vector<bool> reads_message(body_->values.size(), false), is_named(reads_message);
    reads_message[0] = true;
    outside_.assign(body_->values.size(), none);
    std::copy(nodes_.begin(), nodes_.end(), outside_.begin() + 1);
    nodes_.clear();
    body_->operands = {body_->values[0].dims};
    std::vector<Step> steps;
    for (Step& step : body_->steps) {
      const bool reads =
          std::any_of(step.inputs.begin(), step.inputs.end(), [&](ValueId v) { return reads_message[v]; });
      if (!reads && body_->values[step.output].kind != Value::Kind::output) {
        compute_outside(step);
        continue;
      }
      reads_message[step.output] = true;
      for (const ValueId v : step.inputs) {
        if (reads_message[v] || is_named[v]) continue;
        is_named[v] = true;
        Value& value = body_->values[v];
        value = schedule_.values[outside_[v]];
        std::erase(value.dims, scan_.chain);
        value.kind = Value::Kind::operand;
        value.index = body_->operands.size();
        body_->operands.push_back(value.dims);
        nodes_.push_back(outside_[v]);
      }
      steps.push_back(std::move(step));
    }
    body_->steps = std::move(steps);
  }

  Schedule& schedule_;
  ScheduleBuilder& builder_;
  const ComponentRecord& component_;
  const ScanRequest& request_;
  const EmitOptions& options_;
  Scan scan_;
  std::vector<ValueId> nodes_;  // the values that the body's operands are slices of, but for the message
  std::shared_ptr<Schedule> body_;
  std::vector<ValueId> outside_;   // [value of the body]: the schedule's that it is a slice of
  std::vector<Step> slice_steps_;  // of the body, before any of them were fused
};

}  // namespace

ScanValues emit_scan(Schedule& schedule, ScheduleBuilder& builder, const ScanRequest& request,
                     const EmitOptions& options) {
  return ScanEmitter(schedule, builder, request, options).run();
}

}  // namespace plated::planner
