// What a program holds: its trace, and the numbers of its sites.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plated/torch/program.hpp"
#include "trace.hpp"

namespace plated::torch {

struct Program::Impl {
  Trace trace = {};
  std::vector<at::Tensor> tables = {};              // of the sites, in their order
  std::map<std::string, at::Tensor> evidence = {};  // states of observed sites and given ones, in the order of answers
  std::map<std::string, at::Tensor> lengths = {};
  std::map<DimPointer, Plate> known_plates = {};  // by their dims

  Value observe(const std::string& name, const Distribution& distribution, const Value& data, const Dims& plates,
                const ObserveOptions& options);
  void add_observed_states(Site site, const Distribution& distribution, const Value& data);
  void add_observed_numbers(Site site, const Distribution& distribution, Value data, const ObserveOptions& options);
  /// A tensor with the axes of these plates in the order of answers, repeated along those that the value lacks.
  [[nodiscard]] at::Tensor in_order(const std::string& site, const Value& value, const Dims& plates) const;

  [[nodiscard]] Plan plan() const;
  [[nodiscard]] RunOptions run_options(const RunOptions& given) const;
  [[nodiscard]] std::vector<Tensor> operands() const;
  /// The variables whose states are asked for.
  [[nodiscard]] Dims asked() const;
};

}  // namespace plated::torch
