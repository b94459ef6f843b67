// Arrays of states and of observed numbers in files.
#pragma once

#include <filesystem>
#include <string>

#include "plated/data_file.hpp"
#include "plated/integer_view.hpp"
#include "plated/model.hpp"

namespace plated::io {

/// The states of a .npy file: integers are read in place. Throws FileError and FormatError, also for numbers that are
/// not whole.
[[nodiscard]] IntegerView read_npy_states(const std::filesystem::path& path);

/// The numbers of a .npy file of any type. Throws FileError and FormatError.
[[nodiscard]] Tensor read_npy_numbers(const std::filesystem::path& path);

/// The columns of a table, or the one that is named; with `lists`, those that can be lists are.
[[nodiscard]] Observations read_csv(const Model& model, const std::filesystem::path& path, std::string_view wanted,
                                    bool lists);

}  // namespace plated::io
