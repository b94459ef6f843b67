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

std::map<std::string, at::Tensor> tensors(const std::map<std::string, Integers>& answers) {
  std::map<std::string, at::Tensor> result;
  for (const auto& [name, answer] : answers) result.emplace(name, tensor(answer));
  return result;
}

}  // namespace

std::int64_t Program::Impl::chain_axis(const Dim& end) const {
  const Dims plates = trace.in_order(end.of->plates);
  return (std::ranges::find(plates, end.chain) - plates.begin()) - static_cast<std::int64_t>(plates.size());
}

at::Tensor Program::Impl::states_of(const DimPointer& variable, const std::map<std::string, at::Tensor>& found) const {
  if (!variable->chain) return found.at(variable->name);
  const at::Tensor& along = found.at(variable->of->name);
  const std::int64_t axis = chain_axis(*variable);
  if (variable->chain->size == 0) return at::full_like(along.sum(axis), -1);
  if (variable->end == End::first) return along.select(axis, 0);
  const auto counts = lengths.find(variable->chain->name);
  if (counts == lengths.end()) return along.select(axis, -1);
  // The last slice that exists, row by row.
  const at::Tensor last = in_order(variable->name, counts->second, variable->plates).to(at::kLong) - 1;
  const at::Tensor rows = last.clamp_min(0).unsqueeze(axis).expand_as(along.narrow(axis, 0, 1));
  return at::where(last < 0, -1, along.gather(axis, rows).squeeze(axis));
}

std::map<std::string, at::Tensor> Program::Impl::evidence() const {
  std::map<std::string, at::Tensor> result;
  for (const auto& [name, states] : given) {
    const auto site = std::ranges::find(trace.sites(), name, &Site::name);
    const DimPointer& variable = site->variable;
    if (!variable->chain) {
      result.emplace(name, states);
    } else if (variable->chain->size > 0) {
      const at::Tensor along = at::full(shape_of(variable->of->plates), -1, at::kLong);
      along.select(chain_axis(*variable), 0).copy_(states);
      result.emplace(variable->of->name, along);
    }
  }
  return result;
}

Program::Impl Program::Impl::without_observations() const {
  Impl result{.trace = trace.without_observations(), .known_plates = known_plates};
  for (std::size_t k = 0; k < trace.sites().size(); ++k) {
    const Site& site = trace.sites()[k];
    if (site.observed) continue;
    result.tables.push_back(tables[k]);
    result.distributions.push_back(distributions[k]);
    if (const auto states = given.find(site.name); states != given.end()) result.given.insert(*states);
    for (const DimPointer& plate : site.plates) {
      if (const auto counts = lengths.find(plate->name); counts != lengths.end()) result.lengths.insert(*counts);
    }
  }
  return result;
}

Plan Program::Impl::plan() const {
  std::vector<std::string> observable;
  for (const auto& [name, states] : evidence()) observable.push_back(name);
  return trace.plan(observable);
}

RunOptions Program::Impl::run_options(const RunOptions& wanted) const {
  RunOptions options = wanted;
  for (const auto& dim : trace.dims()) {
    if (dim->kind != DimKind::variable) options.sizes[dim->name] = dim->size;
  }
  options.weights = weights();
  for (const auto& [name, states] : evidence()) options.evidence[name] = integers(states);
  for (const auto& [name, counts] : lengths) options.lengths[name] = integers(counts.tensor());
  return options;
}

Weights Program::Impl::weights() const {
  Weights result;
  if (trace.scales_batches()) return result;
  for (const auto& dim : trace.dims()) {
    if (dim->scale != 1) result.emplace(dim->name, plated::Tensor::scalar(dim->scale));
  }
  return result;
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
  const std::map<std::string, at::Tensor> states = tensors(found.assignment);
  MapAssignment result{.score = tensor(found.score)};
  for (const DimPointer& variable : impl_->asked()) result.states[variable->name] = impl_->states_of(variable, states);
  return result;
}

std::map<std::string, at::Tensor> Program::posterior_samples(const SampleOptions& draws,
                                                             const RunOptions& options) const {
  const auto found = impl_->samples(draws, options);
  std::map<std::string, at::Tensor> result;
  for (const DimPointer& variable : impl_->asked()) result[variable->name] = impl_->states_of(variable, found);
  return result;
}

std::map<std::string, at::Tensor> Program::Impl::samples(const SampleOptions& draws, const RunOptions& options) const {
  return tensors(plated::sample(plan(), operands(), draws, run_options(options)));
}

Weights Program::weights() const { return impl_->weights(); }

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
