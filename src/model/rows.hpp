// Observations in rows, as plates of the model.
#pragma once

#include "plated/long.hpp"

namespace plated::model {

/// What stands for rows that shorter lists lack: slices that do not exist, or observations that are missing.
enum class Absent { slices, observations };

/// observe() of a list.
void observe_rows(Model& model, std::string_view variable, const Long& list, Absent absent);

/// Whether a variable's observations can be a list: only its own distribution holds it.
[[nodiscard]] bool can_be_listed(const Model& model, DimId variable);

/// The variable that a list is of, of which it must be the only observations. Throws as observe() does for names,
/// shapes and factors.
[[nodiscard]] DimId listed_variable(const Model& model, std::string_view variable, const Long& list);

}  // namespace plated::model
