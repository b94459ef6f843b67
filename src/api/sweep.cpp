// Runs questions, the first time and again.
#include "api/sweep.hpp"

#include <algorithm>
#include <iterator>

#include "api/inputs.hpp"
#include "base/checked_size.hpp"
#include "engine/check_operands.hpp"

namespace plated::api {

Sweep::Sweep(const Posed& posed, adjoint::Asked asked, Dtype of_outputs, std::vector<Tensor> answers,
             std::vector<Tensor> more)
    : posed_(posed) {
  const Call& call = posed.call;
  continues_ = posed.continues(asked);
  asked.forward = posed.forward_of(asked);
  first_answer_ = posed.outputs(asked);
  total_ = posed.total(asked);
  beside_ = call.plan.bytes_beside(asked, call.extents());
  runnable_ = call.plan.runnable(asked);
  own_ = posed.inputs.centred().size();
  operands_.reserve(own_ + more.size());  // there may be very many
  operands_.assign(posed.inputs.centred().begin(), posed.inputs.centred().end());
  operands_.insert(operands_.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  if (continues_) {
    places_ = posed.kept()->outputs();  // they are not written again
  } else if (asked.forward == adjoint::Forward::total) {
    places_.push_back(shape_only(of_outputs, call.batch_shape()));
  } else {
    places_ = call.output_shapes(call.graph, of_outputs);
  }
  places_.reserve(places_.size() + answers.size());
  places_.insert(places_.end(), std::make_move_iterator(answers.begin()), std::make_move_iterator(answers.end()));
  std::vector<Tensor>().swap(answers);
  if (!posed.once) blank_ = places_;
}

void Sweep::place(std::size_t result, const Tensor& given, const char* what, const std::string& name) {
  if (given.data() == nullptr) {
    if (!posed_.once) places_[result] = blank_[result];
    return;
  }
  engine::check_place(what, name, given, places_[result].shape());
  places_[result] = given;
  given_.push_back(given);
}

std::span<const Tensor> Sweep::operands() {
  read_.put(posed_, runnable_->schedule(), operands_);
  return operands_;
}

std::span<const Tensor> Sweep::run(std::vector<bool>* finite) {
  (void)operands();
  if (!given_.empty()) engine::check_apart(given_, operands_);
  given_.clear();
  engine::Settings how = posed_.settings();
  how.kept = continues_ ? posed_.kept() : nullptr;
  how.finite = finite;
  how.output_bytes = base::checked_sum(how.output_bytes, beside_);
  if (!lease_) lease_.emplace(*runnable_);
  try {
    places_ = runnable_->run(std::move(places_), operands_, how, *lease_);
  } catch (...) {
    places_ = blank_;
    throw;
  }
  if (posed_.once) std::vector<Tensor>().swap(operands_);  // there may be very many
  return places_;
}

}  // namespace plated::api
