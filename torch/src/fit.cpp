// A program as a model that plated::fit learns, and what it has learnt as parameters.
#include "plated/torch/fit.hpp"

#include <ATen/ATen.h>

#include <algorithm>

#include "plated/error.hpp"
#include "plated/torch/einsum.hpp"
#include "program.hpp"

namespace plated::torch {

Model Program::model() const {
  const RunOptions run = impl_->run_options({});
  std::map<std::string, Tensor> factors;
  for (std::size_t k = 0; k < impl_->tables.size(); ++k) {
    factors.emplace(impl_->trace.sites()[k].name, view(impl_->tables[k].detach()));
  }
  return make_model(graph(), factors, {.evidence = run.evidence, .lengths = run.lengths});
}

namespace {

/// The entries of a parameter in a table of probabilities: those of a Bernoulli are its probabilities of 1.
at::Tensor entries_of(const at::Tensor& table, const at::Tensor& parameter) {
  const bool bernoulli = table.dim() == parameter.dim() + 1 && table.size(-1) == 2;
  return bernoulli ? table.select(-1, 1) : table;
}

at::Tensor table_of(const Model& model, const std::string& site) {
  const auto& factors = model.graph.factors();
  const auto found = std::ranges::find(factors, site, &Factor::name);
  if (found == factors.end()) throw UnknownNameError("the program has no site '" + site + "' with a table to learn");
  return tensor(model.factors[static_cast<std::size_t>(found - factors.begin())]).exp();
}

void check_table(const std::string& name, const at::Tensor& parameter, const std::string& site,
                 const at::Tensor& table) {
  const at::Tensor entries = entries_of(table, parameter);
  if (entries.sizes() == parameter.sizes() &&
      at::allclose(entries.to(at::kDouble), parameter.to(at::kDouble), 1e-5, 1e-7))
    return;
  throw OptionError("the parameter '" + name + "' is not the table of the site '" + site +
                    "': EM learns probabilities that a site has as they are, indexed by its values in their order");
}

}  // namespace

Fit fit(Parameters& parameters, const Program& program, const std::map<std::string, std::vector<std::string>>& tables,
        const FitOptions& options) {
  const at::NoGradGuard guard;
  Model model = program.model();
  FitOptions chosen = options;
  chosen.learn.clear();
  for (const auto& [name, sites] : tables) {
    const at::Tensor parameter = parameters[name];
    for (const std::string& site : sites) {
      check_table(name, parameter, site, table_of(model, site));
      model.learning[site].learn = true;
      if (site == sites.front()) {
        chosen.learn.push_back(site);
      } else {
        model.learning[site].same_as = sites.front();
      }
    }
  }
  Fit result = plated::fit(model, {.weights = program.weights()}, chosen);
  for (const auto& [name, sites] : tables) {
    if (!sites.empty()) parameters.assign(name, entries_of(table_of(result.model, sites.front()), parameters[name]));
  }
  return result;
}

}  // namespace plated::torch
