// The answer to a question about a model, and the forms it can be written in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plated/integers.hpp"
#include "plated/map.hpp"
#include "plated/model.hpp"
#include "plated/tensor.hpp"
#include "slices.hpp"

namespace plated::cli {

/// The posterior of one variable, or of several jointly: its slices, each with the probabilities of its states.
struct Posterior {
  Slices of;
  Tensor probabilities;
};

/// One of these was asked for; `task` says which: pr, mar, map, sample, entropy, leave-one-out.
struct Answer {
  std::string task;
  Tensor ln_z;
  std::vector<Posterior> marginals;
  MapResult best;
  std::map<std::string, Integers> samples;
  Tensor entropy;
  Tensor left_out;                     ///< ln p of each slice of a plate given the others
  std::vector<std::string> left_axes;  ///< its axes
};

/// Aligned columns for people.
[[nodiscard]] std::string answer_table(const Model& model, const Answer& answer);
/// One JSON object whose keys name what it is and in which unit; variables under the names that the file has for them.
[[nodiscard]] std::string answer_json(const Model& model, const Answer& answer);
/// One record for each number or state, after a line that names the columns.
[[nodiscard]] std::string answer_csv(const Model& model, const Answer& answer);
/// The result format of the UAI competitions.
[[nodiscard]] std::string answer_uai(const Model& model, const Answer& answer);
/// Throws UsageError for a model with plates or batch dims, whose answers that format cannot hold.
void require_flat(const Model& model);

}  // namespace plated::cli
