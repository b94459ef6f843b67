// Checks likelihoods and their parameters.
#include "model/likelihoods.hpp"

#include <algorithm>
#include <cmath>

#include "graph/spell.hpp"
#include "likelihood/density.hpp"
#include "model/learning.hpp"
#include "model/unknown_name.hpp"
#include "plated/error.hpp"

namespace plated::model {
namespace {

[[noreturn]] void refuse(const std::string& factor, const std::string& why) {
  throw OptionError("factor " + graph::quoted(factor) + " cannot be a likelihood: " + why);
}

void check_dims(const Model& model, std::size_t factor, const std::string& name) {
  const Factor& held = model.graph.factors()[factor];
  if (held.distribution_of || !model.children[factor].empty()) refuse(name, "it is a distribution of a variable");
  for (auto dim = held.dims.begin(); dim != held.dims.end(); ++dim) {
    const Dim& known = model.graph.dims()[*dim];
    if (known.kind == DimKind::batch) {
      refuse(name, "its parameters are the same for all problems of batch dim " + graph::quoted(known.name) +
                       ", so that it has no axis for it");
    }
    if (std::find(std::next(dim), held.dims.end(), *dim) != held.dims.end()) {
      refuse(name, "it has " + graph::quoted(known.name) + " twice among its dims");
    }
  }
}

void check_names(const Likelihood& likelihood, const std::string& name) {
  const std::vector<std::string> wanted = parameter_names(likelihood.family, likelihood.zero_inflated);
  for (const auto& [parameter, numbers] : likelihood.parameters) {
    if (std::find(wanted.begin(), wanted.end(), parameter) != wanted.end()) continue;
    throw UnknownNameError("the likelihood " + graph::quoted(name) + " has no parameter " + graph::quoted(parameter) +
                           "; " + std::string(plated::name(likelihood.family)) + " ones have " + listed(wanted));
  }
  for (const std::string& parameter : wanted) {
    if (likelihood.parameters.empty() || likelihood.parameters.contains(parameter)) continue;
    throw OperandCountError("the likelihood " + graph::quoted(name) + " lacks its parameter " +
                            graph::quoted(parameter));
  }
}

void check_parameters(const Model& model, std::size_t factor, const Likelihood& likelihood) {
  const std::string& name = model.graph.factors()[factor].name;
  const std::size_t states = parameter_states(likelihood);
  Tensor::Shape shape = model.factors[factor].shape();
  for (const auto& [parameter, numbers] : likelihood.parameters) {
    Tensor::Shape own = shape;
    if (parameter == "probabilities") own.push_back(static_cast<std::int64_t>(states));
    if (numbers.data() == nullptr) throw NullDataError("parameter " + graph::quoted(parameter) + " has no data");
    if (numbers.shape() == own || (numbers.rank() == 0 && parameter != "probabilities")) continue;
    throw ShapeError("the " + parameter + " of likelihood " + graph::quoted(name) + " has the shape " +
                     graph::as_shape(numbers.shape()) + ", and its factor's dims " +
                     graph::as_term(model.graph, model.graph.factors()[factor].dims) + " have " + graph::as_shape(own));
  }
  const auto density = likelihood::make_density(likelihood.family, {}, states);
  std::vector<std::vector<double>> lists;
  for (const std::string& parameter : parameter_names(likelihood.family, false)) {
    if (!likelihood.parameters.contains(parameter)) return;  // none are given
    lists.push_back(likelihood.parameters.at(parameter).values());
  }
  const auto entries = static_cast<std::size_t>(model.factors[factor].elements());
  std::vector<double> own;
  for (std::size_t k = 0; k < entries; ++k) {
    own.clear();
    for (const std::vector<double>& list : lists) {
      const std::size_t each = std::max<std::size_t>(states, 1);
      const std::size_t at = list.size() == 1 && each == 1 ? 0 : k * each;
      own.insert(own.end(), list.begin() + static_cast<std::ptrdiff_t>(at),
                 list.begin() + static_cast<std::ptrdiff_t>(at + each));
    }
    if (const char* const wanted = density->refused(own)) {
      throw ValueError("a parameter of likelihood " + graph::quoted(name) + " is impossible: " + wanted +
                       " is expected");
    }
  }
  if (!likelihood.zero_inflated) return;
  for (const double zero : likelihood.parameters.at("zero").values()) {
    if (zero >= 0 && zero <= 1) continue;
    throw ValueError("the likelihood " + graph::quoted(name) + " has a probability of zero outside of 0 … 1");
  }
}

}  // namespace

const Likelihood* likelihood_of(const Model& model, std::size_t factor) {
  const auto found = model.likelihoods.find(model.graph.factors()[factor].name);
  return found == model.likelihoods.end() ? nullptr : &found->second;
}

const std::string& measured_name(const Model& model, std::size_t factor) {
  const Likelihood* const likelihood = likelihood_of(model, factor);
  return likelihood->of.empty() ? model.graph.factors()[factor].name : likelihood->of;
}

std::vector<std::size_t> factors_measuring(const Model& model, std::string_view name) {
  std::vector<std::size_t> factors;
  for (std::size_t f = 0; f < model.graph.factors().size(); ++f) {
    if (likelihood_of(model, f) != nullptr && measured_name(model, f) == name) factors.push_back(f);
  }
  return factors;
}

std::size_t parameter_states(const Likelihood& likelihood) {
  const auto found = likelihood.parameters.find("probabilities");
  if (found == likelihood.parameters.end() || found->second.rank() == 0) return 0;
  return static_cast<std::size_t>(found->second.shape().back());
}

Tensor neutral_numbers(Tensor::Shape shape, Space space) {
  Tensor numbers(Dtype::float64, std::move(shape));
  auto* const entries = static_cast<double*>(numbers.mutable_data());
  std::fill(entries, entries + numbers.elements(), space == Space::log ? 0.0 : 1.0);
  return numbers;
}

void check_likelihoods(const Model& model) {
  for (const auto& [name, likelihood] : model.likelihoods) {
    const std::size_t factor = factor_named(model, name, "to be a likelihood");
    check_dims(model, factor, name);
    check_names(likelihood, name);
    const std::string& number = measured_name(model, factor);
    if (find_variable(model, number)) {
      refuse(name, "its numbers are called " + graph::quoted(number) + ", as a variable is; call them something else");
    }
    const std::vector<std::size_t> sharing = factors_measuring(model, number);
    if (model.graph.factor_plates(sharing[0]) != model.graph.factor_plates(factor)) {
      refuse(name, "factor " + graph::quoted(model.graph.factors()[sharing[0]].name) + " has the same numbers, " +
                       graph::quoted(number) + ", and is in other plates");
    }
    const auto learning = model.learning.find(name);
    const bool learnt = learning != model.learning.end() && learning->second.learn;
    if (likelihood.parameters.empty() && !learnt) {
      throw OperandCountError("the likelihood " + graph::quoted(name) +
                              " has no parameters; only one that is to be learnt may have none");
    }
    if (learning != model.learning.end() && learning->second.prior.data() != nullptr) {
      refuse(name, "it has a prior, and pseudo-counts are for tables");
    }
    check_parameters(model, factor, likelihood);
  }
}

}  // namespace plated::model

namespace plated {

std::vector<std::string> measured_names(const Model& model) {
  std::vector<std::string> names;
  for (std::size_t f = 0; f < model.graph.factors().size(); ++f) {
    if (model::likelihood_of(model, f) == nullptr) continue;
    const std::string& name = model::measured_name(model, f);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace plated
