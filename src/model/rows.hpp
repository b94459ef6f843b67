// What a list of rows may be of.
#pragma once

#include "plated/model.hpp"

namespace plated::model {

/// Whether a variable's observations can be a list: only its own distribution holds it.
[[nodiscard]] bool can_be_listed(const Model& model, DimId variable);

/// The variable that a list is of, of which it must be the only observations. Throws as observe() does for names,
/// shapes and factors.
[[nodiscard]] DimId listed_variable(const Model& model, std::string_view variable, const Long& list);

/// Throws ValueError for rows about slices and states that do not exist.
void check_rows(const Model& model, DimId variable, const Long& list);
/// The distribution of a variable whose observations can be a list.
[[nodiscard]] std::size_t holder_of(const Model& model, DimId variable);
/// The plates of the other variables that it holds, in order.
[[nodiscard]] std::vector<DimId> plates_of_parents(const Model& model, DimId variable);

}  // namespace plated::model
