// Runs the tasks of lists on threads.
#include "learn/spread_lists.hpp"

#include "engine/thread_pool.hpp"

namespace plated::learn {
namespace {

model::RunTasks on_threads(int threads) {
  return [threads = threads > 0 ? threads : engine::hardware_threads()](std::int64_t count,
                                                                        const std::function<void(std::int64_t)>& task) {
    auto run = [&](std::int64_t k, int) { task(k); };
    engine::parallel_for(count, threads, engine::TaskRef(run));
  };
}

}  // namespace

void SpreadLists::spread(const std::vector<Tensor>& tables, const std::vector<Tensor>& messages,
                         const std::vector<bool>& of, std::int64_t first) {
  for (const model::Listed& list : lists_) {
    const std::size_t f = list.factor();
    if (of[f]) list.spread(tables[f], messages[f], scratch_, on_threads(threads_), first);
  }
}

void SpreadLists::collect(const std::vector<Tensor>& messages, const std::vector<Tensor>& tables,
                          const std::vector<bool>& of, std::int64_t first) {
  for (const model::Listed& list : lists_) {
    const std::size_t f = list.factor();
    if (of[f]) list.collect(messages[f], tables[f], scratch_, on_threads(threads_), first);
  }
}

}  // namespace plated::learn
