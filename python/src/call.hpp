// One call of a verb: its plan, its operands, its run options, and the library whose arrays it returns.
#pragma once

#include <nanobind/nanobind.h>

#include <type_traits>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "interrupt.hpp"
#include "keywords.hpp"
#include "plated/plan.hpp"

namespace plated::python {

/// plated.Plan: a plan, and what its runs take where a call does not say.
struct PythonPlan {
  Plan plan;
  RunOptions defaults;
};

class Call {
 public:
  /// Of an equation. `take` is offered each keyword that all verbs do not share.
  template <class Take>
  Call(const char* verb, nb::str equation, const nb::args& operands, const nb::kwargs& keywords, Take take) {
    read_operands(operands);
    EinsumOptions reading;
    read_keywords(verb, keywords, [&](std::string_view key, nb::handle value) {
      return take_run(key, value, run_) || take_equation(key, value, reading) || take_progress(key, value) ||
             take(key, value, arrays_);
    });
    find_plan(equation, std::move(reading));
  }

  /// Of a compiled plan.
  template <class Take>
  Call(const char* verb, const PythonPlan& plan, const nb::args& operands, const nb::kwargs& keywords, Take take)
      : plan_(plan.plan), run_(plan.defaults) {
    read_operands(operands);
    read_keywords(verb, keywords, [&](std::string_view key, nb::handle value) {
      return take_run(key, value, run_) || take_progress(key, value) || take(key, value, arrays_);
    });
  }

  [[nodiscard]] const Plan& plan() const { return *plan_; }
  [[nodiscard]] const std::vector<Tensor>& operands() const { return operands_; }
  [[nodiscard]] Library library() const { return arrays_.library(); }

  /// Asks the plan without the interpreter lock: `question` is given the plan, the operands and the run's options.
  template <class Question>
  auto ask(Question question) {
    Interrupt interrupt;
    run_.cancelled = interrupt.callback();
    if (progress_.is_valid()) run_.progress = report(interrupt);
    auto answer = without_lock(interrupt, [&] { return question(*plan_, std::span<const Tensor>(operands_), run_); });
    if (interrupt.raised()) throw std::move(*interrupt.raised());
    return answer;
  }

 private:
  void read_operands(const nb::args& operands);
  void find_plan(nb::str equation, EinsumOptions reading);
  bool take_progress(std::string_view key, nb::handle value);
  std::function<void(double)> report(Interrupt& interrupt);

  Arrays arrays_;
  std::vector<Tensor> operands_;
  std::optional<Plan> plan_;
  RunOptions run_;
  nb::object progress_;
};

}  // namespace plated::python
