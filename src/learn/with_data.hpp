// A model with the data that it is fitted to or scored on.
#pragma once

#include "learn/listed.hpp"
#include "plated/fit.hpp"

namespace plated::learn {

/// The model with the data as its evidence, but for lists; plates and chains that no factor has an axis for have as
/// many slices as the data. Throws UnknownNameError, ShapeError and ValueError for data that do not fit.
[[nodiscard]] Model with_data(const Model& model, const Data& data);

/// The same with the lists, too: in plates of rows.
[[nodiscard]] Model with_rows(Model model, const Lists& lists);

/// Lists that are read at tables: sorted, with a factor for what each group of rows says in place of the tables.
/// Throws OptionError where slices of plates that rows alone are in have weights.
[[nodiscard]] std::vector<Listed> sorted_lists(const Model& model, const Data& data);
[[nodiscard]] Model with_lists(Model model, const std::vector<Listed>& lists);

/// The same with no evidence, and its lengths where these fit: what a fitted model is made of.
[[nodiscard]] Model resized_like(const Model& model, const FactorGraph& graph);

}  // namespace plated::learn
