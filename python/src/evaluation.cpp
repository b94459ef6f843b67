// evaluate and plated.Evaluation: a forward run that is kept, and the questions asked of it.
#include "plated/evaluation.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>

#include "answers.hpp"
#include "errors.hpp"
#include "verb.hpp"

namespace plated::python {
namespace {

/// What is asked whether to stop: the question of the moment.
struct Asked {
  std::mutex one_at_a_time;
  std::function<bool()> cancelled;
};

/// An evaluation, and the arrays that it references.
class PythonEvaluation {
 public:
  PythonEvaluation(std::unique_ptr<Call> call, std::shared_ptr<Asked> asked, Evaluation evaluation)
      : call_(std::move(call)), asked_(std::move(asked)), evaluation_(std::move(evaluation)) {}

  [[nodiscard]] Library library() const { return call_->library(); }
  [[nodiscard]] const Evaluation& evaluation() const { return evaluation_; }

  /// Asks without the interpreter lock, one question at a time.
  template <class Question>
  auto ask(Question question) {
    Interrupt interrupt;
    auto answer = without_lock(interrupt, [&] {
      const std::lock_guard lock(asked_->one_at_a_time);
      asked_->cancelled = interrupt.callback();
      struct Done {
        std::function<bool()>& callback;
        ~Done() { callback = {}; }
      } done{asked_->cancelled};
      return question(evaluation_);
    });
    if (interrupt.raised()) throw std::move(*interrupt.raised());
    return answer;
  }

 private:
  std::unique_ptr<Call> call_;
  std::shared_ptr<Asked> asked_;
  Evaluation evaluation_;
};

struct Evaluate {
  static constexpr const char* name = "evaluate";
  static constexpr const char* arguments = "";
  static constexpr const char* result = "Evaluation";

