// Reads observed states and numbers of a model, and weights of slices, from arrays and tables.
#pragma once

#include <filesystem>
#include <string_view>

#include "plated/evidence.hpp"
#include "plated/long.hpp"
#include "plated/model.hpp"
#include "plated/tensor.hpp"

namespace plated {

/// What a file says of a model's variables: states from 0, −1 where they are missing.
///
/// A `.npy` file is an array of one variable, which must be named: integers of any width, or whole numbers in floats,
/// of which NaN is missing; its axes are the variable's plates in declaration order, and batch dims may come first.
///
/// A `.csv` file (RFC 4180, with a line of names) has a column for each variable, of which one may be named; states are
/// names or numbers, and an empty cell is missing. Columns that are called like plates and chains say, from 0, which
/// slice a line is about; lines that are not there are missing. Without such columns the lines are the slices of the
/// variable's one plate, in order. Columns with other names are not read.
///
/// Throws FileError, FormatError with the line, UnknownNameError and OptionError.
[[nodiscard]] Evidence read_data(const Model& model, const std::filesystem::path& path, std::string_view variable = {});

/// What a file says: arrays of states, lists of rows, and numbers of likelihoods.
struct Observations {
  Evidence states = {};
  Lists lists = {};
  Measurements measurements = {};
};

/// The same, but what a `.csv` file says of a variable in several plates, all of which have columns, is a list of its
/// lines, if only the variable's own distribution holds it: data of which most slices are missing take no more memory
/// than their lines, and several lines may be about one slice.
[[nodiscard]] Observations read_observations(const Model& model, const std::filesystem::path& path,
                                             std::string_view variable = {});

/// The same of observed numbers, by the names that likelihoods have for them: any numbers, NaN or an empty cell (NA in
/// a table) where one is missing. A table without such columns has none. Throws as read_data does.
[[nodiscard]] Measurements read_measurements(const Model& model, const std::filesystem::path& path,
                                             std::string_view name = {});

/// The weights of a plate's slices, in order: a `.npy` file with one axis, of floats or integers, or a `.csv` file with
/// a single column, whose first line may name it. Throws FileError, FormatError and OptionError.
///
///   Data data{.states = read_data(model, "distinct.csv"), .weights = {{"row", read_weights("copies.npy")}}};
[[nodiscard]] Tensor read_weights(const std::filesystem::path& path);

}  // namespace plated
