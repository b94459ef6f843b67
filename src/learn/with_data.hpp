// A model with the data that it is fitted to or scored on.
#pragma once

#include "model/listed.hpp"
#include "plated/fit.hpp"

namespace plated::learn {

/// The model with the data as its evidence and lists; plates and chains that no factor has an axis for have as
/// many slices as the data. Throws UnknownNameError, ShapeError and ValueError for data that do not fit.
[[nodiscard]] Model with_data(const Model& model, const Data& data);

/// The lists of a model, sorted, and the model with a factor for what each group of rows says in place of their tables.
/// Where a plate is cut, it tells groups apart. Throws OptionError where slices of plates that rows alone are in have
/// weights.
[[nodiscard]] std::vector<model::Listed> sorted_lists(const Model& model, const Weights& weights,
                                                      std::optional<DimId> cut = {});
[[nodiscard]] Model with_lists(Model model, const std::vector<model::Listed>& lists);

/// The same with no evidence, and its lengths where these fit: what a fitted model is made of.
[[nodiscard]] Model resized_like(const Model& model, const FactorGraph& graph);

}  // namespace plated::learn
