// plated.Model.
#include "plated/model.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "draw.hpp"
#include "hint.hpp"
#include "likelihoods.hpp"
#include "model_call.hpp"
#include "verb.hpp"

namespace plated::python {
namespace {

PythonModel make(const FactorGraph& graph, nb::handle factors, const nb::kwargs& keywords) {
  ModelOptions options;
  nb::object evidence = nb::none();
  read_keywords("Model", keywords, [&](std::string_view key, nb::handle value) {
    if (key == "space") {
      options.space = space_of(key, value);
    } else if (key == "states") {
      options.states = states_of(value);
    } else if (key == "name") {
      options.name = text_of(key, value);
    } else if (key == "labels") {
      for (const auto [variable, label] : dict_of(key, value)) {
        options.labels.emplace(text_of("a name in labels", variable), text_of("a label", label));
      }
    } else if (key == "observed") {
      for (std::string& variable : strings(key, value)) options.observed.insert(std::move(variable));
    } else if (key == "evidence") {
      evidence = nb::borrow(value);
    } else if (key == "lengths") {
      options.lengths = lengths_of(value);
    } else if (key == "learn") {
      for (const std::string& factor : strings(key, value)) options.learning[factor].learn = true;
    } else if (key == "same_as") {
      for (const auto [factor, other] : dict_of(key, value)) {
        options.learning[std::string(text_of("a name in same_as", factor))].same_as = text_of("a factor", other);
      }
    } else if (key == "prior") {
      for (auto& [factor, counts] : numbers_of(value)) options.learning[factor].prior = counts;
    } else if (key == "likelihoods") {
      options.likelihoods = likelihoods_of(value);
    } else if (key == "measurements") {
      if (!value.is_none()) options.measurements = numbers_of(value);
    } else {
      return false;
    }
    return true;
  });
  PythonModel model{make_model(graph, numbers_of(factors), std::move(options))};
  Lists lists;
  Evidence seen = evidence_of(model, evidence, &lists);          // by names that the model now knows
  for (auto& [variable, states] : seen) states = states.copy();  // the caller may write to its arrays
  observe(model, seen);
  for (auto& [variable, list] : lists) {
    list.states = list.states.copy();
    for (auto& [plate, slices] : list.slices) slices = slices.copy();
    observe(model, variable, list);
  }
  const bool logarithms = model.space == Space::log;
  if (is_first_look(model.graph.equation(), logarithms ? Semiring::log : Semiring::real)) {
    hint_at_space(model.graph, model.factors, logarithms);
  }
  return model;
}

nb::dict factors(const PythonModel& model) {
  nb::dict dict;
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    if (model.likelihoods.contains(model.graph.factors()[f].name)) continue;
    dict[nb::cast(model.graph.factors()[f].name)] = read_only(model.factors[f]);
  }
  return dict;
}

/// Of every variable: names in a tuple, or the range of its numbers.
nb::dict states(const PythonModel& model) {
  const nb::object range = nb::module_::import_("builtins").attr("range");
  nb::dict dict;
  for (const std::string& variable : variables(model)) {
    const auto named = model.states.find(variable);
    dict[nb::cast(variable)] = named == model.states.end() ? range(model.graph.dims()[*model.graph.find(variable)].size)
                                                           : nb::object(nb::tuple(nb::cast(named->second)));
  }
  return dict;
}

nb::dict labels(const PythonModel& model) {
  nb::dict dict;
  for (const auto& [variable, label] : model.labels) dict[nb::cast(variable)] = nb::cast(label);
  return dict;
}

nb::dict learning(const PythonModel& model) {
  nb::dict dict;
  for (const auto& [factor, known] : model.learning) {
    nb::dict one;
    one["learn"] = known.learn;
    one["same_as"] = known.same_as.empty() ? nb::object(nb::none()) : nb::cast(known.same_as);
    one["prior"] = known.prior.data() == nullptr ? nb::object(nb::none()) : read_only(known.prior);
    one["started"] = known.started;
    dict[nb::cast(factor)] = one;
  }
  return dict;
}

/// As plated.Long, by variable.
nb::dict lists(const PythonModel& model) {
  const nb::object make = nb::module_::import_("plated._long").attr("Long");
  nb::dict dict;
  for (const auto& [variable, list] : model.lists) {
    const nb::dict states = to_dict(Evidence{{"states", list.states}}, Library::numpy);
    dict[nb::cast(variable)] = make(states["states"], **to_dict(list.slices, Library::numpy));
  }
  return dict;
}

nb::set observed(const PythonModel& model) {
  nb::set names;
  for (const std::string& variable : model.observed) names.add(nb::cast(variable));
  return names;
}

std::string draw(const PythonModel& model, const nb::kwargs& keywords) {
  DrawCall call;
  call.options.title = model.name;
  call.options.labels = model.labels;
  call.options.observed = model.observed;
  call.options.children = model.children;
  read_keywords("draw", keywords, [&](std::string_view key, nb::handle value) { return call.take(key, value); });
  return call.svg(model.graph);
}

/// What a pickle has besides the graph and the numbers.
nb::dict rest_of(const PythonModel& model) {
  nb::dict rest;
  rest["name"] = model.name;
  rest["format"] = std::string(name(model.format));
  rest["space"] = name_of(model.space);
  rest["children"] = model.children;
  rest["directed"] = model.directed;
  rest["states"] = nb::dict();
  for (const auto& [variable, names] : model.states) rest["states"][nb::cast(variable)] = names;
  rest["labels"] = labels(model);
  rest["observed"] = std::vector<std::string>(model.observed.begin(), model.observed.end());
  rest["evidence"] = to_dict(model.evidence, Library::numpy);
  rest["lists"] = lists(model);
  rest["lengths"] = to_dict(model.lengths, Library::numpy);
  rest["learning"] = learning(model);
  rest["likelihoods"] = likelihoods(model);
  rest["measurements"] = measurements(model);
  rest["notes"] = model.notes;
  return rest;
}

/// A copy in the order of memory that the array has: bits may depend on it.
Tensor copied(const nb::object& array, const std::string& role) {
  const bool transposed = nb::cast<bool>(nb::object(array.attr("flags").attr("fnc")));
  Arrays arrays;
  const nb::object dense = transposed ? nb::object(array.attr("T")) : array;
  const Tensor copy = copy_of(arrays.read(dense, {role.c_str()}));
  if (!transposed) return copy;
  std::vector<std::size_t> axes;
  for (std::size_t a = copy.rank(); a-- > 0;) axes.push_back(a);
  return copy.permuted(axes);
}

PythonModel restored(const FactorGraph& graph, const nb::list& numbers, const nb::dict& rest) {
  PythonModel model;
  model.graph = graph;
  for (const nb::handle array : numbers) model.factors.push_back(copied(nb::borrow(array), "a factor"));
  model.name = nb::cast<std::string>(rest["name"]);
  model.format = format_of("format", rest["format"]);
  model.space = space_of("space", rest["space"]);
  model.children = nb::cast<std::vector<std::string>>(rest["children"]);
  model.directed = nb::cast<bool>(rest["directed"]);
  model.states = states_of(rest["states"]);
  for (const auto [variable, label] : nb::borrow<nb::dict>(rest["labels"])) {
    model.labels.emplace(nb::cast<std::string>(variable), nb::cast<std::string>(label));
  }
  for (std::string& variable : strings("observed", rest["observed"])) model.observed.insert(std::move(variable));
  model.evidence = integers_by_name("evidence", rest["evidence"]);
  for (const auto [variable, list] : nb::borrow<nb::dict>(rest["lists"])) {
    const auto name = nb::cast<std::string>(variable);
    model.lists.emplace(name, list_of(model, name, list));
  }
  model.lengths = integers_by_name("lengths", rest["lengths"]);
  for (const auto [factor, known] : nb::borrow<nb::dict>(rest["learning"])) {
    Learning& one = model.learning[nb::cast<std::string>(factor)];
    one.learn = nb::cast<bool>(known["learn"]);
    one.started = nb::cast<bool>(known["started"]);
    if (!nb::object(known["same_as"]).is_none()) one.same_as = nb::cast<std::string>(known["same_as"]);
    if (!nb::object(known["prior"]).is_none()) one.prior = copied(nb::object(known["prior"]), "a prior");
  }
  model.likelihoods = likelihoods_of(rest["likelihoods"]);
  model.measurements = numbers_of(rest["measurements"]);
  model.notes = nb::cast<std::vector<std::string>>(rest["notes"]);
  return model;
}

std::string shown(const PythonModel& model) {
  return "<plated.Model '" + model.name + "', " + std::to_string(variables(model).size()) + " variables, " +
         std::to_string(model.factors.size()) + " factors>";
}

}  // namespace

