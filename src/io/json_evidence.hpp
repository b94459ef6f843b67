// Evidence and lengths in JSON: numbers, names of states and null, in lists by plate.
#pragma once

#include "io/json.hpp"
#include "plated/model.hpp"

namespace plated::io {

[[nodiscard]] Evidence evidence_of(const Model& model, const Source& source, const Json& value);
[[nodiscard]] Lengths lengths_of(const Model& model, const Source& source, const Json& value);

/// The variable that the graph or the file calls so, if any.
[[nodiscard]] std::optional<DimId> find_variable(const Model& model, std::string_view name);
/// The state that a name or number says, if there is one.
[[nodiscard]] std::optional<std::int64_t> find_state(const Model& model, std::string_view variable,
                                                     std::string_view state);

/// The sizes of dims, those of batch dims in front of them if wanted.
[[nodiscard]] std::vector<std::int64_t> sizes_of(const FactorGraph& graph, const std::vector<DimId>& dims,
                                                 bool with_batch);

}  // namespace plated::io
