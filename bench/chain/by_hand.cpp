// Binds the kernels of a block of slices and runs them along the chain.
#include "chain/by_hand.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

namespace bench {
namespace {

using plated::Dtype;
using plated::Semiring;
using plated::kernels::Contraction;
using plated::kernels::ContractionShape;
using plated::kernels::Role;
using plated::kernels::Scan;
using plated::kernels::ScanRun;
using plated::kernels::ScanShape;
using plated::kernels::WeightedSum;
using plated::kernels::WeightedSumShape;

using Extents = std::vector<std::int64_t>;
using Strides = std::vector<Extents>;

constexpr std::size_t cache_line = 64;
// Entries of a block's buffers: a few of them fit into the second cache.
constexpr std::int64_t block_entries = 32768;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

WeightedSum elementwise(const Extents& extent, const Strides& added, const Strides& subtracted, const Strides& factors,
                        const Extents& output) {
  WeightedSumShape shape;
  shape.extent = extent;
  shape.summed.assign(extent.size(), false);
  for (const auto& stride : added) shape.added.push_back({stride, Dtype::float32});
  for (const auto& stride : subtracted) shape.subtracted.push_back({stride, Dtype::float32});
  for (const auto& stride : factors) shape.factors.push_back({stride, Dtype::float32});
  shape.output_stride = output;
  shape.output_dtype = Dtype::float32;
  shape.compute_dtype = Dtype::float32;
  return WeightedSum(shape);
}

Contraction sums(Extents extent, std::vector<Role> role, Strides inputs, Extents output) {
  ContractionShape shape;
  shape.semiring = Semiring::real;
  shape.extent = std::move(extent);
  shape.role = std::move(role);
  shape.input_dtype.assign(inputs.size(), Dtype::float32);
  shape.input_stride = std::move(inputs);
  shape.output_stride = std::move(output);
  shape.output_dtype = Dtype::float32;
  shape.compute_dtype = Dtype::float32;
  return Contraction(shape);
}

std::int64_t block_slices(const ChainSize& size) {
  const std::int64_t rows = std::clamp<std::int64_t>(block_entries / size.states, 128, 4096);
  return std::clamp<std::int64_t>(rows / size.sequences, 1, size.length);
}

std::byte* allocate(std::size_t bytes) {
  return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{cache_line}));
}

ScanShape scan_shape(std::int64_t states) {
  return {.semiring = Semiring::log, .dtype = Dtype::float32, .states = states};
}

}  // namespace

void ByHand::Free::operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{cache_line}); }

ByHand::Block::Block(const HiddenMarkov& model, std::int64_t count)
    : slices(count),
      joint(elementwise({count * model.size.sequences * model.size.states}, {{1}, {1}}, {}, {}, {1})),
      totals(sums({count * model.size.sequences, model.size.states}, {Role::kept, Role::sum}, {{model.size.states, 1}},
                  {1, 0})),
      normalised(elementwise({count, model.size.sequences, model.size.states}, {}, {},
                             {{model.size.sequences * model.size.states, model.size.states, 1},
                              {model.size.sequences, 1, 0}},
                             {model.size.states, model.size.length * model.size.states, 1})),
      left(elementwise({count * model.size.sequences * model.size.states}, {{1}}, {}, {}, {1})),
      right(elementwise({count, model.size.sequences, model.size.states},
                        {{model.size.states, model.size.length * model.size.states, 1},
                         {model.size.sequences * model.size.states, model.size.states, 1}},
                        {{model.size.sequences, 1, 0}}, {{model.size.sequences, 1, 0}},
                        {model.size.sequences * model.size.states, model.size.states, 1})),
      pair_counts(sums({count * model.size.sequences, model.size.states, model.size.states},
                       {Role::sum, Role::kept, Role::kept}, {{model.size.states, 1, 0}, {model.size.states, 0, 1}},
                       {0, model.size.states, 1})) {}

ByHand::ByHand(const HiddenMarkov& model)
    : model_(model),
      width_(model.size.sequences * model.size.states),
      block_(model, block_slices(model.size)),
      message_(at(width_)),
      offset_(at(model.size.sequences)),
      pairs_(at(model.size.states * model.size.states)),
      pair_counts_(pairs_.size()) {
  const auto [states, length, sequences] = model.size;
  if (const std::int64_t left_over = length % block_.slices; left_over != 0) rest_.emplace(model, left_over);
  for (std::int64_t n = 0; n < sequences; ++n) row_offset_.push_back(n * length * states);
  backward_.resize(at((block_.slices + 1) * width_));
  for (auto* buffer : {&joint_, &left_, &right_}) buffer->resize(at(block_.slices * width_));
  for (auto* buffer : {&totals_, &scales_}) buffer->resize(at(block_.slices * sequences));
  std::size_t task = 1;
  std::size_t shared = 1;
  const auto fit = [&](const auto& kernel) {
    task = std::max(task, kernel.task_scratch_bytes());
    shared = std::max(shared, kernel.shared_scratch_bytes());
  };
  for (const Block* block : {&block_, rest_ ? &*rest_ : &block_}) {
    for (const auto* kernel : {&block->joint, &block->normalised, &block->left, &block->right}) fit(*kernel);
    for (const auto* kernel : {&block->totals, &block->pair_counts}) fit(*kernel);
  }
  task_scratch_.reset(allocate(task));
  shared_scratch_.reset(allocate(shared));
  scan_scratch_.reset(
      allocate(std::max<std::size_t>(1, Scan(scan_shape(states), model.transition(), states, 1).scratch_bytes())));
}

