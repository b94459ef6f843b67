// The memory of scans: what they need of their own, and checkpoints.
#include "base/checked_size.hpp"
#include "engine/bound_scan.hpp"

namespace plated::engine {

std::int64_t BoundScan::message_bytes() const {
  return base::checked_product(base::checked_product(rows, states), static_cast<std::int64_t>(size_of(dtype)));
}

BoundScan::Arrays BoundScan::arrays(MemoryLayout& layout, int threads) const {
  Arrays own{};
  own.message[0] = layout.take(message_bytes());
  if (!fused) own.message[1] = layout.take(message_bytes());
  own.shift = layout.take<double>(rows);
  if (echo) own.echo = layout.take(echo_bytes());
  if ((fused || smoothing) && ragged) own.lengths = layout.take<std::int64_t>(rows);
  if (fused) own.fused = fused->take(layout, threads);
  if (smoothing) own.smoothing = smoothing->take(layout, threads);
  if (!fused) {
    for (double*& totals : own.totals) totals = layout.take<double>(total_elements());
  }
  return own;
}

std::int64_t BoundScan::table_bytes() const {
  std::size_t entries = start.row.size() + start.state.size() + present.size();
  for (const FirstMessage::Same& same : start.same) entries += same.row.size() + same.state.size();
  const auto add = [&](const FusedScan& scan) {
    if (scan.before) entries += scan.before->layout.row_offset.size();
    if (scan.after) entries += scan.after->layout.row_offset.size();
  };
  if (fused) add(*fused);
  if (smoothing) {
    add(smoothing->there);
    for (const SmoothedPlace& place : smoothing->places) entries += place.layout.row_offset.size();
  }
  return static_cast<std::int64_t>(entries * sizeof(std::int64_t));
}

std::int64_t BoundScan::checkpoint_bytes() const {
  const auto shifts = base::checked_product(rows, static_cast<std::int64_t>(sizeof(double)));
  return static_cast<std::int64_t>(base::in_whole_lines(static_cast<std::size_t>(message_bytes())) +
                                   base::in_whole_lines(static_cast<std::size_t>(shifts)));
}

double* BoundScan::checkpoint_shifts(std::int64_t block) const {
  return reinterpret_cast<double*>(checkpoint(block) + base::in_whole_lines(static_cast<std::size_t>(message_bytes())));
}

std::int64_t BoundScan::bytes(int threads) const {
  MemoryLayout count;
  (void)arrays(count, threads);
  return base::checked_sum(base::checked_sum(count.bytes(), table_bytes()), body.bound.bytes(threads));
}

std::int64_t BoundScan::held_bytes() const { return memory_bytes_ + table_bytes() + body.bytes(); }

void BoundScan::take_memory(int threads) {
  engine::take_memory(body, threads);
  MemoryLayout count;
  (void)arrays(count, threads);
  if (count.bytes() <= memory_bytes_) return;
  memory_.reset();
  memory_bytes_ = 0;
  memory_.reset(base::allocate_aligned(static_cast<std::size_t>(count.bytes())));
  memory_bytes_ = count.bytes();
}

std::int64_t BoundScan::echo_bytes() const {
  return base::checked_product(base::checked_product(answers.back().extent), std::int64_t{sizeof(double)});
}

/// Of the answers that are sums over the slices.
std::int64_t BoundScan::total_elements() const {
  std::int64_t sum = 0;
  for (const ScanAnswer& answer : answers) sum += answer.of_slices ? 0 : base::checked_product(answer.extent);
  return sum;
}

}  // namespace plated::engine
