// Errors about names that a model does not have, which list those that it has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plated/model.hpp"

namespace plated::model {

/// 'a', 'b', 'c'; of many the first twenty and how many more there are.
[[nodiscard]] std::string listed(const std::vector<std::string>& names);

/// Throws UnknownNameError for a variable that is not there; `purpose` is what it was wanted for: "to observe".
[[noreturn]] void fail_without_variable(const Model& model, std::string_view name, std::string_view purpose);

}  // namespace plated::model
