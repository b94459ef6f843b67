// What `plated fit` is told and reports besides the fit itself: held-out data and folds.
#pragma once

#include <map>
#include <string>

#include "columns.hpp"
#include "plated/fit.hpp"

namespace plated::cli {

/// `plate=folds`. Throws UsageError.
[[nodiscard]] std::map<std::string, int> folds_of(const std::string& word);

/// Rows for what was held out.
void add_held_out(Columns& summary, const Fit& fit);
/// A row for each fold, and an empty line behind; empty where there are none.
[[nodiscard]] std::string folds_table(const Fit& fit);
/// Members of an object, a comma before each.
[[nodiscard]] std::string held_out_json(const Fit& fit);

}  // namespace plated::cli
