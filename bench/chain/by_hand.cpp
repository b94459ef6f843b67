// Runs the kernels along the chain, and back.
#include "by_hand.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <stdexcept>

#include "kernels/chain_posterior.hpp"
#include "kernels/scan.hpp"

namespace bench {
namespace {

using plated::Dtype;
using plated::kernels::ChainPosterior;
using plated::kernels::PosteriorRun;
using plated::kernels::Scan;
using plated::kernels::ScanRun;
using plated::kernels::ScanShape;

constexpr std::size_t cache_line = 64;
// Entries of a block's messages: they fit into the second cache.
constexpr std::int64_t block_entries = 32768;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

ScanShape scan_shape(std::int64_t states) {
  return {.semiring = plated::Semiring::log, .dtype = Dtype::float32, .states = states};
}

}  // namespace

void ByHand::Free::operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{cache_line}); }

ByHand::ByHand(const HiddenMarkov& model)
    : model_(model),
      width_(model.size.sequences * model.size.states),
      // At least as many rows as states, so that adding up a block's counts costs less than counting.
      block_(std::clamp<std::int64_t>(std::max(block_entries / width_, model.size.states / model.size.sequences), 1,
                                      model.size.length)),
      message_(at(width_)),
      offset_(at(model.size.sequences)),
      weight_(at(model.size.sequences), 1.0),
      backward_(at((block_ + 1) * width_)),
      pairs_(at(model.size.states * model.size.states)) {
  for (std::int64_t n = 0; n < model.size.sequences; ++n) {
    row_offset_.push_back(n * model.size.length * model.size.states);
  }
}

std::byte* ByHand::scratch(std::size_t bytes) {
  if (bytes > scratch_bytes_) {
    scratch_.reset(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{cache_line})));
    scratch_bytes_ = bytes;
  }
  return scratch_.get();
}

double ByHand::sweep_forward(bool keeps) {
  const auto [states, length, sequences] = model_.size;
  for (std::int64_t n = 0; n < sequences; ++n) std::copy_n(model_.prior(), states, message_.data() + n * states);
  std::fill(offset_.begin(), offset_.end(), 0.0);
  const Scan scan(scan_shape(states), model_.transition(), states, 1);
  ScanRun steps;
  steps.after = {.data = model_.emissions(), .step_stride = states, .row_offset = row_offset_.data()};
  steps.messages = message_.data();
  steps.offset = offset_.data();
  steps.steps = length;
  if (keeps) {
    forward_.resize(at((length + 1) * width_));
    const float largest = *std::max_element(model_.prior(), model_.prior() + states);
    for (std::int64_t k = 0; k < width_; ++k) forward(0)[k] = std::exp(message_[at(k)] - largest);
    steps.trace = {.messages = {.data = forward(1), .step_stride = width_, .row_stride = states}, .linear = true};
  }
  scan.run(0, sequences, steps, scratch(scan.scratch_bytes()));
  double log_total = 0;
  for (std::int64_t n = 0; n < sequences; ++n) {
    double sum = 0;
    for (std::int64_t k = 0; k < states; ++k) sum += std::exp(static_cast<double>(message_[at(n * states + k)]));
    log_total += offset_[at(n)] + std::log(sum);
  }
  return log_total;
}

double ByHand::value() { return sweep_forward(false); }

double ByHand::gradient(const std::vector<plated::Tensor>& gradients) {
  const auto [states, length, sequences] = model_.size;
  const double log_total = sweep_forward(true);
  const Scan scan(scan_shape(states), model_.transition(), 1, states);
  const ChainPosterior posterior(Dtype::float32, states, model_.transition(), states, 1);
  std::byte* memory = scratch(std::max(scan.scratch_bytes(), posterior.scratch_bytes()));
  std::fill(message_.begin(), message_.end(), 0.0f);
  std::fill(pairs_.begin(), pairs_.end(), 0.0);
  // At the state after a block; between blocks, what the block before has left at its first state.
  std::fill_n(backward_.begin() + block_ * width_, width_, 1.0f);
  for (std::int64_t last = length; last > 0;) {
    const std::int64_t slices = std::min(block_, last);
    const std::int64_t first = last - slices;
    float* back = backward_.data() + (block_ - slices) * width_;  // at the block's first state
    if (last < length) std::copy_n(backward_.data(), width_, backward_.data() + block_ * width_);
    ScanRun steps;
    steps.before = {
        .data = model_.emissions() + (last - 1) * states, .step_stride = -states, .row_offset = row_offset_.data()};
    steps.messages = message_.data();
    steps.offset = offset_.data();
    steps.steps = slices;
    steps.trace = {.messages = {.data = back + (slices - 1) * width_, .step_stride = -width_, .row_stride = states},
                   .linear = true};
    scan.run(0, sequences, steps, memory);

    PosteriorRun meet;
    meet.forward = {.data = forward(first), .step_stride = width_, .row_stride = states};
    meet.backward = {.data = back, .step_stride = width_, .row_stride = states};
    meet.weight = weight_.data();
    meet.steps = slices;
    meet.after = {.data = static_cast<float*>(gradients[2].mutable_data()) + first * states,
                  .dtype = Dtype::float32,
                  .step_stride = states,
                  .row_offset = row_offset_.data()};
    meet.target_term = {
        .data = model_.emissions() + first * states, .step_stride = states, .row_offset = row_offset_.data()};
    meet.totals = pairs_.data();
    if (!posterior.run(0, sequences, meet, memory)) throw std::runtime_error("messages that real space does not hold");
    last = first;
  }
  posterior.finish(pairs_.data(), pairs_.data());
  auto* transition = static_cast<float*>(gradients[1].mutable_data());
  for (std::size_t k = 0; k < pairs_.size(); ++k) transition[k] = static_cast<float>(pairs_[k]);
  finish_prior(gradients[0]);
  return log_total;
}

void ByHand::finish_prior(const plated::Tensor& gradient) const {
  const auto [states, length, sequences] = model_.size;
  std::vector<double> counts(at(states));
  std::vector<double> first(at(states));
  for (std::int64_t n = 0; n < sequences; ++n) {
    double total = 0;
    for (std::int64_t a = 0; a < states; ++a) {
      const float log_weight = model_.prior()[a] + message_[at(n * states + a)];
      first[at(a)] = std::exp(static_cast<double>(log_weight));
      total += first[at(a)];
    }
    for (std::int64_t a = 0; a < states; ++a) counts[at(a)] += first[at(a)] / total;
  }
  auto* prior = static_cast<float*>(gradient.mutable_data());
  for (std::int64_t a = 0; a < states; ++a) prior[a] = static_cast<float>(counts[at(a)]);
}

}  // namespace bench
