// What `plated fit` is told and reports besides the fit itself: held-out data, folds,
// numbers of states, standard errors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "columns.hpp"
#include "plated/fit.hpp"

namespace plated::cli {

/// `plate=folds`. Throws UsageError.
[[nodiscard]] std::map<std::string, int> folds_of(const std::string& word);

/// `plate=slices`. Throws UsageError.
[[nodiscard]] std::map<std::string, std::int64_t> batch_of(const std::string& word);

/// `variable=2..8`, `variable=2,4,8` or `variable=3`. Throws UsageError.
[[nodiscard]] std::map<std::string, std::vector<std::int64_t>> states_of(const std::string& word);

/// A row for each number of states, and an empty line behind; empty where none was asked for.
[[nodiscard]] std::string varied_table(const Fit& fit);
/// Rows for what was held out.
void add_held_out(Columns& summary, const Fit& fit);
/// A row for each fold, and an empty line behind; empty where there are none.
[[nodiscard]] std::string folds_table(const Fit& fit);
/// An empty line, and a row for each probability that is learnt; empty where standard errors were not asked for.
[[nodiscard]] std::string errors_table(const Fit& fit);
/// Members of an object, a comma before each.
[[nodiscard]] std::string errors_json(const Fit& fit);
[[nodiscard]] std::string held_out_json(const Fit& fit);

}  // namespace plated::cli
