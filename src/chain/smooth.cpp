// Smooths a piece in real space: both directions' messages, and what lies between them, without a logarithm.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/watch.hpp"
#include "chain/sweep.hpp"

namespace plated::chain {

bool Sweep::is_fused() {
  return semiring_ == Semiring::log && recursion(false).fused() && recursion(true).fused() &&
         std::all_of(piece_.factors.begin(), piece_.factors.end(),
                     [&](std::size_t f) { return operands_[f].dtype() == dtype_; });
}

void Sweep::keep_linear() {
  keeps_all_linear_ = size_.keeps_all;
  size_.keeps_all = false;  // one message for each block, to fall back on
  // Blocks whose messages of both directions stay in the second-level cache.
  constexpr std::int64_t cached = 1 << 20;
  const std::int64_t message = std::max<std::int64_t>(1, rows_ * states_ * static_cast<std::int64_t>(size_of(dtype_)));
  size_.block = std::clamp<std::int64_t>(cached / (2 * message), 64, std::max<std::int64_t>(64, slices_));
}

void Sweep::write_linear(std::byte* slot) const {
  const std::int64_t count = rows_ * states_;
  if (dtype_ == Dtype::float32) {
    const auto* from = static_cast<const float*>(message_.data());
    std::transform(from, from + count, reinterpret_cast<float*>(slot), [](float x) { return std::exp(x); });
  } else {
    const auto* from = static_cast<const double*>(message_.data());
    std::transform(from, from + count, reinterpret_cast<double*>(slot), [](double x) { return std::exp(x); });
  }
}

void Sweep::smooth(const Tensor& context, const std::vector<double>& weight,
                   const std::vector<engine::Smoothing::Place>& places, double* pairs,
                   const std::function<void(const Block&)>& exactly) {
  const bool forward = piece_.forward;
  const auto bytes = static_cast<std::size_t>(rows_ * states_) * size_of(dtype_);
  start_back(context);
  const auto slots = static_cast<std::size_t>(std::min(size_.block, slices_) + 1);
  std::vector<std::byte> own(keeps_all_linear_ ? 0 : slots * bytes);
  std::vector<std::byte> returning(slots * bytes);
  for (std::int64_t k = 0; k < blocks(); ++k) {
    const base::PartOf part(k, blocks());
    const std::int64_t number = forward ? blocks() - 1 - k : k;
    const std::int64_t first = number * size_.block;
    const std::int64_t count = std::min(size_.block, slices_ - first);
    const Slices slices = slices_of(first, count);
    std::byte* mine = own.data();
    if (keeps_all_linear_) {
      mine = kept_linear_.data() + static_cast<std::size_t>(first) * bytes;
    } else {
      run_again(number, count, slices, mine, nullptr, true);
    }
    const Tensor start = Tensor::uninitialised(dtype_, message_.shape());
    if (bytes > 0) std::memcpy(start.mutable_data(), message_.data(), bytes);
    const std::vector<double> start_offset = offset_;
    write_linear(returning.data() + static_cast<std::size_t>(forward ? count : 0) * bytes);
    run(!forward, first, count, slices, returning.data(), nullptr, true);

    engine::Smoothing smoothing;
    smoothing.first_slice = first;
    smoothing.steps = count;
    smoothing.operands = body_operands(slices, 0, 1);
    smoothing.forward = forward ? mine : returning.data();
    smoothing.backward = forward ? returning.data() : mine;
    smoothing.weight = weight.data();
    if (!lengths_.empty()) smoothing.lengths = lengths_.data();
    smoothing.chain = piece_.chain;
    for (const engine::Smoothing::Place& place : places) {
      smoothing.places.push_back(
          {narrowed(place.tensor, place.axes, piece_.chain, first, count), place.axes, place.target});
    }
    smoothing.pairs = pairs;
    if (recursion(true).smooth(smoothing, call_.settings)) continue;

    // Once more in logarithms.
    std::vector<std::byte> own_logs(static_cast<std::size_t>(count + 1) * bytes);
    std::vector<std::byte> returning_logs(own_logs.size());
    std::vector<double> own_offset(static_cast<std::size_t>((count + 1) * rows_));
    std::vector<double> returning_offset(own_offset.size());
    run_again(number, count, slices, own_logs.data(), own_offset.data(), false);
    const std::int64_t slot = forward ? count : 0;
    if (bytes > 0) std::memcpy(message_.mutable_data(), start.data(), bytes);
    offset_ = start_offset;
    if (bytes > 0) std::memcpy(returning_logs.data() + static_cast<std::size_t>(slot) * bytes, start.data(), bytes);
    std::copy(offset_.begin(), offset_.end(), returning_offset.begin() + slot * rows_);
    run(!forward, first, count, slices, returning_logs.data(), returning_offset.data());
    Block block;
    block.first = first;
    block.count = count;
    block.operands = slices.operands;
    block.forward = trace_tensor(forward ? own_logs.data() : returning_logs.data(), count);
    block.backward = trace_tensor(forward ? returning_logs.data() : own_logs.data(), count);
    block.forward_offset = forward ? own_offset.data() : returning_offset.data();
    block.backward_offset = forward ? returning_offset.data() : own_offset.data();
    block.exists = exists(first, count);
    exactly(block);
  }
}

}  // namespace plated::chain
