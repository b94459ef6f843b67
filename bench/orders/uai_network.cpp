// The scopes of a model that are left by its evidence.
#include "uai_network.hpp"

#include <cmath>
#include <set>

#include "plated/model_file.hpp"

namespace bench {

plated::planner::Network read_uai_network(const std::filesystem::path& path) {
  plated::Model model = plated::read_model(path, {.format = plated::Format::uai});
  const std::filesystem::path evidence = path.string() + ".evid";
  if (exists(evidence)) read_evidence(model, evidence);
  const std::vector<plated::Dim>& dims = model.graph.dims();
  plated::planner::Network network;
  for (const plated::Dim& dim : dims) network.log2_size.push_back(std::log2(static_cast<double>(dim.size)));
  for (const plated::Factor& factor : model.graph.factors()) {
    std::set<std::uint32_t> scope;
    for (const plated::DimId v : factor.dims) {
      if (dims[v].size > 1 && !model.evidence.contains(dims[v].name)) scope.insert(v);
    }
    if (!scope.empty()) network.tensors.emplace_back(scope.begin(), scope.end());
  }
  return network;
}

}  // namespace bench
