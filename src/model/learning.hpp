// What a model says about learning its factors.
#pragma once

#include <cstddef>
#include <string>

#include "plated/model.hpp"

namespace plated::model {

/// The place of a factor. Throws UnknownNameError, which lists the factors there are; `purpose` is what it was wanted
/// for: "to learn".
[[nodiscard]] std::size_t factor_named(const Model& model, std::string_view name, std::string_view purpose);

/// The axis of a factor's child. Throws OptionError for a factor that is no distribution, or that has its child twice.
[[nodiscard]] std::size_t child_axis(const Model& model, std::size_t factor);

/// Numbers for a factor of which nothing is known: all states of its child are alike.
[[nodiscard]] Tensor uniform_start(Tensor::Shape shape, std::int64_t states, Space space);

/// Throws UnknownNameError, OptionError, ShapeError and ValueError where Model::learning makes no sense: factors that
/// are not there or no distributions, those that share numbers of another shape, priors below zero.
void check_learning(const Model& model);

}  // namespace plated::model