template <class Kernel>
void ByHand::run(const Kernel& kernel, std::initializer_list<const void*> inputs, void* output) {
  for (std::int64_t task = 0; task < kernel.tasks(); ++task) {
    kernel.run_task(task, {inputs.begin(), inputs.size()}, output, task_scratch_.get(), shared_scratch_.get());
  }
  kernel.finish(output, shared_scratch_.get());
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
    forward_offset_.resize(at((length + 1) * sequences));
    std::copy(message_.begin(), message_.end(), forward_.begin());
    steps.trace = {.messages = forward(1),
                   .step_stride = width_,
                   .offsets = forward_offset_.data() + sequences,
                   .offset_step_stride = sequences};
  }
  scan.run(0, sequences, steps, scan_scratch_.get());
  double log_total = 0;
  for (std::int64_t n = 0; n < sequences; ++n) {
    double sum = 0;
    for (std::int64_t k = 0; k < states; ++k) sum += std::exp(static_cast<double>(message_[at(n * states + k)]));
    log_total += offset_[at(n)] + std::log(sum);
  }
  return log_total;
}

double ByHand::value() { return sweep_forward(false); }

void ByHand::answer(const Block& block, std::int64_t first, const plated::Tensor& gradient) {
  const auto [states, length, sequences] = model_.size;
  const float* after = backward_.data() + width_;
  run(block.joint, {forward(first + 1), after}, joint_.data());
  run(block.totals, {joint_.data()}, totals_.data());
  const double* offset = forward_offset_.data() + first * sequences;
  for (std::int64_t row = 0; row < block.slices * sequences; ++row) {
    totals_[at(row)] = 1 / totals_[at(row)];
    scales_[at(row)] = static_cast<float>(offset[row + sequences] - offset[row]);
  }
  run(block.normalised, {joint_.data(), totals_.data()},
      static_cast<float*>(gradient.mutable_data()) + first * states);
  run(block.left, {forward(first)}, left_.data());
  run(block.right, {model_.emissions() + first * states, after, scales_.data(), totals_.data()}, right_.data());
  run(block.pair_counts, {left_.data(), right_.data()}, pairs_.data());
  for (std::size_t k = 0; k < pairs_.size(); ++k) pair_counts_[k] += static_cast<double>(pairs_[k]);
}

double ByHand::gradient(const std::vector<plated::Tensor>& gradients) {
  const auto [states, length, sequences] = model_.size;
  const double log_total = sweep_forward(true);
  const Scan scan(scan_shape(states), model_.transition(), 1, states);
  std::fill(message_.begin(), message_.end(), 0.0f);
  std::fill(pair_counts_.begin(), pair_counts_.end(), 0.0);
  for (std::int64_t last = length; last > 0;) {
    const Block& block = rest_ && last == length ? *rest_ : block_;
    const std::int64_t first = last - block.slices;
    std::copy(message_.begin(), message_.end(), backward_.begin() + block.slices * width_);
    ScanRun steps;
    steps.before = {.data = model_.emissions() + (last - 1) * states,
                    .step_stride = -states,
                    .row_offset = row_offset_.data()};
    steps.messages = message_.data();
    steps.offset = offset_.data();
    steps.steps = block.slices;
    steps.trace = {.messages = backward_.data() + (block.slices - 1) * width_, .step_stride = -width_};
    scan.run(0, sequences, steps, scan_scratch_.get());
    answer(block, first, gradients[2]);
    last = first;
  }
  finish(gradients);
  return log_total;
}

void ByHand::finish(const std::vector<plated::Tensor>& gradients) const {
  const auto [states, length, sequences] = model_.size;
  auto* prior = static_cast<float*>(gradients[0].mutable_data());
  auto* transition = static_cast<float*>(gradients[1].mutable_data());
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    transition[k] = static_cast<float>(std::exp(static_cast<double>(model_.transition()[k])) * pair_counts_[k]);
  }
  std::vector<double> counts(at(states));
  std::vector<double> first(at(states));
  for (std::int64_t n = 0; n < sequences; ++n) {
    double total = 0;
    for (std::int64_t a = 0; a < states; ++a) {
      first[at(a)] = std::exp(static_cast<double>(model_.prior()[a]) + static_cast<double>(message_[at(n * states + a)]));
      total += first[at(a)];
    }
    for (std::int64_t a = 0; a < states; ++a) counts[at(a)] += first[at(a)] / total;
  }
  for (std::int64_t a = 0; a < states; ++a) prior[a] = static_cast<float>(counts[at(a)]);
}

}  // namespace bench
