// Parses a command line into Arguments; only parse.cpp uses CLI11.
#pragma once

#include <optional>
#include <vector>

#include "arguments.hpp"

namespace plated::cli {

/// What the words ask for. Nothing where they asked for help or the version, which are then printed. Throws UsageError.
[[nodiscard]] std::optional<Arguments> parse(int count, const char* const* words);

/// Every command with its options, as `--help` shows them; first what can be said without a command, under the name "".
[[nodiscard]] std::vector<CommandHelp> command_help();

/// Throws UsageError where options contradict each other or say nothing together.
void check(const Arguments& arguments);

}  // namespace plated::cli