  bool take(std::string_view, nb::handle, Arrays&) { return false; }
  PythonEvaluation answer(std::unique_ptr<Call> call) {
    auto asked = std::make_shared<Asked>();
    Evaluation evaluation = call->ask([&](const Plan& plan, std::span<const Tensor> operands, const RunOptions& given) {
      RunOptions run = given;
      asked->cancelled = given.cancelled;
      run.cancelled = [asked] { return asked->cancelled && asked->cancelled(); };
      run.progress = {};
      return plan.evaluate(operands, run);
    });
    asked->cancelled = {};
    return {std::move(call), std::move(asked), std::move(evaluation)};
  }
};

nb::object gradient(PythonEvaluation& self, const nb::object& cotangents, const nb::object& wrt) {
  Arrays arrays;
  std::vector<Tensor> given;
  if (!cotangents.is_none()) given = cotangents_of(cotangents, arrays);
  const std::optional<std::vector<std::int64_t>> wanted =
      wrt.is_none() ? std::nullopt : std::optional(operands_named(wrt));
  std::vector<Tensor> gradients =
      self.ask([&](const Evaluation& e) { return wanted ? e.gradient(given, *wanted) : e.gradient(given); });
  return to_list(std::move(gradients), self.library());
}

nb::object marginals(PythonEvaluation& self, const nb::kwargs& keywords) {
  MarginalOptions wanted;
  read_keywords("marginals", keywords,
                [&](std::string_view key, nb::handle value) { return take_marginals(key, value, wanted); });
  Marginals posterior = self.ask([&](const Evaluation& e) { return e.marginals(wanted); });
  return to_python(std::move(posterior), self.library());
}

void update(PythonEvaluation& self, const nb::object& operand, const nb::object& index) {
  std::vector<std::int64_t> at;
  const bool several = nb::isinstance<nb::tuple>(index) || nb::isinstance<nb::list>(index);
  if (several) {
    for (const nb::handle item : list_of("index", index)) at.push_back(integer_of<std::int64_t>("index", item));
  } else {
    at.push_back(integer_of<std::int64_t>("index", index));
  }
  const bool by_name = nb::isinstance<nb::str>(operand);
  const std::string name = by_name ? std::string(text_of("operand", operand)) : "";
  const auto number = by_name ? std::int64_t{0} : integer_of<std::int64_t>("operand", operand);
  if (number < 0) throw OperandCountError("operand " + std::to_string(number) + " has changed: operands count from 0");
  self.ask([&](Evaluation e) {
    by_name ? e.update(name, at) : e.update(static_cast<std::size_t>(number), at);
    return true;
  });
}

}  // namespace

void define_evaluation(nb::module_& module, nb::class_<PythonPlan>& plan) {
  nb::class_<PythonEvaluation>(module, "Evaluation",
                               R"(A forward run whose values are kept; plated.evaluate and Plan.evaluate make one.

Questions start from what was computed: nothing runs forward again (in the real semiring the first question about a
posterior does so once, in log space). The operands are referenced, not copied.

>>> import numpy as np, plated
>>> prior, seen = np.log([0.5, 0.5]), np.log([[0.9, 0.2], [0.8, 0.3], [0.1, 0.7]])
>>> e = plated.evaluate("c,ic->", prior, seen, plates="i")
>>> print(e.value().round(3), e.marginals()["c"].round(3))
-2.865 [0.632 0.368]
>>> seen[2] = np.log([0.9, 0.3])
>>> e.update(1, 2)                                            # slice 2 of operand 1 has changed
>>> e.marginals()["c"].round(3)
array([0.973, 0.027]))")
      .def_prop_ro(
          "semiring", [](const PythonEvaluation& self) { return std::string(name(self.evaluation().semiring())); },
          "The semiring that it was run in.")
      .def(
          "value",
          [](PythonEvaluation& self) {
            return one_or_tuple(self.ask([](const Evaluation& e) { return e.value(); }), self.library());
          },
          nb::sig("def value(self) -> _Array | tuple[_Array, ...]"), "The outputs, as the plan's own call gives them.")
      .def(
          "gradient", &gradient, nb::arg("cotangents") = nb::none(), nb::arg("wrt") = nb::none(),
          nb::sig("def gradient(self, cotangents: _Array | Sequence[_Array] | None = None, wrt: Sequence[int] | None = "
                  "None) -> list[_Array | None]"),
          "What value_and_gradient gives second; without cotangents, with ones. In the log and real semirings.")
      .def("marginals", &marginals,
           nb::sig("def marginals(self, *, variables: bool = True, factors: bool = False, sets: "
                   "Sequence[Sequence[str]] = (), ends: bool = False, filtered: bool = False, log: bool = False) -> "
                   "Marginals"),
           "The posterior of every variable, as plated.marginals gives it. In the log and real semirings.")
      .def(
          "sample",
          [](PythonEvaluation& self, const nb::object& n, const nb::object& seed, const nb::object& first) {
            const SampleOptions draws{.count = integer_of<std::int64_t>("n", n),
                                      .seed = integer_of<std::uint64_t>("seed", seed),
                                      .first = integer_of<std::int64_t>("first", first)};
            return to_dict(self.ask([&](const Evaluation& e) { return e.sample(draws); }), self.library());
          },
          nb::arg("n") = 1, nb::arg("seed") = 0, nb::arg("first") = 0,
          nb::sig("def sample(self, n: int = 1, seed: int = 0, first: int = 0) -> dict[str, _Array]"),
          "Exact joint samples, as plated.sample gives them. In the log and real semirings.")
      .def(
          "entropy",
          [](PythonEvaluation& self) {
            return to_python(self.ask([](const Evaluation& e) { return e.entropy(); }), self.library());
          },
          nb::sig("def entropy(self) -> _Array"),
          "The entropy of the joint posterior, in nats. In the log and real semirings.")
      .def(
          "expectation",
          [](PythonEvaluation& self, const nb::object& statistics) {
            Arrays arrays;
            const std::vector<Tensor> given = arrays.read_all(statistics, "statistics", true);
            return to_python(self.ask([&](const Evaluation& e) { return e.expectation(given); }), self.library());
          },
          nb::arg("statistics"), nb::sig("def expectation(self, statistics: Sequence[_Array | None]) -> _Array"),
          "The posterior mean of additive statistics. In the log and real semirings.")
      .def(
          "map",
          [](PythonEvaluation& self) {
            return to_python(self.ask([](const Evaluation& e) { return e.map(); }), self.library());
          },
          nb::sig("def map(self) -> MapResult"),
          "The jointly best assignment. In the max_plus, max_product and min_plus semirings.")
      .def(
          "max_marginals",
          [](PythonEvaluation& self) {
            return to_dict(self.ask([](const Evaluation& e) { return e.max_marginals(); }), self.library());
          },
          nb::sig("def max_marginals(self) -> dict[str, _Array]"),
          "The best score with each state. In the max_plus, max_product and min_plus semirings.")
      .def("update", &update, nb::arg("operand"), nb::arg("index"),
           nb::sig("def update(self, operand: int | str, index: int | Sequence[int]) -> None"),
           R"(Tells that one slice of an operand, by number or name, was changed in place.

``index`` is that of its first plate, or a tuple along its plates. Of M slices, O(log M) work brings ``value()`` up to date,
with the bits of a fresh evaluation.)");
  define_kept<Evaluate>(module, plan,
                        R"(Runs a model forward once and keeps what was computed, for any number of questions.

>>> import numpy as np, plated
>>> e = plated.evaluate("x,xy->", np.log([0.5, 0.5]), np.log([[0.9, 0.1], [0.2, 0.8]]))
>>> print(e.marginals()["y"].round(3), e.entropy().round(3))
[0.55 0.45] 1.106

``plan.evaluate`` is the same of a plan. Models with chains cannot be evaluated: ask their plan.)");
}

}  // namespace plated::python
