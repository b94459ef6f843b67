// Defines a verb twice: as a function of an equation and as a method of plated.Plan.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>
#include <string>

#include "call.hpp"
#include "model_call.hpp"

namespace plated::python {

/// What the verbs of an equation share, as Python spells it.
inline constexpr const char* equation_arguments =
    "equation: str, *operands: _Array, plates: str = '', chains: Mapping[str, str | Sequence[str]] | None = None, "
    "batch: str = '', semiring: str = 'log', lengths: Mapping[str, _Integers] | None = None, "
    "weights: Mapping[str, _Array | float] | None = None, sizes: Mapping[str, int] | None = None, "
    "evidence: Mapping[str, _Integers] | None = None, threads: int = 0, memory_limit: int = 0, check: str = 'all', "
    "spaced: bool | None = None, "
    "progress: Callable[[float], object] | None = None";
inline constexpr const char* plan_arguments =
    "self, *operands: _Array | Mapping[str, _Array], semiring: str = ..., lengths: Mapping[str, _Integers] | None = "
    "None, "
    "weights: Mapping[str, _Array | float] | None = None, sizes: Mapping[str, int] | None = None, "
    "evidence: Mapping[str, _Integers] | None = None, threads: int = ..., memory_limit: int = ..., check: str = ..., "
    "progress: Callable[[float], object] | None = None";

/// nanobind keeps the address of a signature.
inline const char* signature(const char* name, const char* shared, const std::string& own, const char* result) {
  const std::string text = std::string("def ") + name + "(" + shared + own + ") -> " + result;
  auto* const kept = new char[text.size() + 1];
  std::copy_n(text.c_str(), text.size() + 1, kept);
  return kept;
}

/// `Verb` has a name, the text of its own arguments and of its result, `take` for the former, and `answer`.
template <class Verb>
void define_function(nb::module_& module, const char* documentation) {
  module.def(
      Verb::name,
      [](nb::str equation, const nb::args& operands, const nb::kwargs& keywords) {
        Verb verb;
        Call call(
            Verb::name, std::move(equation), operands, keywords,
            [&](std::string_view key, nb::handle value, Arrays& arrays) { return verb.take(key, value, arrays); });
        return verb.answer(call);
      },
      nb::arg("equation"), nb::arg("operands"), nb::arg("keywords"),
      nb::sig(signature(Verb::name, equation_arguments, Verb::arguments, Verb::result)), documentation);
}

template <class Verb>
void define_method(nb::class_<PythonPlan>& plan, const char* name, const char* documentation) {
  plan.def(
      name,
      [](const PythonPlan& self, const nb::args& operands, const nb::kwargs& keywords) {
        Verb verb;
        Call call(Verb::name, self, operands, keywords, [&](std::string_view key, nb::handle value, Arrays& arrays) {
          return verb.take(key, value, arrays);
        });
        return verb.answer(call);
      },
      nb::sig(signature(name, plan_arguments, Verb::arguments, Verb::result)), documentation);
}

template <class Verb>
void define(nb::module_& module, nb::class_<PythonPlan>& plan, const char* documentation) {
  define_function<Verb>(module, documentation);
  define_method<Verb>(plan, Verb::name, "What the function of the same name gives, on this plan.");
}

/// The same of a verb whose answer keeps its call.
template <class Verb>
void define_kept(nb::module_& module, nb::class_<PythonPlan>& plan, const char* documentation) {
  const auto take_nothing = [](std::string_view, nb::handle, Arrays&) { return false; };
  module.def(
      Verb::name,
      [take_nothing](nb::str equation, const nb::args& operands, const nb::kwargs& keywords) {
        return Verb{}.answer(std::make_unique<Call>(Verb::name, std::move(equation), operands, keywords, take_nothing));
      },
      nb::arg("equation"), nb::arg("operands"), nb::arg("keywords"),
      nb::sig(signature(Verb::name, equation_arguments, Verb::arguments, Verb::result)), documentation);
  plan.def(
      Verb::name,
      [take_nothing](const PythonPlan& self, const nb::args& operands, const nb::kwargs& keywords) {
        return Verb{}.answer(std::make_unique<Call>(Verb::name, self, operands, keywords, take_nothing));
      },
      nb::sig(signature(Verb::name, plan_arguments, Verb::arguments, Verb::result)),
      "What the function of the same name gives, on this plan.");
}

void define_evaluation(nb::module_& module, nb::class_<PythonPlan>& plan);
void define_values(nb::module_& module, nb::class_<PythonPlan>& plan);
void define_posteriors(nb::module_& module, nb::class_<PythonPlan>& plan);
void define_assignments(nb::module_& module, nb::class_<PythonPlan>& plan);
void define_graph(nb::module_& module);
void define_plan(nb::module_& module, nb::class_<PythonPlan>& plan);
void define_model(nb::module_& module);
void define_model_files(nb::module_& module);
void define_model_verbs(nb::class_<PythonModel>& model);
void define_fit(nb::module_& module, nb::class_<PythonModel>& model);

/// A class of plated._answers.
[[nodiscard]] nb::object answer_class(const char* name);

}  // namespace plated::python
