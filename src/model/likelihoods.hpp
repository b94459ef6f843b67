// What a model says about likelihoods of observed numbers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plated/model.hpp"

namespace plated::model {

/// The likelihood of a factor, or nullptr.
[[nodiscard]] const Likelihood* likelihood_of(const Model& model, std::size_t factor);
/// What its numbers are called.
[[nodiscard]] const std::string& measured_name(const Model& model, std::size_t factor);
/// The likelihood factors whose numbers are called so.
[[nodiscard]] std::vector<std::size_t> factors_measuring(const Model& model, std::string_view name);

/// How many states the parameters of a categorical likelihood name; 0 where they say nothing.
[[nodiscard]] std::size_t parameter_states(const Likelihood& likelihood);

/// The numbers that stand for a likelihood factor in Model::factors: ones.
[[nodiscard]] Tensor neutral_numbers(Tensor::Shape shape, Space space);

/// Throws UnknownNameError, OptionError, ShapeError and ValueError where Model::likelihoods make no sense: factors that
/// are not there, parameters that the family does not have, of another shape, or impossible.
void check_likelihoods(const Model& model);

}  // namespace plated::model
