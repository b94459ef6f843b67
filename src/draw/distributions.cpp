// Checks the distributions named in the options, and leaves out those that arrows would misrepresent.
#include "draw/distributions.hpp"

#include <algorithm>
#include <set>

namespace plated::draw {
namespace {

/// The variable of a factor that goes by a name: the variable itself, or an end of it.
std::optional<DimId> held_variable(const FactorGraph& graph, std::size_t factor, const std::string& name) {
  const auto held = graph.factor_variables(factor);
  const auto named = graph.find(name);
  if (!named) return std::nullopt;
  for (const DimId variable : held) {
    if (variable == *named) return variable;
  }
  for (const DimId variable : held) {
    if (graph.dims()[variable].end != End::none && graph.dims()[variable].of == *named) return variable;
  }
  return std::nullopt;
}

std::vector<std::optional<DimId>> stated(const FactorGraph& graph, const std::vector<std::string>& children) {
  const std::size_t count = graph.factors().size();
  std::vector<std::optional<DimId>> targets(count);
  if (!children.empty() && children.size() != count) {
    throw OptionError("children names variables for " + std::to_string(children.size()) +
                      " factors, but the graph has " + std::to_string(count));
  }
  for (std::size_t f = 0; f < count; ++f) {
    if (children.empty()) {
      targets[f] = graph.factors()[f].distribution_of;
    } else if (!children[f].empty()) {
      targets[f] = held_variable(graph, f, children[f]);
      if (!targets[f]) {
        throw UnknownNameError("the factor '" + graph.factors()[f].name + "' is called a distribution of '" +
                               children[f] + "', which it does not hold");
      }
    }
  }
  return targets;
}

}  // namespace

std::vector<std::optional<DimId>> arrow_targets(const FactorGraph& graph, const Certificate* certificate,
                                                const DrawOptions& options) {
  if (!options.directed) return std::vector<std::optional<DimId>>(graph.factors().size());
  auto targets = stated(graph, options.children);
  const auto& plates = graph.variable_plates();
  std::set<DimId> taken;
  for (std::size_t f = 0; f < targets.size(); ++f) {
    if (!targets[f]) continue;
    const std::string& name = graph.factors()[f].name;
    const bool certified = certificate != nullptr && std::find(certificate->factors.begin(), certificate->factors.end(),
                                                               name) != certificate->factors.end();
    // A factor of more slices than its variable has is no distribution of it, and arrows cannot show two distributions.
    if (certified || graph.factor_plates(f) != plates[*targets[f]] || !taken.insert(*targets[f]).second)
      targets[f].reset();
  }
  return targets;
}

}  // namespace plated::draw
