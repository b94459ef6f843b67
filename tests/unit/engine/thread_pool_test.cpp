// The thread pool: every task once, nested and concurrent calls, any number of threads, a forked child.
#include "engine/thread_pool.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/watch.hpp"
#include "plated/error.hpp"

namespace plated::engine {
namespace {

/// How often each task ran.
std::vector<int> run_counting(std::int64_t tasks, int threads) {
  std::vector<std::atomic<int>> count(static_cast<std::size_t>(tasks));
  auto task = [&](std::int64_t t, int) { ++count[static_cast<std::size_t>(t)]; };
  parallel_for(tasks, threads, TaskRef(task));
  return {count.begin(), count.end()};
}

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const std::int64_t tasks : {0, 1, 2, 7, 1000}) {
    for (const int threads : {1, 2, 3, 8}) {
      EXPECT_EQ(run_counting(tasks, threads), std::vector<int>(static_cast<std::size_t>(tasks), 1));
    }
  }
}

TEST(ThreadPool, RunsManyShortJobsInARow) {
  std::atomic<std::int64_t> sum = 0;
  auto task = [&](std::int64_t t, int) { sum += t; };
  for (int job = 0; job < 3000; ++job) parallel_for(4, 1 + job % 4, TaskRef(task));
  EXPECT_EQ(sum, 3000 * 6);
}

TEST(ThreadPool, NumbersWorkersBelowTheThreadsAskedFor) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    const int threads = 1 + repeat % 5;
    std::atomic<bool> good = true;
    std::vector<std::atomic<int>> inside(static_cast<std::size_t>(threads));
    auto task = [&](std::int64_t, int worker) {
      if (worker < 0 || worker >= threads) {
        good = false;
        return;
      }
      // Two tasks with the same worker number share scratch memory: they must not overlap in time.
      if (++inside[static_cast<std::size_t>(worker)] != 1) good = false;
      std::this_thread::yield();
      --inside[static_cast<std::size_t>(worker)];
    };
    parallel_for(64, threads, TaskRef(task));
    EXPECT_TRUE(good) << threads;
  }
}

TEST(ThreadPool, AsksTheCallerWhileOthersWork) {
  // The caller's own task is over at once; the other's goes on until it is told to stop.
  int asked = 0;
  std::atomic<bool> working = false, told = false;
  const std::thread::id caller = std::this_thread::get_id();
  const std::function<bool()> cancelled = [&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    return working && ++asked == 5;
  };
  const base::Watch watch(cancelled, {});
  auto task = [&](std::int64_t, int) {
    if (std::this_thread::get_id() == caller) return;
    working = true;
    while (!base::stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    told = true;
  };
  const auto run_until_stopped = [&] {
    for (;;) parallel_for(64, 2, TaskRef(task));  // the caller may be so quick that it takes all the tasks
  };
  EXPECT_THROW(run_until_stopped(), CancelledError);
  EXPECT_TRUE(told);
  EXPECT_EQ(asked, 5);
}

TEST(ThreadPool, LeavesOutTasksOnceStopped) {
  for (const int threads : {1, 2}) {
    std::atomic<std::int64_t> ran = 0;
    const std::function<bool()> cancelled = [&] { return ran > 10; };
    const base::Watch watch(cancelled, {});
    auto task = [&](std::int64_t, int) {
      ++ran;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    EXPECT_THROW(parallel_for(std::int64_t{1} << 60, threads, TaskRef(task)), CancelledError);
    EXPECT_LT(ran, 1000);
    EXPECT_THROW(base::check_wanted(), CancelledError) << "and all that follows";
  }
}

TEST(ThreadPool, ReturnsInsideATaskThatIsToStop) {
  bool inside = false, returned = false;
  const std::function<bool()> cancelled = [&] { return inside; };
  const base::Watch watch(cancelled, {});
  auto inner = [](std::int64_t, int) { std::this_thread::sleep_for(std::chrono::milliseconds(3)); };
  auto outer = [&](std::int64_t, int) {
    inside = true;
    parallel_for(8, 2, TaskRef(inner));
    returned = true;
  };
  EXPECT_THROW(parallel_for(1, 1, TaskRef(outer)), CancelledError);
  EXPECT_TRUE(returned);
}

TEST(ThreadPool, UsesSeveralThreads) {
  std::mutex mutex;
  std::set<std::thread::id> ids;
  std::atomic<int> arrived = 0;
  // The two tasks wait for each other, which only two threads can do; a deadline keeps a failure from hanging.
  auto task = [&](std::int64_t, int) {
    ++arrived;
    for (int k = 0; k < 10000 && arrived < 2; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  };
  parallel_for(2, 2, TaskRef(task));
  EXPECT_EQ(ids.size(), 2U);
}

TEST(ThreadPool, RunsNestedCallsOnTheCallersThread) {
  std::atomic<int> inner = 0;
  std::atomic<bool> same_thread = true;
  auto outer = [&](std::int64_t, int) {
    const std::thread::id me = std::this_thread::get_id();
    auto task = [&](std::int64_t, int worker) {
      ++inner;
      if (std::this_thread::get_id() != me || worker != 0) same_thread = false;
    };
    parallel_for(10, 4, TaskRef(task));
  };
  parallel_for(8, 4, TaskRef(outer));
  EXPECT_EQ(inner, 80);
  EXPECT_TRUE(same_thread);
}

TEST(ThreadPool, ServesCallersAtOnce) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        if (run_counting(20, 3) != std::vector<int>(20, 1)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

#ifndef __SANITIZE_THREAD__  // ThreadSanitizer does not support threads that start after a fork
TEST(ThreadPool, IsRebuiltInAForkedChild) {
  EXPECT_EQ(run_counting(10, 2), std::vector<int>(10, 1));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    _exit(run_counting(100, 3) == std::vector<int>(100, 1) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}
#endif

}  // namespace
}  // namespace plated::engine
