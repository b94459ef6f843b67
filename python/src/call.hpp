// One call of a verb: its plan, its operands, its run options, and the library whose arrays it returns.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "hint.hpp"
#include "interrupt.hpp"
#include "keywords.hpp"
#include "plated/einsum.hpp"
#include "plated/plan.hpp"
#include "progress.hpp"

namespace plated::python {

/// plated.Plan: a plan, and what its runs take where a call does not say.
struct PythonPlan {
  Plan plan;
  RunOptions defaults;
  nb::dict options = {};  ///< that compile was given besides the graph, to make it anew from
  /// The semirings, one bit each, in which operands have been looked at for a hint.
  mutable std::uint32_t looked = 0;
};

class Call {
 public:
  /// Of an equation. `take` is offered each keyword that all verbs do not share.
  template <class Take>
  Call(const char* verb, nb::str equation, const nb::args& operands, const nb::kwargs& keywords, Take take) {
    read_operands(operands);
    EinsumOptions reading;
    read_keywords(verb, keywords, [&](std::string_view key, nb::handle value) {
      return take_run(key, value, run_) || take_equation(key, value, reading) || progress_.take(key, value) ||
             take(key, value, arrays_);
    });
    find_plan(equation, std::move(reading));
  }

  /// Of a compiled plan.
  template <class Take>
  Call(const char* verb, const PythonPlan& plan, const nb::args& operands, const nb::kwargs& keywords, Take take)
      : plan_(plan.plan), run_(plan.defaults) {
    nb::object named;  // most calls have none, and are quick
    read_keywords(verb, keywords, [&](std::string_view key, nb::handle value) {
      return take_run(key, value, run_) || progress_.take(key, value) || take(key, value, arrays_) ||
             take_operand(key, value, named);
    });
    if (operands.size() == 1 && PyDict_Check(nb::handle(operands[0]).ptr()) != 0) {
      read_named(nb::borrow<nb::dict>(operands[0]), named.is_valid() ? nb::borrow<nb::dict>(named) : nb::dict());
    } else if (named.is_valid()) {
      read_named(nb::borrow<nb::dict>(named), nb::dict(), operands.size());
    } else {
      read_operands(operands);
    }
    const std::uint32_t bit = 1U << static_cast<unsigned>(run_.semiring);
    if ((plan.looked & bit) == 0) {
      plan.looked |= bit;
      look(plan_->graph().equation());
    }
  }

  [[nodiscard]] const Plan& plan() const { return *plan_; }
  [[nodiscard]] const std::vector<Tensor>& operands() const { return operands_; }
  [[nodiscard]] Library library() const { return arrays_.library(); }

  /// Asks the plan without the interpreter lock: `question` is given the plan, the operands and the run's options.
  template <class Question>
  auto ask(Question question) {
    Interrupt interrupt;
    run_.cancelled = interrupt.callback();
    run_.progress = progress_.callback(interrupt);
    auto answer = without_lock(interrupt, [&] { return question(*plan_, std::span<const Tensor>(operands_), run_); });
    if (interrupt.raised()) throw std::move(*interrupt.raised());
    return answer;
  }

 private:
  void read_operands(const nb::args& operands);
  /// Keeps an argument that has the name of one of the plan's factors. False where `key` is no such name.
  bool take_operand(std::string_view key, nb::handle value, nb::object& named) const;
  /// Operands by the names of their factors, from one or two dicts that must have each exactly once.
  void read_named(const nb::dict& first, const nb::dict& second, std::size_t positional = 0);
  void find_plan(nb::str equation, EinsumOptions reading);
  /// Hints at another semiring where this is the first call of an equation and its operands look like that.
  void look(std::string_view equation) const;

  Arrays arrays_;
  std::vector<Tensor> operands_;
  std::optional<Plan> plan_;
  RunOptions run_;
  Progress progress_;
};

}  // namespace plated::python
