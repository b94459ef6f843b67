// Evidence and lengths in JSON: numbers, names of states and null, in lists by plate.
#pragma once

#include "io/json.hpp"
#include "plated/data_file.hpp"
#include "plated/model_file.hpp"

namespace plated::io {

/// Evidence of a variable may also be in a file, `{"file": "grades.npy"}`, where there are options to find it by, and
/// in rows, `{"states": [0, 1], "slices": {"item": [0, 2]}}`.
[[nodiscard]] Observations evidence_of(const Model& model, const Source& source, const Json& value,
                                       const ReadOptions* options = nullptr);
[[nodiscard]] Lengths lengths_of(const Model& model, const Source& source, const Json& value);

}  // namespace plated::io
