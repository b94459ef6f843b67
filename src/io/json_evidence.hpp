// Evidence and lengths in JSON: numbers, names of states and null, in lists by plate.
#pragma once

#include "io/json.hpp"
#include "plated/model.hpp"

namespace plated::io {

[[nodiscard]] Evidence evidence_of(const Model& model, const Source& source, const Json& value);
[[nodiscard]] Lengths lengths_of(const Model& model, const Source& source, const Json& value);

}  // namespace plated::io
