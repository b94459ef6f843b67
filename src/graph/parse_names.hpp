// Parses names outside of equations: lists of dims, links of chains, and names that a program declares.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace plated::graph {

/// Names listed outside of an equation but spelled as in it: letters, or words separated by blanks; commas are
/// allowed in both. `what` names the list in errors.
[[nodiscard]] std::vector<std::string_view> parse_names(std::string_view text, bool spaced, std::string_view what);

/// A link's source and target, `"a->b"`, blanks around them allowed. Throws ParseError.
[[nodiscard]] std::pair<std::string_view, std::string_view> parse_link(std::string_view text, bool spaced);

/// Throws ParseError unless a spaced equation can spell this name.
void check_name(std::string_view name);

}  // namespace plated::graph
