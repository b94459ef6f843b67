// Plans each question once.
#include "engine/questions.hpp"

namespace plated::engine {
namespace {

constexpr std::size_t most_questions = 64;

}  // namespace

std::shared_ptr<const Runnable> Questions::operator()(const std::string& question,
                                                      const std::function<planner::Schedule()>& plan) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(question); found != known_.end()) return found->second;
  }
  // Planned outside the lock: two threads may plan the same question at once, and the first plan is kept.
  auto runnable = std::make_shared<const Runnable>(plan());
  const std::lock_guard lock(mutex_);
  if (known_.size() >= most_questions) known_.clear();  // those being answered live on with their askers
  return known_.try_emplace(question, std::move(runnable)).first->second;
}

}  // namespace plated::engine
