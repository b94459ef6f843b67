// The verbs on models: log_partition, marginals, max_marginals, map, sample, entropy, leave_one_out, explain.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "answers.hpp"
#include "model_call.hpp"
#include "plated/error.hpp"
#include "verb.hpp"

namespace plated::python {
namespace {

constexpr const char* shared_arguments =
    ", evidence: Mapping[str, object] | None = None, lengths: Mapping[str, _Integers] | None = None, threads: int = 0, "
    "memory_limit: int = 0, progress: Callable[[float], object] | None = None";

const auto take_nothing = [](std::string_view, nb::handle) { return false; };

/// A class of plated._models, made from an answer and the model that knows its axes and names.
nb::object with_names(const char* type, nb::handle model, nb::object answer) {
  return nb::module_::import_("plated._models").attr(type)(nb::borrow(model), answer);
}

/// A query as Python writes it: names, and tuples of names that are asked for jointly. One alone is a list of one.
nb::list query_of(nb::handle value) {
  if (!nb::isinstance<nb::str>(value) && !nb::isinstance<nb::tuple>(value)) return list_of("query", value);
  nb::list one;
  one.append(value);
  return one;
}

std::vector<std::vector<std::string>> names_in(const nb::list& query) {
  std::vector<std::vector<std::string>> result;
  for (const nb::handle entry : query) {
    if (nb::isinstance<nb::str>(entry) || nb::isinstance<nb::tuple>(entry)) {
      result.push_back(strings("a name in query", entry));
      continue;
    }
    PyErr_Format(PyExc_TypeError, "query must have names and tuples of names, as in ['x', ('y', 'z')], not %R",
                 entry.ptr());
    throw nb::python_error();
  }
  return result;
}

nb::object ask_log_partition(const PythonModel& model, const nb::kwargs& keywords) {
  ModelCall call("log_partition", model, keywords, take_nothing);
  return to_python(call.ask([&](const SolveOptions& options) { return log_partition(model, options); }),
                   Library::numpy);
}

/// By variable, in the model's order and not the alphabet's.
template <class Answer>
nb::dict in_order(const PythonModel& model, std::map<std::string, Answer> answers) {
  nb::dict result;
  for (const std::string& variable : variables(model)) {
    const auto found = answers.find(variable);
    if (found != answers.end()) result[nb::cast(variable)] = to_python(std::move(found->second), Library::numpy);
  }
  return result;
}

nb::object ask_marginals(nb::handle self, const nb::kwargs& keywords) {
  const auto& model = nb::cast<const PythonModel&>(self);
  nb::object query = nb::none();
  ModelCall call("marginals", model, keywords, [&](std::string_view key, nb::handle value) {
    if (key != "query") return false;
    query = nb::borrow(value);
    return true;
  });
  nb::dict answers;
  if (query.is_none()) {
    auto all = call.ask([&](const SolveOptions& options) { return marginals(model, options); });
    answers = in_order(model, std::move(all));
  } else {
    const nb::list wanted = query_of(query);
    const auto names = names_in(wanted);
    auto tensors = call.ask([&](const SolveOptions& options) { return marginals(model, names, options); });
    for (std::size_t k = 0; k < tensors.size(); ++k) {
      answers[wanted[k]] = to_python(std::move(tensors[k]), Library::numpy);
    }
  }
  return with_names("ModelMarginals", self, answers);
}

nb::object ask_map(nb::handle self, const nb::kwargs& keywords) {
  const auto& model = nb::cast<const PythonModel&>(self);
  ModelCall call("map", model, keywords, take_nothing);
  MapResult best = call.ask([&](const SolveOptions& options) { return plated::map(model, options); });
  return answer_class("MapResult")(to_python(std::move(best.score), Library::numpy),
                                   with_names("ModelAssignment", self, in_order(model, std::move(best.assignment))));
}

nb::object ask_sample(nb::handle self, const nb::kwargs& keywords) {
  const auto& model = nb::cast<const PythonModel&>(self);
  SampleOptions draws;
  ModelCall call("sample", model, keywords,
                 [&](std::string_view key, nb::handle value) { return take_draws(key, value, draws); });
  auto drawn = call.ask([&](const SolveOptions& options) { return sample(model, draws, options); });
  return with_names("ModelSamples", self, in_order(model, std::move(drawn)));
}

nb::object ask_max_marginals(const PythonModel& model, const nb::kwargs& keywords) {
  ModelCall call("max_marginals", model, keywords, take_nothing);
  auto scores = call.ask([&](const SolveOptions& options) { return max_marginals(model, options); });
  return in_order(model, std::move(scores));
}

nb::object ask_leave_one_out(const PythonModel& model, const std::string& plate, const nb::kwargs& keywords) {
  std::vector<std::string> factors;
  ModelCall call("leave_one_out", model, keywords, [&](std::string_view key, nb::handle value) {
    if (key != "factors") return false;
    factors = strings(key, value);
    return true;
  });
  return to_python(call.ask([&](const SolveOptions& options) { return leave_one_out(model, plate, options, factors); }),
                   Library::numpy);
}

nb::object ask_entropy(const PythonModel& model, const nb::kwargs& keywords) {
  ModelCall call("entropy", model, keywords, take_nothing);
  return to_python(call.ask([&](const SolveOptions& options) { return entropy(model, options); }), Library::numpy);
}

Question::Kind kind_of(std::string_view verb) {
  if (verb == "log_partition") return Question::Kind::value;
  for (const auto kind :
       {Question::Kind::marginals, Question::Kind::map, Question::Kind::sample, Question::Kind::entropy}) {
    if (name(kind) == verb) return kind;
  }
  throw OptionError("question is '" + std::string(verb) +
                    "', and it can be log_partition, marginals, map, sample, entropy");
}

nb::object ask_explain(const PythonModel& model, const std::string& question, const nb::kwargs& keywords) {
  const Question::Kind kind = kind_of(question);
  std::vector<std::string> observed;
  ModelCall call("explain", model, keywords, [&](std::string_view key, nb::handle value) {
    if (key != "observed") return false;
    observed = strings(key, value);
    return true;
  });
  Explanation told = call.ask([&](const SolveOptions& options) { return explain(model, kind, options, observed); });
  nb::list plans;
  for (Plan& plan : told.plans) plans.append(PythonPlan{std::move(plan), {.semiring = told.question.semiring}});
  return answer_class("Explanation")(question, told.absorbed, told.determined, told.impossible, told.dropped,
                                     to_python(told.cost), told.sweeps, plans);
}

const char* verb_signature(const char* verb, const char* own, const char* result) {
  return signature(verb, "self, *", std::string(own) + shared_arguments, result);
}

}  // namespace

void define_model_verbs(nb::class_<PythonModel>& model) {
  model
      .def("log_partition", &ask_log_partition, nb::sig(verb_signature("log_partition", "", "_Array")),
           R"(ln Z, one for each batch: of a normalised model ln P(evidence), -inf where that is impossible.

>>> import numpy as np, plated
>>> graph = plated.FactorGraph.from_equation("rain, rain wet ->", (2,), (2, 2))
>>> model = plated.Model(graph, {"f0": [0.8, 0.2], "f1": [[0.9, 0.1], [0.2, 0.8]]}, space="real")
>>> print(np.exp(model.log_partition(evidence={"wet": 1})).round(3))
0.24)")
      .def("marginals", &ask_marginals,
           nb::sig(verb_signature("marginals", ", query: str | Sequence[str | tuple[str, ...]] | None = None",
                                  "ModelMarginals")),
           R"(Posteriors by variable, observed ones too; a tuple in ``query`` is asked for jointly, in its order.

>>> import numpy as np, plated
>>> graph = plated.FactorGraph.from_equation("rain, rain wet ->", (2,), (2, 2))
>>> model = plated.Model(graph, {"f0": [0.8, 0.2], "f1": [[0.9, 0.1], [0.2, 0.8]]}, space="real",
...                      states={"rain": ["no", "yes"]})
>>> model.marginals(evidence={"wet": 1})["rain"].round(3)
array([0.333, 0.667])
>>> model.marginals(query=[("wet", "rain")])["wet", "rain"].round(3)
array([[0.72, 0.04],
       [0.08, 0.16]])

Axes: batch dims, plates, chains, states. ``evidence`` has states by name or number, in arrays shaped by the variable's
plates; -1, None, NaN and what is masked are not observed. What it says of a variable replaces the model's own evidence.
Variables that nobody asks for and nothing depends on are left out. ``to_pandas()`` gives tables with names. Raises
ImpossibleError where the evidence contradicts the model.)")
      .def("map", &ask_map, nb::sig(verb_signature("map", "", "MapResult")),
           R"(The jointly most probable assignment: ``score``, ln of its weight, and ``assignment`` by variable.

>>> import plated
>>> graph = plated.FactorGraph.from_equation("rain, rain wet ->", (2,), (2, 2))
>>> model = plated.Model(graph, {"f0": [0.8, 0.2], "f1": [[0.9, 0.1], [0.2, 0.8]]}, space="real")
>>> model.map(evidence={"wet": 1}).assignment
{'rain': array(1), 'wet': array(1)})")
      .def("sample", &ask_sample,
           nb::sig(verb_signature("sample", ", n: int = 1, seed: int = 0, first: int = 0", "ModelSamples")),
           R"(Exact joint samples of every variable given the evidence, with a leading axis of ``n``.

>>> import plated
>>> graph = plated.FactorGraph.from_equation("rain, rain wet ->", (2,), (2, 2))
>>> model = plated.Model(graph, {"f0": [0.8, 0.2], "f1": [[0.9, 0.1], [0.2, 0.8]]}, space="real")
>>> draws = model.sample(n=1000, seed=1, evidence={"wet": 1})
>>> draws["rain"].shape, bool(0.6 < draws["rain"].mean() < 0.74)
((1000,), True))")
      .def("max_marginals", &ask_max_marginals, nb::sig(verb_signature("max_marginals", "", "dict[str, _Array]")),
           R"(For every variable, slice and state ln of the weight of the best assignment that has it; -inf if none can.

>>> import numpy as np, plated
>>> graph = plated.FactorGraph.from_equation("rain, rain wet ->", (2,), (2, 2))
>>> model = plated.Model(graph, {"f0": [0.8, 0.2], "f1": [[0.9, 0.1], [0.2, 0.8]]}, space="real")
>>> np.exp(model.max_marginals(evidence={"wet": 1})["rain"]).round(3)
array([0.08, 0.16]))")
      .def("leave_one_out", &ask_leave_one_out, nb::arg("plate"), nb::arg("keywords"),
           nb::sig(signature("leave_one_out", "self, plate: str, *, factors: Sequence[str] = ()", shared_arguments,
                             "_Array")),
           R"(For each slice of a plate ln Z - ln Z without it and its evidence: of a normalised model
ln p(what is observed in the slice | all other slices).

>>> import numpy as np, plated
>>> graph = plated.FactorGraph.from_equation("bias, toss bias side ->", (2,), (3, 2, 2), plates="toss")
>>> model = plated.Model(graph, {"f0": [0.5, 0.5], "f1": [[[0.5, 0.5], [0.9, 0.1]]] * 3}, space="real")
>>> np.exp(model.leave_one_out("toss", evidence={"side": [0, 0, 1]})).round(3)
array([0.606, 0.606, 0.194])

Of a chain the named ``factors`` of a slice are left out, and one must be named. Axes: batch dims, the plate.)")
      .def("entropy", &ask_entropy, nb::sig(verb_signature("entropy", "", "_Array")),
           "The entropy of the joint posterior, in nats, one for each batch.")
      .def("explain", &ask_explain, nb::arg("question") = "log_partition", nb::arg("keywords"),
           nb::sig(signature("explain", "self, question: str = 'log_partition', *, observed: Sequence[str] = ()",
                             shared_arguments, "Explanation")),
           R"(What answering would take, without running anything: the reduction, the plans and their cost.

>>> import plated
>>> graph = plated.FactorGraph.from_equation("rain, rain wet ->", (2,), (2, 2))
>>> model = plated.Model(graph, {"f0": [0.8, 0.2], "f1": [[0.9, 0.1], [0.2, 0.8]]}, space="real")
>>> model.explain("marginals", evidence={"wet": 1}).absorbed
1

Questions have the names of the verbs. ``observed`` are variables as if there were evidence of all their slices, of
whichever states. Raises IntractableError, with its certificate.)");
}

}  // namespace plated::python
