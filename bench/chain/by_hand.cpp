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
using plated::kernels::PosteriorPlace;
using plated::kernels::PosteriorRun;
using plated::kernels::PosteriorShape;
using plated::kernels::Scan;
using plated::kernels::ScanRun;
using plated::kernels::ScanShape;

constexpr std::size_t cache_line = 64;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

ScanShape scan_shape(std::int64_t states) {
  return {.semiring = plated::Semiring::log, .dtype = Dtype::float32, .states = states};
}

std::byte* allocate(std::size_t bytes) {
  return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{cache_line}));
}

}  // namespace

void ByHand::Free::operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{cache_line}); }

ByHand::ByHand(const HiddenMarkov& model)
    : model_(model),
      width_(model.size.sequences * model.size.states),
      message_(at(width_)),
      offset_(at(model.size.sequences)),
      mass_(at(width_)) {
  for (std::int64_t n = 0; n < model.size.sequences; ++n) {
    row_offset_.push_back(n * model.size.length * model.size.states);
  }
}

std::byte* ByHand::scratch(std::size_t bytes) {
  if (bytes > scratch_bytes_) {
    scratch_.reset(allocate(bytes));
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
  for (std::int64_t n = 0; n < sequences; ++n) {
    const float* const last = message_.data() + n * states;
    double* const mass = mass_.data() + n * states;
    double total = 0;
    for (std::int64_t k = 0; k < states; ++k) total += mass[k] = std::exp(static_cast<double>(last[k]));
    for (std::int64_t k = 0; k < states; ++k) mass[k] /= total;
  }
  const PosteriorShape shape{.dtype = Dtype::float32, .states = states, .rows = sequences};
  if (!packed_) packed_.reset(allocate(ChainPosterior::memory_bytes(shape)));
  const ChainPosterior posterior(shape, model_.transition(), states, 1, packed_.get());
  const PosteriorPlace emissions{.to = {.data = gradients[2].mutable_data(),
                                        .dtype = Dtype::float32,
                                        .step_stride = states,
                                        .row_offset = row_offset_.data()}};
  std::vector<double> totals(at(shape.totals()));
  const PosteriorRun back{
      .there = {.steps = length},
      .messages = {.data = forward(0), .step_stride = width_, .row_stride = states},
      .mass = mass_.data(),
      .first_mass = mass_.data(),
      .places = {&emissions, 1},
      .totals = totals.data(),
  };
  if (!posterior.run(0, sequences, back, scratch(ChainPosterior::scratch_bytes(shape)))) {
    throw std::runtime_error("messages that real space does not hold");
  }
  std::vector<double> pairs(at(states * states));
  posterior.add_pairs(totals.data(), pairs.data(), states, 1);
  auto* transition = static_cast<float*>(gradients[1].mutable_data());
  for (std::size_t k = 0; k < pairs.size(); ++k) transition[k] = static_cast<float>(pairs[k]);
  std::vector<double> first(at(states));
  for (std::size_t k = 0; k < mass_.size(); ++k) first[k % at(states)] += mass_[k];
  auto* prior = static_cast<float*>(gradients[0].mutable_data());
  for (std::int64_t a = 0; a < states; ++a) prior[a] = static_cast<float>(first[at(a)]);
  return log_total;
}

}  // namespace bench
