// Strings as JSON has them.
#pragma once

#include <string>
#include <string_view>

namespace plated {

/// A string in quotes, as JSON writes it: quotes, backslashes and control characters are escaped, the rest stays as it
/// is and should be UTF-8.
///
///   json_string("a \"b\"")  // "a \"b\"", with its backslashes
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace plated