void define_model(nb::module_& module) {
  nb::class_<PythonModel> model(module, "Model",
                                R"(A graph with the numbers of its factors, names of states, and evidence.

>>> import plated
>>> graph = plated.FactorGraph()
>>> graph.variable("rain", 2)
>>> graph.variable("wet", 2)
>>> _ = graph.factor("prior", ["rain"])
>>> _ = graph.factor("sensor", ["rain", "wet"])
>>> model = plated.Model(graph, {"prior": [0.8, 0.2], "sensor": [[0.9, 0.1], [0.2, 0.8]]}, space="real",
...                      states={"rain": ["no", "yes"]})
>>> model.marginals(evidence={"wet": 1})["rain"].round(3)
array([0.333, 0.667])
>>> model.states["rain"]
('no', 'yes')

plated.read_model reads one from a file. The numbers are copied, and a model does not change; a notebook shows it as a
picture. Verbs first take observed variables out of the tables, then leave out impossible states and barren variables.)",
                                nb::is_weak_referenceable());
  model
      .def(
          "__init__",
          [](PythonModel* self, const FactorGraph& graph, nb::handle factors, const nb::kwargs& keywords) {
            new (self) PythonModel(make(graph, factors, keywords));
          },
          nb::arg("graph"), nb::arg("factors"), nb::arg("keywords"),
          nb::sig("def __init__(self, graph: FactorGraph, factors: Mapping[str, object], *, space: str = 'log', "
                  "states: Mapping[str, Sequence[str]] | None = None, name: str = '', "
                  "labels: Mapping[str, str] = {}, observed: Sequence[str] = (), "
                  "evidence: Mapping[str, object] | None = None, lengths: Mapping[str, _Integers] | None = None, "
                  "learn: Sequence[str] = (), prior: Mapping[str, object] = {}, same_as: Mapping[str, str] = {}, "
                  "likelihoods: Mapping[str, Mapping[str, object]] = {}, "
                  "measurements: Mapping[str, object] | None = None) -> None"),
          "From a graph and the numbers of each factor, by name: logarithms, or weights where space='real'.")
      .def_ro("name", &Model::name, "The name in the file.")
      .def_prop_ro(
          "graph", [](const PythonModel& self) { return self.graph; }, "The graph of the model.")
      .def_prop_ro("factors", &factors,
                   "The numbers of each factor but likelihoods, by name; they cannot be written to.")
      .def_prop_ro(
          "likelihoods", [](const PythonModel& self) { return likelihoods(self); },
          "Likelihoods of observed numbers by factor: family, of, zero_inflated and the parameters.")
      .def_prop_ro(
          "measurements", [](const PythonModel& self) { return measurements(self); },
          "The observed numbers of likelihoods, by name; NaN is missing.")
      .def_prop_ro(
          "space", [](const PythonModel& self) { return name_of(self.space); },
          "'log' where the numbers are logarithms, 'real' where they are weights.")
      .def_prop_ro(
          "variables", [](const PythonModel& self) { return variables(self); }, "The names of the variables, in order.")
      .def_prop_ro("states", &states, "The states of each variable in order: names, or a range of numbers.")
      .def_prop_ro("labels", &labels, "The file's names of variables whose names no equation could spell.")
      .def_prop_ro("observed", &observed, "The variables that are observed, whether or not there is evidence.")
      .def_prop_ro(
          "evidence",
          [](const PythonModel& self) {
            nb::dict all = to_dict(self.evidence, Library::numpy);
            all.update(lists(self));
            return all;
          },
          "The model's own evidence: integers by variable, -1 where nothing was observed; or plated.Long.")
      .def(
          "_evidence_with",
          [](const PythonModel& self, nb::handle more) {
            Evidence evidence = evidence_of(self, more);
            for (const auto& [variable, list] : self.lists) {
              if (evidence.contains(variable)) continue;
              throw OptionError("the evidence of '" + variable +
                                "' is a list of rows, which gradients do not read: give it as an array");
            }
            evidence.insert(self.evidence.begin(), self.evidence.end());
            return to_dict(std::move(evidence), Library::numpy);
          },
          nb::arg("evidence"), "The model's evidence and a call's, which counts alone where it names a variable.")
      .def_prop_ro(
          "lengths", [](const PythonModel& self) { return to_dict(self.lengths, Library::numpy); },
          "The lengths of ragged chains and plates.")
      .def_prop_ro(
          "learning", &learning,
          "What plated.fit should know of factors, by name: learn, same_as, prior and whether they are started.")
      .def_ro("notes", &Model::notes, "What the reader of the file found worth a line.")
      .def_ro("directed", &Model::directed, "Whether every variable has one distribution given its parents.")
      .def(
          "in_space",
          [](const PythonModel& self, nb::handle space) {
            return PythonModel{in_space(self, space_of("space", space))};
          },
          nb::arg("space"), nb::sig("def in_space(self, space: str) -> Model"),
          "The same model with its numbers as weights, 'real', or as logarithms, 'log'.")
      .def(
          "unroll", [](const PythonModel& self) { return PythonModel{unroll(self)}; },
          "The same model with copies in place of plates and chains.")
      .def("draw", &draw,
           nb::sig("def draw(self, *, title: str = ..., factor_names: bool = True, sizes: bool = True, caption: bool = "
                   "True, observed: Sequence[str] = ..., directed: bool = False, certificate: Certificate | None = "
                   "None) -> str"),
           "The model as SVG, observed variables shaded; ``directed`` draws distributions as arrows.")
      .def("__reduce__",
           [](nb::handle self) {
             const auto& held = nb::cast<const PythonModel&>(self);
             nb::list numbers;
             for (const Tensor& tensor : held.factors) numbers.append(read_only(tensor));
             return nb::module_::import_("plated._pickle").attr("reduce_model")(self, numbers, rest_of(held));
           })
      .def("__copy__", [](nb::object self) { return self; })  // models do not change
      .def("__deepcopy__", [](nb::object self, nb::handle) { return self; })
      .def("_repr_svg_", [](const PythonModel& self) { return draw(self, nb::kwargs()); })
      .def("__repr__", &shown);
  define_model_verbs(model);
  define_fit(module, model);

  module.def("_restored_model", &restored, nb::arg("graph"), nb::arg("factors"), nb::arg("rest"),
             "The model of a pickle.");
  define_model_files(module);
}

}  // namespace plated::python
