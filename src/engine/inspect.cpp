// Splits the first axis of a tensor's memory among threads.
#include "engine/inspect.hpp"

#include <algorithm>
#include <atomic>

#include "engine/thread_pool.hpp"

namespace plated::engine {

Inspection inspect(const Tensor& tensor, Semiring semiring, int threads) {
  // Less than this is read before another thread has woken up.
  constexpr std::int64_t elements_of_a_task = 1 << 16;
  // Kept between calls: a run that finds nothing wrong must not allocate.
  thread_local kernels::MemoryOrder order;
  order.assign(tensor);
  if (order.extents.empty()) return {};
  const std::int64_t extent = order.extents[0];
  const std::int64_t tasks = std::min(extent, order.elements() / elements_of_a_task);
  if (tasks < 2) return kernels::inspect(order, semiring, 0, extent);
  std::atomic<bool> admitted = true;
  std::atomic<double> magnitude = 0;  // a maximum: the order in which tasks end does not matter
  const kernels::MemoryOrder& shared = order;
  auto look = [&](std::int64_t task, int /*worker*/) {
    if (!admitted.load(std::memory_order_relaxed)) return;
    const Inspection part = kernels::inspect(shared, semiring, extent * task / tasks, extent * (task + 1) / tasks);
    if (!part.admitted) admitted = false;
    double known = magnitude.load();
    while (known < part.magnitude && !magnitude.compare_exchange_weak(known, part.magnitude)) {
    }
  };
  parallel_for(tasks, threads, TaskRef(look));
  return {.admitted = admitted, .magnitude = magnitude};
}

}  // namespace plated::engine
