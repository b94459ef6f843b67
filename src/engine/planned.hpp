// The runnables of questions, each planned when it is first asked.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "engine/runnable.hpp"

namespace plated::engine {

/// Bounded, and locked: any thread may ask. A key says everything that its schedule depends on.
template <class Key, class Hash = std::hash<Key>>
class Planned {
 public:
  [[nodiscard]] std::shared_ptr<const Runnable> operator()(const Key& key,
                                                           const std::function<planner::Schedule()>& plan) const {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = known_.find(key); found != known_.end()) return found->second;
    }
    // Planned outside the lock: two threads may plan the same question at once, and the first plan is kept.
    auto runnable = std::make_shared<const Runnable>(plan());
    const std::lock_guard lock(mutex_);
    if (known_.size() >= most_known) known_.clear();  // those being answered live on with their askers
    return known_.try_emplace(key, std::move(runnable)).first->second;
  }

 private:
  static constexpr std::size_t most_known = 64;

  mutable std::mutex mutex_;
  mutable std::unordered_map<Key, std::shared_ptr<const Runnable>, Hash> known_;
};

}  // namespace plated::engine
