// The runnables of questions about one graph, each planned when it is first asked.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "engine/runnable.hpp"

namespace plated::engine {

/// Bounded, and locked: any thread may ask.
class Questions {
 public:
  /// The runnable for a question; `question` spells everything it depends on.
  [[nodiscard]] std::shared_ptr<const Runnable> operator()(const std::string& question,
                                                           const std::function<planner::Schedule()>& plan) const;

 private:
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const Runnable>> known_;
};

}  // namespace plated::engine
