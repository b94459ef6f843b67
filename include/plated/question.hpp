// Questions: what is asked of a plan, as values that can be compared, planned, priced and printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plated/semiring.hpp"

namespace plated {

/// Which marginals, and how they are given.
struct MarginalOptions {
  /// The marginal of every variable; the plan's outputs do not matter.
  bool variables = true;
  /// Every factor's joint posterior, in its operand's shape; in a tied factor the slices it stands for are averaged.
  bool factors = false;
  /// Joint marginals of sets of variables, each named once: for each slice of all the plates that one of them is in.
  std::vector<std::vector<std::string>> sets = {};
  /// Also the first and last slice's marginals of the linked variables of chains, as `^a` and `b$`.
  bool ends = false;
  /// For variables in a chain: the posterior given the slices up to their own and everything outside the chain.
  bool filtered = false;
  /// Logarithms instead of probabilities, accurate even where a probability would underflow.
  bool log = false;

  bool operator==(const MarginalOptions&) const = default;
};

/// What is asked of a plan: the kind of its verb, and what the schedule that answers it depends on. A plan makes that
/// schedule once, when the question is first asked or when compile() is told of it.
///
///   plan.print({.kind = Question::Kind::marginals});
///   plan.cost({.kind = Question::Kind::gradient}, {{"i", 1000}});
struct Question {
  enum class Kind : std::uint8_t {
    value,  ///< what Plan::run and einsum give
    gradient,
    hessian_vector_product,
    marginals,
    max_marginals,
    map,
    sample,
    entropy,
    expectation,
    leave_one_out,
  };
  Kind kind = Kind::value;
  Semiring semiring = Semiring::log;
  MarginalOptions wanted = {};  ///< of marginals
  std::string plate = {};       ///< of leave_one_out
  /// The plates that runs give weights for, and those that they give lengths for, with all axes that these may have:
  /// other schedules run then.
  std::vector<std::string> weights = {};
  std::vector<std::string> lengths = {};
  /// The variables that runs give evidence for: in all slices, or in some. Factors are then read at the observed states
  /// where that can be.
  std::vector<std::string> observed = {};
  std::vector<std::string> partly_observed = {};

  bool operator==(const Question&) const = default;
};

/// "value", "leave_one_out" …: the name of the verb.
[[nodiscard]] std::string_view name(Question::Kind kind);
/// The kind of that name. Throws OptionError, which lists the names.
[[nodiscard]] Question::Kind question_kind(std::string_view name);

}  // namespace plated

template <>
struct std::hash<plated::Question> {
  [[nodiscard]] std::size_t operator()(const plated::Question& question) const noexcept;
};
