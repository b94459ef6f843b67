// einsum and log_partition of graphs and models, which become plans.
#include <ATen/ATen.h>

#include <algorithm>

#include "plated/error.hpp"
#include "plated/solve.hpp"
#include "plated/torch/einsum.hpp"

namespace plated::torch {

namespace {

/// The plan of a graph in which all that is observed may be; it is kept for the next call.
Plan plan_of(const FactorGraph& graph, const RunOptions& options) {
  static KeptPlans plans;
  PlanOptions observing;
  for (const auto& [name, states] : options.evidence) observing.observable.push_back(name);
  return plans.of(graph, observing);
}

/// The options of a call, and what the model has observed besides.
RunOptions with_data(const Model& model, RunOptions options) {
  if (!model.lists.empty()) {
    throw OptionError("the evidence of '" + model.lists.begin()->first +
                      "' is a list of rows, which gradients do not read: give it as an array");
  }
  const IntegersByName evidence(model.evidence);
  const IntegersByName lengths(model.lengths);
  options.evidence.insert(evidence.begin(), evidence.end());
  options.lengths.insert(lengths.begin(), lengths.end());
  return options;
}

/// The tensors of a call in the order of the model's factors, and the model's own numbers in the space of the semiring
/// for the others.
std::vector<at::Tensor> operands_of(const Model& model, const std::map<std::string, at::Tensor>& given,
                                    Semiring semiring) {
  const std::vector<Factor>& factors = model.graph.factors();
  for (const auto& [name, operand] : given) {
    if (std::ranges::find(factors, name, &Factor::name) == factors.end()) {
      throw UnknownNameError("the model has no factor '" + name + "' that a tensor could be given for");
    }
  }
  const bool weights = semiring == Semiring::real || semiring == Semiring::max_product;
  const Model own = in_space(model, weights ? Space::real : Space::log);
  std::vector<at::Tensor> result;
  for (std::size_t k = 0; k < factors.size(); ++k) {
    const auto found = given.find(factors[k].name);
    if (found == given.end() && model.likelihoods.contains(factors[k].name)) {
      throw OptionError("the factor '" + factors[k].name +
                        "' is a likelihood, which has no numbers of its own: give its log-densities as a tensor");
    }
    result.push_back(found == given.end() ? tensor(own.factors[k]) : found->second);
  }
  return result;
}

}  // namespace

at::Tensor einsum(const FactorGraph& graph, at::TensorList operands, const RunOptions& options) {
  return einsum(plan_of(graph, options), operands, options);
}

at::Tensor log_partition(const FactorGraph& graph, at::TensorList operands, const RunOptions& options) {
  return log_partition(plan_of(graph, options), operands, options);
}

at::Tensor einsum(const Model& model, const std::map<std::string, at::Tensor>& operands, const RunOptions& options) {
  const RunOptions run = with_data(model, options);
  return einsum(plan_of(model.graph, run), operands_of(model, operands, options.semiring), run);
}

at::Tensor log_partition(const Model& model, const std::map<std::string, at::Tensor>& operands,
                         const RunOptions& options) {
  const RunOptions run = with_data(model, options);
  return log_partition(plan_of(model.graph.asking({{}}), run), operands_of(model, operands, options.semiring), run);
}

}  // namespace plated::torch
