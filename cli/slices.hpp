// The slices of a variable in answers: how they are named, and which of them are observed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plated/model.hpp"

namespace plated::cli {

/// One variable, or several jointly, with their batch dims and plates.
struct Slices {
  std::vector<std::string> variables;  ///< the graph's names
  std::string label;                   ///< the file's, with commas between them
  std::vector<std::string> axes;       ///< in the order of answers: batch dims, plates, chains
  std::vector<std::int64_t> shape;     ///< their sizes
  std::int64_t count = 1;              ///< slices in all
  std::int64_t states = 1;             ///< of the variable, or tuples of them, the last variable's fastest

  /// "grade[patient,sitting]", or just "rain".
  [[nodiscard]] std::string heading() const;
  /// "grade[3,0]", or just "rain"; slices are numbered with the last axis fastest.
  [[nodiscard]] std::string name(std::int64_t slice) const;
  /// The place of a slice along each axis.
  [[nodiscard]] std::vector<std::int64_t> index(std::int64_t slice) const;
};

[[nodiscard]] Slices slices_of(const Model& model, const std::vector<std::string>& variables);

/// Every variable of a model in the file's order.
[[nodiscard]] std::vector<Slices> slices(const Model& model);
/// Those of variables that answers have: not of those that are observed in rows.
[[nodiscard]] std::vector<Slices> answered_slices(const Model& model);

/// What a state is called, of several variables with commas in between; "-" for −1, which is beyond a chain's length.
[[nodiscard]] std::string state_name(const Model& model, const Slices& of, std::int64_t state);

/// The observed state of a slice of one variable; −1 where there is none, and for several variables.
[[nodiscard]] std::int64_t observed_state(const Model& model, const Slices& of, std::int64_t slice);

}  // namespace plated::cli
