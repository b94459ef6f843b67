// A least-recently-used cache of plans.
#include "api/plan_cache.hpp"

#include <bit>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

namespace plated::api {
namespace {

constexpr std::size_t most_plans = 256;

void append(std::string& key, std::string_view text) {
  key += std::to_string(text.size());
  key += ':';
  key += text;
}

void append(std::string& key, std::int64_t number) {
  key += ' ';
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string key_of(std::string_view equation, const std::vector<Tensor>& operands, const EinsumOptions& options) {
  std::string key;
  append(key, equation);
  append(key, options.plates);
  append(key, options.batch);
  append(key, options.spaced ? (*options.spaced ? 1 : 0) : -1);
  for (const auto& [dim, size] : options.sizes) {
    append(key, dim);
    append(key, size);
  }
  append(key, static_cast<std::int64_t>(options.chains.size()));
  for (const auto& [chain, links] : options.chains) {
    append(key, chain);
    append(key, static_cast<std::int64_t>(links.size()));
    for (const std::string& link : links) append(key, link);
  }
  append(key, static_cast<std::int64_t>(operands.size()));
  for (const Tensor& operand : operands) {
    append(key, static_cast<std::int64_t>(operand.rank()));
    for (const std::int64_t extent : operand.shape()) append(key, extent);
  }
  const PlanOptions& plan = options.plan;
  append(key, static_cast<std::int64_t>(plan.search));
  append(key, plan.trials);
  append(key, static_cast<std::int64_t>(plan.seed));
  append(key, std::bit_cast<std::int64_t>(plan.seconds));
  append(key, std::bit_cast<std::int64_t>(plan.runs));
  append(key, plan.sums_only ? 1 : 0);
  append(key, static_cast<std::int64_t>(plan.observable.size()));
  for (const std::string& variable : plan.observable) append(key, variable);
  for (const std::string& pass : plan.without) append(key, pass);
  return key;
}

class Cache {
 public:
  Plan get(const std::string& key, std::string_view equation, const std::vector<Tensor>& operands,
           const EinsumOptions& options) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = by_key_.find(key); found != by_key_.end()) {
        recent_.splice(recent_.begin(), recent_, found->second);
        return found->second->second;
      }
    }
    // Planned outside the lock: two threads may plan the same equation at once, and one of the plans is kept.
    Plan plan = make(equation, operands, options);
    const std::lock_guard lock(mutex_);
    if (by_key_.contains(key)) return plan;
    recent_.emplace_front(key, plan);
    by_key_.emplace(key, recent_.begin());
    if (recent_.size() > most_plans) {
      by_key_.erase(recent_.back().first);
      recent_.pop_back();
    }
    return plan;
  }

 private:
  static Plan make(std::string_view equation, const std::vector<Tensor>& operands, const EinsumOptions& options) {
    std::vector<std::vector<std::int64_t>> shapes;
    for (const Tensor& operand : operands) shapes.push_back(operand.shape());
    const EquationOptions reading{.plates = options.plates,
                                  .batch = options.batch,
                                  .chains = options.chains,
                                  .sizes = options.sizes,
                                  .spaced = options.spaced};
    return compile(FactorGraph::from_equation(equation, shapes, reading), options.plan);
  }

  using Entry = std::pair<std::string, Plan>;
  std::mutex mutex_;
  std::list<Entry> recent_;
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
};

}  // namespace

RunOptions run_options(const EinsumOptions& options) {
  return {.semiring = options.semiring,
          .threads = options.threads,
          .check = options.check,
          .memory_limit = options.memory_limit,
          .evidence = options.evidence,
          .lengths = options.lengths,
          .cancelled = {},
          .progress = {}};
}

Plan cached_plan(std::string_view equation, const std::vector<Tensor>& operands, const EinsumOptions& options) {
  static Cache cache;
  return cache.get(key_of(equation, operands, options), equation, operands, options);
}

}  // namespace plated::api
