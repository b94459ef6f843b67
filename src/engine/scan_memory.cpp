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
  if (ragged) own.lengths = layout.take<std::int64_t>(rows);
  if (fused) own.fused = fused->take(layout, threads);
  if (smoothing) own.smoothing = smoothing->take(layout, threads);
  std::int64_t sums = 0;
  for (const ScanAnswer& answer : answers) sums += answer.of_slices ? 0 : answer.elements;
  own.shares = layout.take<double>(sums);
  return own;
}

/// Of offsets of all rows and states, at most.
std::int64_t BoundScan::table_bytes() const {
  const std::size_t of_rows = 2 + (fused ? 2 : 0) + (smoothing ? 2 + smoothing->places.size() : 0);
  const std::int64_t entries = base::checked_product(rows, static_cast<std::int64_t>(of_rows));
  return base::checked_product(base::checked_sum(entries, states), std::int64_t{sizeof(std::int64_t)});
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

std::int64_t BoundScan::held_bytes() const { return memory_.bytes() + table_bytes() + body.bytes(); }

void BoundScan::take_memory(int threads) {
  engine::take_memory(body, threads);
  MemoryLayout count;
  (void)arrays(count, threads);
  memory_.grow(count.bytes());
}

std::int64_t BoundScan::echo_bytes() const {
  return base::checked_product(answers.back().elements, std::int64_t{sizeof(double)});
}

}  // namespace plated::engine
