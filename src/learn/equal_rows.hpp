// Finds slices in which a table is read at the same observed states: what these say together is computed once.
#pragma once

#include <vector>

#include "model/listed.hpp"
#include "plated/fit.hpp"

namespace plated::learn {

/// A model with its data in which the children of some tables have become numbers of rows, which are listed.
struct JoinedRows {
  Model model;
  std::vector<model::Listed> rows;  ///< what these tables say of each row; there are no numbers in their place
};

/// Joins what learnt tables are read at in plates inside of slices, such as the notes of a step, where at most such a
/// share of the cells is left. All of a table's other variables are hidden, or observed for it alone.
[[nodiscard]] JoinedRows join_equal_rows(Model observed, const Weights& weights, const std::vector<bool>& learnt,
                                         double most_left);

}  // namespace plated::learn
