// Asks the graph of a program further: max-marginals, entropy, expectations, slices left out.
#include <ATen/ATen.h>

#include <algorithm>

#include "plated/error.hpp"
#include "plated/evaluation.hpp"
#include "plated/marginals.hpp"
#include "plated/torch/einsum.hpp"
#include "program.hpp"

namespace plated::torch {

std::map<std::string, at::Tensor> Program::max_marginals(const RunOptions& options) const {
  const auto found = plated::max_marginals(impl_->plan(), impl_->operands(), impl_->run_options(options));
  std::map<std::string, at::Tensor> result;
  for (const DimPointer& variable : impl_->asked()) {
    const bool begins = variable->chain != nullptr;
    const at::Tensor scores = tensor(found.at(begins ? variable->of->name : variable->name));
    result.emplace(variable->name, begins ? scores.select(impl_->chain_axis(*variable) - 1, 0) : scores);
  }
  return result;
}

at::Tensor Program::entropy(const RunOptions& options) const {
  return tensor(plated::entropy(impl_->plan(), impl_->operands(), impl_->run_options(options)));
}

at::Tensor Program::expectation(const Value& statistic, const RunOptions& options) const {
  Impl asked = *impl_;
  // A factor of ones, which changes nothing, and whose entries are what is expected.
  Site site{.name = "expectation", .axes = statistic.axes()};
  while (std::ranges::find(asked.trace.sites(), site.name, &Site::name) != asked.trace.sites().end()) site.name += '_';
  const auto add = [&](const DimPointer& plate) {
    if (std::ranges::find(site.plates, plate) == site.plates.end()) site.plates.push_back(plate);
  };
  for (const DimPointer& axis : site.axes) {
    if (axis->kind != DimKind::variable) add(axis);
    for (const DimPointer& plate : axis->plates) add(plate);
  }
  if (statistic.own_axes() != 0) throw RankError("the expectation of a value with axes without names was asked for");
  asked.trace.add_site(std::move(site));
  const at::Tensor numbers = statistic.tensor().detach().to(at::kDouble);
  asked.tables.push_back(at::zeros_like(numbers));
  std::vector<Tensor> statistics(asked.tables.size());
  statistics.back() = view(numbers);
  return tensor(plated::expectation(asked.plan(), asked.operands(), statistics, asked.run_options(options)));
}

at::Tensor Program::leave_one_out(const std::string& plate, const RunOptions& options,
                                  const std::vector<std::string>& sites) const {
  return tensor(plated::leave_one_out(impl_->plan(), impl_->operands(), plate, impl_->run_options(options), sites));
}

Evaluation Program::evaluate(const RunOptions& options) const {
  return impl_->plan().evaluate(impl_->operands(), impl_->run_options(options));
}

}  // namespace plated::torch
