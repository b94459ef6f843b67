// Reads the models and writes the answers of commands.
#pragma once

#include <string>

#include "arguments.hpp"
#include "plated/model.hpp"

namespace plated::cli {

/// What a file is called in messages: `-` is standard input.
[[nodiscard]] std::string shown_name(const std::string& file);

/// The bytes that a command may take: what was said, or all the machine has. More would not be refused by the system
/// but end with the process.
[[nodiscard]] std::int64_t memory_limit(const Common& common);

/// The model with its evidence, unrolled if wanted. What a reader should know is said on standard error, unless quiet.
[[nodiscard]] Model load(const Input& input, const Common& common);

/// An answer to standard output, which `-` names too, or whole into a file. Throws FileError.
void deliver(const std::string& text, const std::string& file);

}  // namespace plated::cli
