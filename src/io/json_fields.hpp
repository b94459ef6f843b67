// Reads the members of a JSON object with checks, and with errors that give the line.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.hpp"
#include "plated/integers.hpp"

namespace plated::io {

/// Throws where the value is no object or has a key that is not among `known`; `comment` and keys that begin with `$`
/// are let through. `what` is how errors name the value.
void check_object(const Source& source, const Json& value, const std::string& what,
                  std::initializer_list<std::string_view> known);

[[nodiscard]] const Json& required(const Source& source, const Json& object, std::string_view key,
                                   const std::string& what);
[[nodiscard]] const std::string& as_string(const Source& source, const Json& value, const std::string& what);
[[nodiscard]] std::vector<std::string> as_strings(const Source& source, const Json& value, const std::string& what);
[[nodiscard]] bool as_boolean(const Source& source, const Json& value, const std::string& what);
/// Not negative, and no larger than 2^53, up to which doubles are exact.
[[nodiscard]] std::int64_t as_size(const Source& source, const Json& value, const std::string& what);

/// The extents of nested arrays, taken from their first items.
[[nodiscard]] std::vector<std::int64_t> nested_shape(const Json& value);

}  // namespace plated::io
