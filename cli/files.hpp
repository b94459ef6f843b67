// Reads the models and writes the answers of commands.
#pragma once

#include <string>

#include "arguments.hpp"
#include "plated/model.hpp"

namespace plated::cli {

/// The model with its evidence, unrolled if wanted. What a reader should know is said on standard error, unless quiet.
[[nodiscard]] Model load(const Input& input, const Common& common);

/// An answer to standard output, or, where a file is named, whole into that. Throws FileError.
void deliver(const std::string& text, const std::string& file);

}  // namespace plated::cli
