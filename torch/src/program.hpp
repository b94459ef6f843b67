// What a program holds: its trace, and the numbers of its sites.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plated/torch/program.hpp"
#include "trace.hpp"

namespace plated::torch {

struct Program::Impl {
  Trace trace = {};
  std::vector<at::Tensor> tables = {};                                  // of the sites, in their order
  std::vector<std::shared_ptr<const Distribution>> distributions = {};  // of the sites; null: cannot be drawn from
  std::map<std::string, at::Tensor> given = {};   // states of observed sites and given ones, in the order of answers
  std::map<std::string, Value> lengths = {};      // axes in the order of answers
  std::map<DimPointer, Plate> known_plates = {};  // by their dims

  Value observe(const std::string& name, const Distribution& distribution, const Value& data, const Dims& plates,
                const ObserveOptions& options);
  void add_observed_states(Site site, const Distribution& distribution, const Value& data);
  void add_observed_numbers(Site site, const Distribution& distribution, Value data, const ObserveOptions& options);
  void add_site(Site site, const at::Tensor& table, const Distribution& distribution);
  void add_lengths(const std::string& name, const PlateOptions& options);
  /// A tensor with the axes of these plates in the order of answers, repeated along those that the value lacks.
  [[nodiscard]] at::Tensor in_order(const std::string& site, const Value& value, const Dims& plates) const;
  /// The sizes of these plates in the order of answers.
  [[nodiscard]] std::vector<std::int64_t> shape_of(const Dims& plates) const;

  /// The axis of the chain in the states of a variable that an end is of, counted from the last one.
  [[nodiscard]] std::int64_t chain_axis(const Dim& end) const;
  /// What is observed, by the variables of the graph.
  [[nodiscard]] std::map<std::string, at::Tensor> evidence() const;
  [[nodiscard]] Plan plan() const;
  /// Of subsampled plates.
  [[nodiscard]] Weights weights() const;
  [[nodiscard]] RunOptions run_options(const RunOptions& wanted) const;
  [[nodiscard]] std::vector<Tensor> operands() const;
  /// The variables whose states are asked for.
  [[nodiscard]] Dims asked() const;
  /// The same before anything is observed.
  [[nodiscard]] Impl without_observations() const;

  /// The states of a variable, or of an end of a chain, among those of the graph's variables, whose last axes are the
  /// plates of these in the order of answers. Those that do not exist are −1.
  [[nodiscard]] at::Tensor states_of(const DimPointer& variable, const std::map<std::string, at::Tensor>& found) const;
  /// Joint samples of the graph's variables.
  [[nodiscard]] std::map<std::string, at::Tensor> samples(const SampleOptions& draws, const RunOptions& options) const;
  /// Those of the program's variables, and data drawn given them.
  [[nodiscard]] std::map<std::string, at::Tensor> predicted(const std::map<std::string, at::Tensor>& found,
                                                            const SampleOptions& draws) const;
};

}  // namespace plated::torch
