// A least-recently-used cache of plans, which do not depend on the sizes of plates.
#include "api/plan_cache.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

#include "api/plan_impl.hpp"

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

bool is_observable(const PlanOptions& plan, const std::string& variable) {
  return std::find(plan.observable.begin(), plan.observable.end(), variable) != plan.observable.end();
}

/// What an equation is planned with: all that it gives evidence for is observable.
PlanOptions plan_options(const EinsumOptions& options) {
  PlanOptions plan = options.plan;
  for (const auto& [variable, states] : options.evidence) {
    if (!is_observable(plan, variable)) plan.observable.push_back(variable);
  }
  if (!plan.cancelled) plan.cancelled = options.cancelled;
  return plan;
}

/// Everything that a plan depends on but the domains of its variables: of given sizes the names alone.
std::string key_of(std::string_view equation, Tensors operands, const EinsumOptions& options) {
  std::string key;
  key.reserve(256 + equation.size());  // of most keys
  append(key, equation);
  append(key, options.plates);
  append(key, options.batch);
  append(key, options.spaced ? (*options.spaced ? 1 : 0) : -1);
  for (const auto& [dim, size] : options.sizes) append(key, dim);
  append(key, static_cast<std::int64_t>(options.chains.size()));
  for (const auto& [chain, links] : options.chains) {
    append(key, chain);
    append(key, static_cast<std::int64_t>(links.size()));
    for (const std::string& link : links) append(key, link);
  }
  append(key, static_cast<std::int64_t>(operands.size()));
  for (const Tensor& operand : operands) append(key, static_cast<std::int64_t>(operand.rank()));
  const PlanOptions& plan = options.plan;
  append(key, static_cast<std::int64_t>(plan.search));
  append(key, plan.trials);
  append(key, static_cast<std::int64_t>(plan.seed));
  append(key, std::bit_cast<std::int64_t>(plan.seconds));
  append(key, std::bit_cast<std::int64_t>(plan.runs));
  append(key, plan.memory_limit);
  append(key, plan.sums_only ? 1 : 0);
  append(key, static_cast<std::int64_t>(plan.observable.size()));
  for (const std::string& variable : plan.observable) append(key, variable);
  for (const auto& [variable, states] : options.evidence) {
    if (!is_observable(plan, variable)) append(key, variable);
  }
  for (const std::string& pass : plan.without) append(key, pass);
  return key;
}

/// Whether the variables of a plan of the same equation have the domains that operands and options give them.
bool has_domains(const Plan& plan, Tensors operands, const EinsumOptions& options) {
  const FactorGraph& graph = plan.graph();
  for (std::size_t f = 0; f < operands.size(); ++f) {
    const std::vector<DimId>& dims = graph.factors()[f].dims;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const Dim& dim = graph.dims()[dims[axis]];
      if (dim.kind == DimKind::variable && dim.size != operands[f].shape()[axis]) return false;
    }
  }
  return std::all_of(options.sizes.begin(), options.sizes.end(), [&](const auto& given) {
    const auto dim = graph.find(given.first);
    return !dim || graph.dims()[*dim].kind != DimKind::variable || graph.dims()[*dim].size == given.second;
  });
}

FactorGraph graph_of(std::string_view equation, Tensors operands, const EinsumOptions& options) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const Tensor& operand : operands) shapes.push_back(operand.shape());
  return FactorGraph::from_equation(equation, shapes, options.reading());
}

class Cache {
 public:
  Plan get(const std::string& key, std::string_view equation, Tensors operands, const EinsumOptions& options) {
    {
      const std::lock_guard lock(mutex_);
      for (auto found = by_key_.find(key); found != by_key_.end() && found->first == key; ++found) {
        if (!has_domains(found->second->second, operands, options)) continue;
        recent_.splice(recent_.begin(), recent_, found->second);
        return found->second->second;
      }
    }
    // Planned outside the lock: two threads may plan the same equation at once, and both plans are kept.
    Plan plan = make_plan(graph_of(equation, operands, options), plan_options(options));
    const std::lock_guard lock(mutex_);
    recent_.emplace_front(key, plan);
    by_key_.emplace(key, recent_.begin());
    if (recent_.size() > most_plans) forget_last();
    return plan;
  }

 private:
  using Entry = std::pair<std::string, Plan>;

  void forget_last() {
    const auto last = std::prev(recent_.end());
    const auto [first, end] = by_key_.equal_range(last->first);
    by_key_.erase(std::find_if(first, end, [&](const auto& entry) { return entry.second == last; }));
    recent_.pop_back();
  }

  std::mutex mutex_;
  std::list<Entry> recent_;
  std::unordered_multimap<std::string, std::list<Entry>::iterator> by_key_;
};

}  // namespace

Plan cached_plan(std::string_view equation, Tensors operands, const EinsumOptions& options) {
  static Cache cache;
  return cache.get(key_of(equation, operands, options), equation, operands, options);
}

EquationCall call_of(std::string_view equation, Tensors operands, const EinsumOptions& options) {
  if (options.evidence.empty() && options.lengths.empty()) {
    return {.plan = cached_plan(equation, operands, options), .options = options.running()};
  }
  EinsumOptions sized = options;
  sized.sizes = implied_sizes(equation, operands, options);
  return {.plan = cached_plan(equation, operands, sized), .options = sized.running()};
}

}  // namespace plated::api
