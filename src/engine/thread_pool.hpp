// The process's one thread pool.
#pragma once

#include <cstdint>

namespace plated::engine {

/// A callable by reference: no allocation, and it must outlive the call it is passed to.
class TaskRef {
 public:
  template <class F>
  explicit TaskRef(F& callable)
      : context_(&callable),
        call_([](void* context, std::int64_t task, int worker) { (*static_cast<F*>(context))(task, worker); }) {}
  void operator()(std::int64_t task, int worker) const { call_(context_, task, worker); }

 private:
  void* context_;
  void (*call_)(void*, std::int64_t, int);
};

/// Threads this machine has.
[[nodiscard]] int hardware_threads();

/// Runs tasks 0 … tasks−1, each once, on at most `threads` threads, the caller's among them; worker numbers are below
/// `threads`. Which thread takes which task is not fixed, so tasks must not depend on it. Calls from inside a task, and
/// calls while another thread uses the pool, run serially. The pool starts its threads when it first needs them, and
/// anew in a forked child.
///
/// Tasks throw nothing. A task that may take longer than some 50 ms must ask base::stop_requested() meanwhile, through
/// a base::Pace. Where the call is cancelled, tasks are left out or cut short, and this throws what
/// base::check_wanted() does; inside a task it returns, and what was to be computed is undefined.
void parallel_for(std::int64_t tasks, int threads, TaskRef task);

}  // namespace plated::engine
