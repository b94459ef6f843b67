// What questions about a posterior read: checked operands, in log space, without magnitudes that would swallow it.
#pragma once

#include <optional>
#include <vector>

#include "api/padding.hpp"
#include "engine/recentre.hpp"

namespace plated::api {

/// Operands followed by evidence, twice: as they are, for values, and recentred, for posteriors and choices.
struct Inputs {
  std::vector<Tensor> given;
  /// Empty where nothing was subtracted.
  std::vector<Tensor> reduced;
  /// What was subtracted, for each operand; empty like the former.
  std::vector<std::optional<engine::Offsets>> offsets;
  /// The bytes of all copies that were made; they count against the memory limit.
  std::int64_t copied = 0;
  /// Whether a run is to look at what was not searched.
  bool left_to_run = false;
  /// The largest of each operand, where they are looked at.
  std::vector<double> magnitudes = {};
  /// How often evidence and weights have changed since they were taken, and how many of these changes were taken.
  int changes = 0;
  int taken_changes = 0;
  /// Of operands with slices that do not exist.
  PaddedCopies padded = {};
  /// Of weights: their logarithms, which `given` has.
  std::vector<Tensor> logarithms = {};

  /// True where the two differ.
  [[nodiscard]] bool recentred() const { return !reduced.empty(); }
  [[nodiscard]] const std::vector<Tensor>& centred() const { return recentred() ? reduced : given; }
};

/// When operands are looked at: all before a run, or large ones by the run that reads them (LeftToRun), which then may
/// throw LeftToRun::Suspicious.
enum class Look { before, by_run };

/// The inputs of a question in a semiring; only in log, max_plus and min_plus they are recentred, and only where
/// operands are checked. Throws what check_inputs, with_evidence and Plan::run throw.
[[nodiscard]] Inputs question_inputs(const Call& call, Semiring semiring, Look look);
/// The same in the memory of earlier ones.
void take_question_inputs(const Call& call, Semiring semiring, Look look, Inputs& inputs);

/// The same without recentring.
[[nodiscard]] Inputs given_inputs(const Call& call, Semiring semiring);
void take_given_inputs(const Call& call, Semiring semiring, Inputs& inputs);

/// The same as logarithms: of operands in the real semiring their logarithms are taken, and negative entries are a
/// ValueError. Other semirings than log and real are an OptionError.
[[nodiscard]] Inputs log_inputs(const Call& call, Look look);
void take_log_inputs(const Call& call, Look look, Inputs& inputs);

/// Adds to an answer with the given axes what was subtracted from the slices of factors at each of its indices.
void add_offsets(const Call& call, const Inputs& inputs, const std::vector<std::size_t>& factors,
                 const std::vector<DimId>& axes, Tensor& answer);

}  // namespace plated::api
