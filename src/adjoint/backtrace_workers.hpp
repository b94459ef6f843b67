// The workers of a chooser, one for each thread, which keep their memory from run to run.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/thread_pool.hpp"

namespace plated::adjoint {

template <class Worker>
class Workers {
 public:
  /// `count` is no more than the threads.
  template <class Make>
  Workers(int threads, std::int64_t count, const Make& make) : threads_(threads) {
    while (static_cast<std::int64_t>(list_.size()) < count) list_.push_back(make());
  }

  /// Calls run(task, worker) for each task.
  template <class Run>
  void share(std::int64_t tasks, const Run& run) const {
    auto task = [&](std::int64_t t, int w) { run(t, *list_[static_cast<std::size_t>(w)]); };
    engine::parallel_for(tasks, threads_, engine::TaskRef(task));
  }

 private:
  int threads_;
  std::vector<std::unique_ptr<Worker>> list_;
};

}  // namespace plated::adjoint
