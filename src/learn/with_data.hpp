// A model with the data that it is fitted to or scored on.
#pragma once

#include "model/rows.hpp"
#include "plated/fit.hpp"

namespace plated::learn {

/// The model with the data as its evidence, but for lists; plates and chains that no factor has an axis for have as
/// many slices as the data. Throws UnknownNameError, ShapeError and ValueError for data that do not fit.
[[nodiscard]] Model with_data(const Model& model, const Data& data);

/// The same with the lists, too: in plates of rows.
[[nodiscard]] Model with_rows(Model model, const Lists& lists, model::Absent absent);

/// The same with no evidence, and its lengths where these fit: what a fitted model is made of.
[[nodiscard]] Model resized_like(const Model& model, const FactorGraph& graph);

}  // namespace plated::learn
