// Threads take one restart after the other; the caller's is one of them, and alone calls callbacks.
#include "learn/restarts.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "engine/thread_pool.hpp"
#include "plated/error.hpp"

namespace plated::learn {
namespace {

class Restarts {
 public:
  Restarts(const LearntParts& parts, const MakeRunner& make, const FitOptions& options)
      : parts_(parts),
        make_(make),
        options_(options),
        outcomes_(static_cast<std::size_t>(options.restarts)),
        threads_(options.threads > 0 ? options.threads : engine::hardware_threads()) {}

  std::vector<Outcome> run() {
    // Fewer restarts than threads go one by one, each on all threads.
    const int workers = options_.restarts >= threads_ ? threads_ : 1;
    std::vector<std::thread> helpers;
    running_ = workers - 1;
    for (int k = 1; k < workers; ++k) {
      helpers.emplace_back([this] {
        take_restarts(false, 1);
        const std::lock_guard lock(mutex_);
        --running_;
        changed_.notify_all();
      });
    }
    take_restarts(true, workers > 1 ? 1 : threads_);
    wait_for_helpers();
    for (std::thread& helper : helpers) helper.join();
    tell_reports();
    if (thrown_) std::rethrow_exception(thrown_);
    return std::move(outcomes_);
  }

 private:
  void take_restarts(bool is_caller, int threads) noexcept {
    try {
      const std::unique_ptr<Runner> runner = make_(threads, [this, is_caller] { return stops(is_caller); });
      for (int k = next_++; k < options_.restarts && !stops(is_caller); k = next_++) {
        outcomes_[static_cast<std::size_t>(k)] = runner->run(start(k), [&](std::int64_t iteration, double objective) {
          report({.restart = k, .iteration = iteration, .objective = objective});
          if (is_caller) tell_reports();
        });
      }
    } catch (const CancelledError&) {
      stopped_ = true;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      stopped_ = true;
    }
  }

  [[nodiscard]] std::vector<double> start(int restart) const {
    std::size_t size = 0;
    for (const auto& part : parts_) size += part->size();
    std::vector<double> numbers(size);
    base::Random stream(options_.seed + 0x632BE59BD9B4E019u * static_cast<std::uint64_t>(restart));
    std::size_t offset = 0;
    for (const auto& part : parts_) {
      const std::span<double> own = std::span(numbers).subspan(offset, part->size());
      if (restart == 0) {
        part->start(own, stream);
      } else {
        part->draw(own, stream);
      }
      offset += part->size();
    }
    return numbers;
  }

  bool stops(bool is_caller) {
    if (is_caller && !stopped_ && options_.cancelled && options_.cancelled()) stopped_ = true;
    return stopped_;
  }

  void report(const FitProgress& progress) {
    if (!options_.progress) return;
    const std::lock_guard lock(mutex_);
    reports_.push_back(progress);
  }

  /// On the caller's thread.
  void tell_reports() {
    std::vector<FitProgress> reports;
    {
      const std::lock_guard lock(mutex_);
      reports.swap(reports_);
    }
    for (const FitProgress& progress : reports) options_.progress(progress);
  }

  void wait_for_helpers() {
    std::unique_lock lock(mutex_);
    while (running_ > 0) {
      changed_.wait_for(lock, std::chrono::milliseconds(20));
      lock.unlock();
      try {
        (void)stops(true);
        tell_reports();
      } catch (...) {
        const std::lock_guard held(mutex_);
        if (!thrown_) thrown_ = std::current_exception();
        stopped_ = true;
      }
      lock.lock();
    }
  }

  const LearntParts& parts_;
  const MakeRunner& make_;
  const FitOptions& options_;
  std::vector<Outcome> outcomes_;
  int threads_;
  std::atomic<int> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0;
  std::vector<FitProgress> reports_;
  std::exception_ptr thrown_;
};

}  // namespace

std::vector<Outcome> run_restarts(const LearntParts& parts, const MakeRunner& make, const FitOptions& options) {
  return Restarts(parts, make, options).run();
}

}  // namespace plated::learn
