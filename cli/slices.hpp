// The slices of a variable in answers: how they are named, and which of them are observed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plated/model.hpp"

namespace plated::cli {

/// One variable with its batch dims and plates.
struct Slices {
  std::string variable;             ///< the graph's name
  std::string label;                ///< the file's
  std::vector<std::string> axes;    ///< batch dims, then plates and chains
  std::vector<std::int64_t> shape;  ///< their sizes
  std::int64_t count = 1;           ///< slices in all
  std::int64_t states = 0;          ///< of the variable; state_label() says what they are called

  /// "grade[patient,sitting]", or just "rain".
  [[nodiscard]] std::string heading() const;
  /// "grade[3,0]", or just "rain"; slices are numbered with the last axis fastest.
  [[nodiscard]] std::string name(std::int64_t slice) const;
};

/// Every variable of a model in the file's order.
[[nodiscard]] std::vector<Slices> slices(const Model& model);

/// The observed state of a slice; −1 where there is none.
[[nodiscard]] std::int64_t observed_state(const Model& model, const Slices& of, std::int64_t slice);

}  // namespace plated::cli
