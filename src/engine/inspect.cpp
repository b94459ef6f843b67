// Splits the first axis of a tensor's memory among threads.
#include "engine/inspect.hpp"

#include <algorithm>
#include <atomic>

#include "engine/largest.hpp"
#include "engine/thread_pool.hpp"

namespace plated::engine {
namespace {

/// look(order, begin, end) looks at a part; it returns false where no more parts need to be looked at.
template <class Look>
void look_at(const Tensor& tensor, int threads, const Look& look) {
  // Less than this is read before another thread has woken up.
  constexpr std::int64_t elements_of_a_task = 1 << 16;
  // Kept between calls: a run that finds nothing wrong must not allocate.
  thread_local kernels::MemoryOrder order;
  order.assign(tensor);
  if (order.extents.empty()) return;
  const std::int64_t extent = order.extents[0];
  const std::int64_t tasks = std::min(extent, order.elements() / elements_of_a_task);
  if (tasks < 2) {
    (void)look(order, 0, extent);
    return;
  }
  std::atomic<bool> more = true;
  const kernels::MemoryOrder& shared = order;
  auto part = [&](std::int64_t task, int /*worker*/) {
    if (!more.load(std::memory_order_relaxed)) return;
    if (!look(shared, extent * task / tasks, extent * (task + 1) / tasks)) more = false;
  };
  parallel_for(tasks, threads, TaskRef(part));
}

}  // namespace

bool admits(const Tensor& tensor, Semiring semiring, int threads) {
  if (const auto admitted = kernels::admits_short(tensor, semiring)) return *admitted;
  std::atomic<bool> all = true;
  look_at(tensor, threads, [&](const kernels::MemoryOrder& order, std::int64_t begin, std::int64_t end) {
    if (kernels::admits(order, semiring, begin, end)) return true;
    all = false;
    return false;
  });
  return all;
}

Inspection inspect(const Tensor& tensor, Semiring semiring, int threads) {
  if (const auto seen = kernels::inspect_short(tensor, semiring)) return *seen;
  std::atomic<bool> admitted = true;
  Largest magnitude;
  look_at(tensor, threads, [&](const kernels::MemoryOrder& order, std::int64_t begin, std::int64_t end) {
    const Inspection part = kernels::inspect(order, semiring, begin, end);
    magnitude.see(part.magnitude);
    if (!part.admitted) admitted = false;
    return part.admitted;
  });
  return {.admitted = admitted, .magnitude = magnitude.value()};
}

}  // namespace plated::engine
