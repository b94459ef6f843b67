// Shows progress on standard error during long work.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace plated::cli {

/// While it lives: on a terminal a bar, once a second has passed; elsewhere a line every ten seconds; nothing if quiet.
class Progress {
 public:
  Progress(const std::string& what, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// What is being done now; the share starts again.
  void now(const std::string& what);
  /// The share of it that is done, in 0 … 1. From any thread.
  void share(double done);
  /// The same as a callback, for as long as this lives.
  [[nodiscard]] std::function<void(double)> callback();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plated::cli
