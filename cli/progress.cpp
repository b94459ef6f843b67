// Shows progress from a thread of its own, so that the work itself never waits for a terminal.
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

namespace plated::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::string bar(double share) {
  constexpr int cells = 30;
  const int full = static_cast<int>(share * cells);
  return fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %", "", full, "", cells - full, 100 * share);
}

}  // namespace

struct Progress::Impl {
  explicit Impl(std::string name) : what(std::move(name)) {}

  void watch() {
    const bool terminal = isatty(STDERR_FILENO) != 0;
    const auto pause = terminal ? std::chrono::milliseconds(100) : std::chrono::milliseconds(10'000);
    std::unique_lock lock(mutex);
    bool shown = false;
    while (!changed.wait_for(lock, pause, [this] { return over; })) {
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      if (seconds < 1) continue;
      if (terminal) {
        std::fprintf(stderr, "\r\x1b[K%s  %s  %.0f s", what.c_str(), share > 0 ? bar(share).c_str() : "…", seconds);
      } else if (share > 0) {
        std::fprintf(stderr, "plated: %s, %.0f %%, %.0f s\n", what.c_str(), 100 * share, seconds);
      } else {
        std::fprintf(stderr, "plated: %s, %.0f s\n", what.c_str(), seconds);
      }
      std::fflush(stderr);
      shown = true;
    }
    if (shown && terminal) std::fputs("\r\x1b[K", stderr);
  }

  std::string what;
  const Clock::time_point begin = Clock::now();
  double share = 0;
  bool over = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;
};

Progress::Progress(const std::string& what, bool quiet) : impl_(std::make_unique<Impl>(what)) {
  if (!quiet) impl_->thread = std::thread([impl = impl_.get()] { impl->watch(); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->over = true;
  }
  impl_->changed.notify_all();
  if (impl_->thread.joinable()) impl_->thread.join();
}

void Progress::now(const std::string& what) {
  const std::lock_guard lock(impl_->mutex);
  impl_->what = what;
  impl_->share = 0;
}

void Progress::share(double done) {
  const std::lock_guard lock(impl_->mutex);
  impl_->share = std::clamp(done, 0.0, 1.0);
}

std::function<void(double)> Progress::callback() {
  return [this](double done) { share(done); };
}

}  // namespace plated::cli
