// Reads the head of a UAI file: cardinalities and scopes.
#include "uai_network.hpp"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace plated::bench {

planner::Network read_uai_network(const std::filesystem::path& path) {
  std::ifstream model(path);
  std::string kind;
  std::size_t variables = 0;
  model >> kind >> variables;
  std::vector<double> size(variables);
  for (double& s : size) model >> s;
  std::set<std::uint32_t> gone;
  for (std::uint32_t v = 0; v < variables; ++v) {
    if (size[v] == 1) gone.insert(v);
  }
  std::ifstream evidence(path.string() + ".evid");
  std::size_t observed = 0;
  evidence >> observed;
  for (std::uint32_t v = 0, value = 0; observed-- > 0 && evidence >> v >> value;) gone.insert(v);

  planner::Network network;
  for (const double s : size) network.log2_size.push_back(std::log2(s));
  std::size_t factors = 0;
  model >> factors;
  for (std::size_t f = 0; f < factors; ++f) {
    std::size_t arity = 0;
    model >> arity;
    std::set<std::uint32_t> scope;
    for (std::uint32_t v = 0; arity-- > 0 && model >> v;) {
      if (!gone.contains(v)) scope.insert(v);
    }
    if (!scope.empty()) network.tensors.emplace_back(scope.begin(), scope.end());
  }
  if (!model) throw std::runtime_error("cannot read " + path.string());
  return network;
}

}  // namespace plated::bench
