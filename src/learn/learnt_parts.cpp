// Chooses the factors to learn.
#include "learn/learnt_parts.hpp"

#include <algorithm>

#include "base/disjoint_sets.hpp"
#include "graph/spell.hpp"
#include "model/learning.hpp"
#include "model/likelihoods.hpp"
#include "plated/error.hpp"

namespace plated::learn {
namespace {

std::vector<bool> chosen(const Model& model, const std::vector<std::string>& learn) {
  const std::vector<Factor>& factors = model.graph.factors();
  std::vector<bool> wanted(factors.size(), false);
  for (const std::string& name : learn) wanted[model::factor_named(model, name, "to learn")] = true;
  if (!learn.empty()) return wanted;
  for (const auto& [name, learning] : model.learning) {
    if (learning.learn) wanted[model::factor_named(model, name, "to learn")] = true;
  }
  if (std::find(wanted.begin(), wanted.end(), true) != wanted.end()) return wanted;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    wanted[f] = !model.children[f].empty() || model::likelihood_of(model, f) != nullptr;
  }
  if (std::find(wanted.begin(), wanted.end(), true) != wanted.end()) return wanted;
  throw OptionError(
      "there is nothing to learn: no factor is a distribution. Say which variable a factor is one of "
      "('distribution_of')");
}

}  // namespace

std::vector<std::vector<std::size_t>> learnt_groups(const Model& model, const std::vector<std::string>& learn) {
  model::check_learning(model);
  const std::size_t count = model.factors.size();
  const std::vector<bool> wanted = chosen(model, learn);
  base::DisjointSets same(count);
  std::vector<bool> follows(count, false);  // its numbers are another's
  for (const auto& [name, learning] : model.learning) {
    if (learning.same_as.empty()) continue;
    const std::size_t factor = model::factor_named(model, name, "to learn");
    same.join(factor, model::factor_named(model, learning.same_as, "to learn"));
    follows[factor] = true;
  }
  std::vector<std::vector<std::size_t>> by_root(count);
  for (std::size_t f = 0; f < count; ++f) by_root[same.root(f)].push_back(f);
  std::vector<std::vector<std::size_t>> groups;
  for (std::vector<std::size_t>& group : by_root) {
    if (std::none_of(group.begin(), group.end(), [&](std::size_t f) { return wanted[f]; })) continue;
    for (const std::size_t f : group) {
      if (model::likelihood_of(model, f) == nullptr) (void)model::child_axis(model, f);
    }
    std::stable_partition(group.begin(), group.end(), [&](std::size_t f) { return !follows[f]; });
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace plated::learn
