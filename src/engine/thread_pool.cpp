// A small pool: workers sleep on a condition variable and draw task numbers from a shared counter.
#include "engine/thread_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/watch.hpp"

namespace plated::engine {
namespace {

thread_local bool inside_a_task = false;

/// The steps of a run follow each other closely, and waking a thread takes longer than a small step: a thread looks for
/// its next event this many times, giving way to others, before it sleeps. About 50 µs.
constexpr int looks_before_sleep = 100;

template <class Event>
void look_for(const Event& happened) {
  for (int look = 0; look < looks_before_sleep && !happened(); ++look) std::this_thread::yield();
}

/// How long the caller waits for the others before it asks whether to stop.
constexpr auto between_questions = std::chrono::milliseconds(10);

/// False, and the task is left out, where the call is to stop. Who called has just asked before the first one.
bool run_task(std::int64_t t, std::int64_t tasks, int worker, const TaskRef& task) {
  if (base::detail::watched().watch == nullptr) {
    task(t, worker);
    return true;
  }
  const base::Task inside;
  const base::PartOf part(t, tasks);
  if (t > 0 && base::stop_requested()) return false;
  task(t, worker);
  return true;
}

class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  /// False where the pool is in use.
  bool run(std::int64_t tasks, int threads, const TaskRef& task) {
    const std::unique_lock in_use(in_use_, std::try_to_lock);
    if (!in_use.owns_lock()) return false;
    try {
      while (static_cast<int>(workers_.size()) < threads - 1) {
        workers_.emplace_back([this, worker = static_cast<int>(workers_.size()) + 1] { serve(worker); });
      }
    } catch (...) {
      // No thread to be had: those that there are do the work.
    }
    {
      const std::lock_guard lock(mutex_);
      task_ = &task;
      open_ = true;
      tasks_ = tasks;
      threads_ = threads;
      watch_ = base::detail::watched().watch;
      next_.store(0, std::memory_order_relaxed);
      generation_.fetch_add(1, std::memory_order_relaxed);
    }
    wake_.notify_all();
    draw(0);
    look_for([this] { return busy_.load(std::memory_order_relaxed) == 0; });
    std::unique_lock lock(mutex_);
    // Workers that have not woken up yet find no job, because it is closed under the lock.
    open_ = false;
    const auto all_done = [this] { return busy_ == 0; };
    if (watch_ == nullptr) {
      done_.wait(lock, all_done);
      return true;
    }
    // Others may be at it for long, and only the caller's thread asks whether to stop.
    while (!done_.wait_for(lock, between_questions, all_done)) {
      lock.unlock();
      inside_a_task = true;  // for what a callback may run
      (void)base::stop_requested();
      inside_a_task = false;
      lock.lock();
    }
    return true;
  }

 private:
  void draw(int worker) {
    inside_a_task = true;
    for (std::int64_t t = next_.fetch_add(1, std::memory_order_relaxed); t < tasks_;
         t = next_.fetch_add(1, std::memory_order_relaxed)) {
      if (!run_task(t, tasks_, worker, *task_)) break;
    }
    inside_a_task = false;
  }

  void serve(int worker) {
    std::uint64_t seen = 0;
    for (;;) {
      look_for([&] { return generation_.load(std::memory_order_relaxed) != seen; });
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || (generation_ != seen && open_ && worker < threads_); });
      if (stopping_) return;
      seen = generation_;
      ++busy_;
      {
        const base::Helper helper(watch_);
        lock.unlock();
        draw(worker);
        lock.lock();
      }
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex in_use_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<std::thread> workers_;
  const TaskRef* task_ = nullptr;
  base::Watch* watch_ = nullptr;  // of the caller
  bool open_ = false;
  std::int64_t tasks_ = 0;
  int threads_ = 0;
  // Written under the mutex; read without it only to decide whether sleeping is worth while.
  std::atomic<int> busy_{0};
  std::atomic<std::uint64_t> generation_{0};
  bool stopping_ = false;
  std::atomic<std::int64_t> next_{0};
};

std::atomic<Pool*> pool{nullptr};
std::mutex pool_creation;

/// The child of a fork has none of its parent's threads: it forgets the parent's pool and makes its own when needed.
void forget_pool_in_child() { pool.store(nullptr, std::memory_order_relaxed); }

Pool& the_pool() {
  if (Pool* existing = pool.load(std::memory_order_acquire)) return *existing;
  const std::lock_guard lock(pool_creation);
  static const int registered = pthread_atfork([] { pool_creation.lock(); }, [] { pool_creation.unlock(); },
                                               [] {
                                                 forget_pool_in_child();
                                                 pool_creation.unlock();
                                               });
  (void)registered;
  if (pool.load(std::memory_order_relaxed) == nullptr) {
    // Joined at exit, so that no thread outlives the statics it reads.
    static struct AtExit {
      ~AtExit() { delete pool.exchange(nullptr); }
    } at_exit;
    pool.store(new Pool, std::memory_order_release);
  }
  return *pool.load(std::memory_order_relaxed);
}

}  // namespace

int hardware_threads() {
  static const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return threads;
}

void parallel_for(std::int64_t tasks, int threads, TaskRef task) {
  threads = static_cast<int>(std::min<std::int64_t>(threads, tasks));
  const bool shared = threads > 1 && !inside_a_task && the_pool().run(tasks, threads, task);
  for (std::int64_t t = 0; !shared && t < tasks; ++t) {
    if (!run_task(t, tasks, 0, task)) break;
  }
  base::throw_if_stopped();
}

}  // namespace plated::engine
