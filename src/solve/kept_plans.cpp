// Keeps plans by the graphs that they were made for.
#include <algorithm>
#include <list>
#include <mutex>

#include "plated/solve.hpp"

namespace plated {
namespace {

constexpr std::size_t most_plans = 32;

void append(std::string& key, std::int64_t number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append(std::string& key, std::string_view text) {
  append(key, static_cast<std::int64_t>(text.size()));
  key += text;
}

void append(std::string& key, const std::vector<DimId>& dims) {
  append(key, static_cast<std::int64_t>(dims.size()));
  for (const DimId d : dims) append(key, static_cast<std::int64_t>(d));
}

/// All that a plan depends on, and the names that its answers and errors have.
std::string key_of(const FactorGraph& graph, const PlanOptions& options) {
  std::string key;
  for (const Dim& dim : graph.dims()) {
    append(key, dim.name);
    append(key, static_cast<std::int64_t>(dim.kind));
    append(key, dim.size);
  }
  for (const Chain& chain : graph.chains()) {
    append(key, static_cast<std::int64_t>(chain.dim));
    append(key, static_cast<std::int64_t>(chain.links.size()));
    for (const Link& link : chain.links) append(key, std::vector<DimId>{link.source, link.target});
  }
  for (const std::vector<DimId>& plates : graph.variable_plates()) append(key, plates);
  append(key, static_cast<std::int64_t>(graph.factors().size()));
  for (const Factor& factor : graph.factors()) {
    append(key, factor.name);
    append(key, factor.dims);
    append(key, factor.tied);
    append(key, factor.distribution_of ? static_cast<std::int64_t>(*factor.distribution_of) : -1);
    append(key, factor.trusted ? 1 : 0);
  }
  for (const Output& output : graph.outputs()) append(key, output.dims);
  append(key, options.memory_limit);
  append(key, options.sums_only ? 1 : 0);
  for (const std::string& variable : options.observable) append(key, variable);
  return key;
}

}  // namespace

struct KeptPlans::Impl {
  std::mutex mutex;
  std::list<std::pair<std::string, Plan>> recent;
};

KeptPlans::KeptPlans() : impl_(std::make_shared<Impl>()) {}

Plan KeptPlans::of(const FactorGraph& graph, const PlanOptions& options) {
  std::string key = key_of(graph, options);
  {
    const std::lock_guard lock(impl_->mutex);
    const auto found =
        std::find_if(impl_->recent.begin(), impl_->recent.end(), [&](const auto& entry) { return entry.first == key; });
    if (found != impl_->recent.end()) {
      impl_->recent.splice(impl_->recent.begin(), impl_->recent, found);
      return found->second;
    }
  }
  // Planned outside the lock: two threads may plan the same at once, and both plans are kept.
  Plan plan = compile(graph, options);
  const std::lock_guard lock(impl_->mutex);
  impl_->recent.emplace_front(std::move(key), plan);
  if (impl_->recent.size() > most_plans) impl_->recent.pop_back();
  return plan;
}

std::size_t KeptPlans::size() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->recent.size();
}

}  // namespace plated
