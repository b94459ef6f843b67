// Asks the graph of a program: its likelihood, posterior, best assignment and samples.
#include <ATen/ATen.h>

#include <algorithm>
#include <sstream>

#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/torch/einsum.hpp"
#include "program.hpp"

namespace plated::torch {

namespace {

/// The chain's variable that stands for the states before a slice, whose first is the state that began the chain.
std::string inside(const Dim& state) { return state.spelled.substr(1); }

/// The states of a variable; of one that began a chain those of the first slice.
at::Tensor states_of(const Dim& variable, const std::map<std::string, Integers>& found) {
  if (!variable.chain) return tensor(found.at(variable.name));
  return tensor(found.at(inside(variable))).select(-1, 0);
}

}  // namespace

Plan Program::Impl::plan() const {
  std::vector<std::string> observable;
  for (const auto& [name, states] : evidence) observable.push_back(name);
  return trace.plan(observable);
}

RunOptions Program::Impl::run_options(const RunOptions& given) const {
  RunOptions options = given;
  const bool batches = trace.scales_batches();
  for (const auto& dim : trace.dims()) {
    if (dim->kind == DimKind::variable) continue;
    options.sizes[dim->name] = dim->size;
    if (dim->scale != 1 && !batches) options.weights[dim->name] = plated::Tensor::scalar(dim->scale);
  }
  for (const auto& [name, states] : evidence) options.evidence[name] = integers(states);
  for (const auto& [name, counts] : lengths) options.lengths[name] = integers(counts);
  return options;
}

std::vector<Tensor> Program::Impl::operands() const {
  std::vector<Tensor> result;
  result.reserve(tables.size());
  for (const at::Tensor& table : tables) result.push_back(view(table));
  return result;
}

Dims Program::Impl::asked() const {
  Dims result;
  for (const Site& site : trace.sites()) {
    if (site.variable && !site.observed) result.push_back(site.variable);
  }
  return result;
}

at::Tensor Program::log_likelihood(const RunOptions& options) const {
  at::Tensor total = log_partition(impl_->plan(), impl_->tables, impl_->run_options(options));
  if (!impl_->trace.scales_batches()) return total;
  double scale = 1;
  for (const auto& dim : impl_->trace.dims()) scale *= dim->scale;
  return total.sum() * scale;
}

std::map<std::string, at::Tensor> Program::marginals(const RunOptions& options) const {
  const Dims asked = impl_->asked();
  const bool ends = std::ranges::any_of(asked, [](const DimPointer& variable) { return variable->chain != nullptr; });
  const Marginals found =
      plated::marginals(impl_->plan(), impl_->operands(), impl_->run_options(options), {.ends = ends});
  std::map<std::string, at::Tensor> result;
  for (const DimPointer& variable : asked) result[variable->name] = tensor(found.variables.at(variable->spelled));
  return result;
}

MapAssignment Program::map(const RunOptions& options) const {
  const MapResult found = plated::map(impl_->plan(), impl_->operands(), impl_->run_options(options));
  MapAssignment result{.score = tensor(found.score)};
  for (const DimPointer& variable : impl_->asked())
    result.states[variable->name] = states_of(*variable, found.assignment);
  return result;
}

std::map<std::string, at::Tensor> Program::posterior_samples(const SampleOptions& draws,
                                                             const RunOptions& options) const {
  const auto found = plated::sample(impl_->plan(), impl_->operands(), draws, impl_->run_options(options));
  std::map<std::string, at::Tensor> result;
  for (const DimPointer& variable : impl_->asked()) result[variable->name] = states_of(*variable, found);
  return result;
}

FactorGraph Program::graph() const { return impl_->trace.graph(); }

std::pair<FactorGraph, std::vector<std::string>> Program::picture() const { return impl_->trace.picture(); }

std::string Program::explain() const {
  std::ostringstream text;
  for (const Site& site : impl_->trace.sites()) {
    text << (site.observed ? "observe " : "sample ") << site.name << " ~ " << site.distribution;
    Dims given = site.axes;
    std::erase_if(given, [&](const DimPointer& dim) { return dim == site.variable || dim->kind != DimKind::variable; });
    if (!given.empty()) text << " given " << quoted(given);
    if (!site.plates.empty()) text << " in " << quoted(site.plates);
    text << '\n';
  }
  text << impl_->plan().print();
  return text.str();
}

}  // namespace plated::torch
