// A thread that waits for signals. It receives them as return values, not in handlers, so it may take the lock
// that writers hold: between two files, or before the first, nothing on disk needs to be undone.
#include "interrupt.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

#include "errors.hpp"

namespace plated::cli {
namespace {

// Never destroyed: the thread outlives main.
std::mutex& writing() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

// Interrupts that are to be noticed only, and whether there was one.
std::atomic<bool> held = false;
std::atomic<bool> noticed = false;

bool is_ignored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void watch_for_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  // Who started the program with a signal ignored, as nohup does, wants it ignored.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(signal)) sigaddset(&signals, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // every later thread inherits this
  (void)writing();
  std::thread([signals] {
    int signal = 0;
    while (sigwait(&signals, &signal) != 0 || (held && !noticed.exchange(true))) {
    }
    const std::lock_guard lock(writing());
    // To the left, over a progress bar if there is one.
    std::fputs(isatty(STDERR_FILENO) != 0 ? "\r\x1b[Kplated: interrupted\n" : "plated: interrupted\n", stderr);
    _exit(interrupted);
  }).detach();
}

HeldInterrupt::HeldInterrupt() {
  noticed = false;
  held = true;
}

HeldInterrupt::~HeldInterrupt() { held = false; }

bool HeldInterrupt::requested() const { return noticed; }

void write_whole(const std::function<void()>& write) {
  const std::lock_guard lock(writing());
  write();
}

}  // namespace plated::cli
