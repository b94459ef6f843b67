// Keeps idle recursions.
#include "chain/step_pool.hpp"

namespace plated::chain {
namespace {

constexpr std::size_t most_idle = 8;  // of a kind: a burst of runs should not pin its memory

}  // namespace

std::unique_ptr<StepRun> StepPool::take(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = idle_.find(key);
  if (found == idle_.end() || found->second.empty()) return nullptr;
  std::unique_ptr<StepRun> run = std::move(found->second.back());
  found->second.pop_back();
  return run;
}

void StepPool::give_back(const Key& key, std::unique_ptr<StepRun> run) {
  const std::lock_guard lock(mutex_);
  auto& idle = idle_[key];
  if (idle.size() < most_idle) idle.push_back(std::move(run));
}

}  // namespace plated::chain
