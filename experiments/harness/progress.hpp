// Tells on standard error where a run has come to: on one line of a terminal, else a line every half minute.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "harness/result.hpp"

namespace experiments {

class Progress {
 public:
  /// What is done: "jsb nnHMM 36".
  explicit Progress(std::string run) : run_(std::move(run)) {}

  /// say("epoch", 7, "accuracy", 0.8)
  void say(const char* unit, std::int64_t count, const char* quantity, double value) {
    if (!terminal_ && since_.seconds() < 30) return;
    since_ = Clock();
    std::fprintf(stderr, "%s%s: %s %d, %s %.6g%s", terminal_ ? "\r" : "   ", run_.c_str(), unit,
                 static_cast<int>(count), quantity, value, terminal_ ? "" : "\n");
  }
  void done() const {
    if (terminal_) std::fprintf(stderr, "\n");
  }

 private:
  std::string run_;
  bool terminal_ = isatty(STDERR_FILENO) == 1;
  Clock since_;
};

}  // namespace experiments
