// The answer to a question about a model, and the forms it can be written in.
#pragma once

#include <map>
#include <string>

#include "plated/integers.hpp"
#include "plated/map.hpp"
#include "plated/model.hpp"
#include "plated/tensor.hpp"

namespace plated::cli {

/// One of these was asked for; `task` says which: pr, mar, map, sample, entropy.
struct Answer {
  std::string task;
  Tensor ln_z;
  std::map<std::string, Tensor> marginals;
  MapResult best;
  std::map<std::string, Integers> samples;
  Tensor entropy;
};

/// Aligned columns for people.
[[nodiscard]] std::string answer_table(const Model& model, const Answer& answer);
/// One JSON object whose keys name what it is and in which unit; variables under the names that the file has for them.
[[nodiscard]] std::string answer_json(const Model& model, const Answer& answer);
/// The result format of the UAI competitions.
[[nodiscard]] std::string answer_uai(const Model& model, const Answer& answer);
/// Throws UsageError for a model with plates or batch dims, whose answers that format cannot hold.
void require_flat(const Model& model);

}  // namespace plated::cli
