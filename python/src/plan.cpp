// plated.compile, plated.analyze and plated.Plan.
#include "plated/plan.hpp"

#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "answers.hpp"
#include "draw.hpp"
#include "errors.hpp"
#include "verb.hpp"

namespace plated::python {
namespace {

nb::object cost_of(const Plan& plan, const Question& question, const std::map<std::string, std::int64_t>& sizes,
                   Dtype dtype) {
  return to_python(plan.cost(question, sizes, dtype));
}

/// A graph as it is, or that of an equation on operands or their shapes.
FactorGraph graph_of(nb::handle model, const nb::args& operands, const EinsumOptions& reading, bool any_reading) {
  if (nb::isinstance<FactorGraph>(model)) {
    if (operands.size() > 0 || any_reading) {
      throw OptionError(
          "a FactorGraph knows its shapes, plates and chains: give no operands, and only options of the plan");
    }
    return nb::cast<const FactorGraph&>(model);
  }
  return FactorGraph::from_equation(text_of("model", model), shapes_of(operands), reading.reading());
}

PythonPlan compile_model(const char* function, nb::handle model, const nb::args& operands, const nb::kwargs& keywords,
                         std::vector<Question> questions = {}) {
  EinsumOptions reading;
  reading.plan.questions = std::move(questions);
  RunOptions defaults;
  nb::dict options;
  bool any_reading = false;
  read_keywords(function, keywords, [&](std::string_view key, nb::handle value) {
    if (key == "evidence" || key == "lengths" || key == "weights") return false;  // data, and a plan has none
    if (key == "sizes") {
      reading.sizes = sizes_of(value);
      any_reading = any_reading || !reading.sizes.empty();
      return true;
    }
    if (take_run(key, value, defaults) || take_plan(key, value, reading.plan)) {
      options[nb::cast(std::string(key))] = value;
      return true;
    }
    const bool taken = take_equation(key, value, reading);
    any_reading = any_reading || taken;
    return taken;
  });
  const FactorGraph graph = graph_of(model, operands, reading, any_reading);
  Interrupt interrupt;
  reading.plan.memory_limit = defaults.memory_limit;
  reading.plan.cancelled = interrupt.callback();
  return {without_lock(interrupt, [&] { return compile(graph, reading.plan); }), std::move(defaults),
          std::move(options)};
}

nb::list output_shapes(const PythonPlan& plan) {
  nb::list shapes;
  for (const Output& output : plan.plan.graph().outputs()) {
    nb::list shape;
    for (const DimId dim : output.dims) shape.append(plan.plan.graph().dims()[dim].size);
    shapes.append(nb::tuple(shape));
  }
  return shapes;
}

nb::object analysis_of(const PythonPlan& plan) {
  return answer_class("Analysis")(true, nb::none(), nb::list(),
                                  cost_of(plan.plan, {.semiring = plan.defaults.semiring}, {}, Dtype::float32),
                                  plan.plan.elimination_order(), plan.plan.dropped(), plan.plan.steps());
}

nb::object analyze(nb::handle model, const nb::args& operands, const nb::kwargs& keywords) {
  try {
    return analysis_of(compile_model("analyze", model, operands, keywords, {Question{}}));
  } catch (const IntractableError& error) {
    const nb::object python = python_error_of(error);
    return answer_class("Analysis")(false, python.attr("certificate"), python.attr("repairs"), nb::none(), nb::list(),
                                    nb::list(), 0);
  }
}

/// What runs will be given: names of plates, and of variables.
struct Given {
  const nb::object& weights;
  const nb::object& lengths;
  const nb::object& observed;
  const nb::object& partly_observed;
};

/// A question by its name, or by its name and what belongs to it: ("leave_one_out", "i").
Question question_of(const PythonPlan& plan, const nb::object& asked, const nb::object& semiring, const Given& given) {
  Question question{.semiring = semiring.is_none() ? plan.defaults.semiring : semiring_of(semiring),
                    .weights = strings("weights", given.weights),
                    .lengths = strings("lengths", given.lengths),
                    .observed = strings("observed", given.observed),
                    .partly_observed = strings("partly_observed", given.partly_observed)};
  if (asked.is_none()) return question;
  if (nb::isinstance<nb::tuple>(asked) && nb::len(asked) == 2) {
    question.kind = question_kind(text_of("question", asked[0]));
    question.plate = text_of("the plate of a question", asked[1]);
  } else {
    question.kind = question_kind(text_of("question", asked));
  }
  return question;
}

nb::object cost(const PythonPlan& plan, const nb::object& question, const nb::object& sizes, const nb::object& semiring,
                const nb::object& dtype, const nb::object& weights, const nb::object& lengths,
                const nb::object& observed, const nb::object& partly_observed) {
  const Given given{weights, lengths, observed, partly_observed};
  return cost_of(plan.plan, question_of(plan, question, semiring, given), sizes_of(sizes), dtype_of_name(dtype));
}

std::string print(const PythonPlan& plan, const nb::object& question, const nb::object& weights,
                  const nb::object& lengths, const nb::object& observed, const nb::object& partly_observed) {
  return plan.plan.print(question_of(plan, question, nb::none(), {weights, lengths, observed, partly_observed}));
}

}  // namespace

void define_plan(nb::module_& module, nb::class_<PythonPlan>& plan) {
  constexpr const char* arguments =
      "model: FactorGraph | str, *operands: _Array | Sequence[int], plates: str = '', "
      "chains: Mapping[str, str | Sequence[str]] | None = None, batch: str = '', sizes: Mapping[str, int] | None = "
      "None, "
      "spaced: bool | None = None, semiring: str = 'log', threads: int = 0, memory_limit: int = 0, check: str = "
      "'all', "
      "search: str = 'automatic', trials: int = 128, seed: int = 0, seconds: float = 0.0, sums_only: bool = False, "
      "observable: Sequence[str] = (), questions: Sequence[str] = (), without: Sequence[str] = ()";
  module.def(
      "compile",
      [](nb::handle model, const nb::args& operands, const nb::kwargs& keywords) {
        return compile_model("compile", model, operands, keywords);
      },
      nb::arg("model"), nb::arg("operands"), nb::arg("keywords"), nb::sig(signature("compile", arguments, "", "Plan")),
      R"(Plans a graph, or an equation on operands of these shapes, to be run on many data sets.

>>> import numpy as np, plated
>>> plan = plated.compile("x,ixy->", (3,), (1000, 3, 2), plates="i")
>>> print(plan(np.zeros(3), np.zeros((1000, 3, 2))).round(3))
694.246

``semiring``, ``threads``, ``memory_limit`` and ``check`` are the defaults of its runs; where the cheapest order would
not fit into the limit, one that needs less memory is looked for. ``observable``
names the variables that runs may observe by ``evidence``. Questions are planned when they are first asked; those that
``questions`` names, as in ``questions=["marginals"]``, at once. Raises IntractableError, with its certificate.)");
  module.def("analyze", &analyze, nb::arg("model"), nb::arg("operands"), nb::arg("keywords"),
             nb::sig(signature("analyze", arguments, "", "Analysis")),
             R"(Analyses a model before it is run: whether it is tractable, and why not, or its cost.

>>> import plated
>>> verdict = plated.analyze("ix,jy,ijxy->", (20, 2), (30, 2), (20, 30, 2, 2), plates="ij")
>>> verdict.tractable, verdict.certificate.u, verdict.certificate.w
(False, 'x', 'y'))");

  plan.def_prop_ro(
          "graph", [](const PythonPlan& self) { return self.plan.graph(); }, "The graph that was planned.")
      .def_prop_ro("output_shapes", &output_shapes, "The shapes of the outputs.")
      .def_prop_ro(
          "elimination_order", [](const PythonPlan& self) { return self.plan.elimination_order(); },
          "The variables in the order in which they are summed.")
      .def_prop_ro(
          "dropped", [](const PythonPlan& self) { return self.plan.dropped(); },
          "Variables that were dropped as barren.")
      .def_prop_ro(
          "steps", [](const PythonPlan& self) { return self.plan.steps(); }, "The number of steps.")
      .def_static("passes", &Plan::passes, "The optional passes, by the names that ``without`` takes.")
      .def("analyze", &analysis_of, "What is known of the plan before it is run.")
      .def("cost", &cost, nb::arg("question") = nb::none(), nb::arg("sizes") = nb::none(),
           nb::arg("semiring") = nb::none(), nb::arg("dtype") = "float32", nb::arg("weights") = nb::tuple(),
           nb::arg("lengths") = nb::tuple(), nb::arg("observed") = nb::tuple(),
           nb::arg("partly_observed") = nb::tuple(),
           nb::sig(
               "def cost(self, question: str | tuple[str, str] | None = None, sizes: Mapping[str, int] | None = None, "
               "semiring: str | None = None, dtype: object = 'float32', weights: Sequence[str] = (), "
               "lengths: Sequence[str] = (), observed: Sequence[str] = (), partly_observed: Sequence[str] = ()) -> "
               "Cost"),
           R"(The predicted cost of a question, by default of a run, at the compiled sizes but for those given.

>>> import plated
>>> plan = plated.compile("x,ixy->", (3,), (1000, 3, 2), plates="i")
>>> plan.cost("marginals").flops > plan.cost().flops > plan.cost(sizes={"i": 10}).flops
True

Questions have the names of the verbs: value, gradient, marginals, map, sample, …, ("leave_one_out", "i"). ``weights``
and ``lengths`` name the plates that runs give them for, ``observed`` and ``partly_observed`` the variables that runs
give evidence for, in all slices or in some: factors are then read at the observed states where that can be.)")
      .def(
          "print", &print, nb::arg("question") = nb::none(), nb::arg("weights") = nb::tuple(),
          nb::arg("lengths") = nb::tuple(), nb::arg("observed") = nb::tuple(), nb::arg("partly_observed") = nb::tuple(),
          nb::sig(
              "def print(self, question: str | tuple[str, str] | None = None, weights: Sequence[str] = (), "
              "lengths: Sequence[str] = (), observed: Sequence[str] = (), partly_observed: Sequence[str] = ()) -> str"),
          "The schedule of a question in the words of the paper: leaves, components, SumProduct, Product; then its "
          "sweep. ``weights``, ``lengths``, ``observed`` and ``partly_observed`` name what runs are given: see cost.")
      .def(
          "draw",
          [](const PythonPlan& self, const std::string& title, bool caption) {
            return draw_plan_svg(self.plan, {.title = title, .caption = caption});
          },
          nb::kw_only(), nb::arg("title") = "", nb::arg("caption") = true,
          "The plan as SVG, step by step, from the factors down to the outputs.")
      .def("__reduce__",
           [](nb::handle self) {
             const nb::dict options = nb::cast<const PythonPlan&>(self).options;
             return nb::module_::import_("plated._pickle").attr("reduce_plan")(self, options);
           })
      .def("__copy__", [](nb::object self) { return self; })  // plans do not change
      .def("__deepcopy__", [](nb::object self, nb::handle) { return self; })
      .def("__str__", [](const PythonPlan& self) { return self.plan.print(); })
      .def("__repr__",
           [](const PythonPlan& self) {
             return "<plated.Plan '" + self.plan.graph().equation() + "', " + std::to_string(self.plan.steps()) +
                    " steps>";
           })
      .def("_repr_html_",
           [](nb::handle self) { return nb::module_::import_("plated._answers").attr("plan_html")(self); });
}

}  // namespace plated::python
