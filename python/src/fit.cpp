// Fits models to data, counts, and scores: what plated._fit is made of.
#include "plated/fit.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "likelihoods.hpp"
#include "model_call.hpp"
#include "verb.hpp"

namespace plated::python {
namespace {

/// The data of a call.
struct FitCall {
  Data data;

  bool take(std::string_view key, nb::handle value) {
    if (key == "lengths") {
      data.lengths = lengths_of(value);
    } else if (key == "weights") {
      if (!value.is_none()) {
        for (auto& [plate, weights] : numbers_of(value)) data.weights.emplace(plate, weights);
      }
    } else {
      return false;
    }
    return true;
  }
};

double real_of(std::string_view key, nb::handle value) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s must be a number, not %R", std::string(key).c_str(), value.ptr());
    throw nb::python_error();
  }
  return number;
}

/// The entries of a mapping from names.
std::vector<std::pair<std::string, nb::object>> by_name(std::string_view key, nb::handle value) {
  std::vector<std::pair<std::string, nb::object>> entries;
  if (value.is_none()) return entries;
  if (!nb::isinstance<nb::mapping>(value)) {
    PyErr_Format(PyExc_TypeError, "%s must be a mapping from a name, not %R", std::string(key).c_str(), value.ptr());
    throw nb::python_error();
  }
  for (const nb::handle name : nb::borrow<nb::mapping>(value).keys()) {
    entries.emplace_back(text_of(key, name), nb::object(value[name]));
  }
  return entries;
}

bool take_how(FitOptions& options, std::string_view key, nb::handle value) {
  if (key == "batch") {
    for (const auto& [plate, slices] : by_name(key, value)) {
      options.batch.emplace(plate, integer_of<std::int64_t>(key, slices));
    }
  } else if (key == "cross_validate") {
    for (const auto& [plate, folds] : by_name(key, value)) {
      options.cross_validate.emplace(plate, integer_of<int>(key, folds));
    }
  } else if (key == "vary") {
    for (const auto& [variable, states] : by_name(key, value)) {
      std::vector<std::int64_t>& counts = options.vary[variable];
      if (PyLong_Check(states.ptr())) {
        counts.push_back(integer_of<std::int64_t>(key, states));
      } else {
        for (const nb::handle count : nb::iter(states)) counts.push_back(integer_of<std::int64_t>(key, count));
      }
    }
  } else if (key == "learn") {
    if (!value.is_none()) options.learn = strings(key, value);
  } else if (key == "restarts") {
    options.restarts = integer_of<int>(key, value);
  } else if (key == "iterations") {
    options.iterations = integer_of<std::int64_t>(key, value);
  } else if (key == "tolerance") {
    options.tolerance = real_of(key, value);
  } else if (key == "standard_errors") {
    options.standard_errors = flag_of(key, value);
  } else if (key == "accelerate") {
    options.accelerate = flag_of(key, value);
  } else if (key == "pseudo_count") {
    options.pseudo_count = real_of(key, value);
  } else if (key == "seed") {
    options.seed = integer_of<std::uint64_t>(key, value);
  } else if (key == "threads") {
    options.threads = value.is_none() ? 0 : integer_of<int>(key, value);
  } else if (key == "memory_limit") {
    options.memory_limit = value.is_none() ? 0 : integer_of<std::int64_t>(key, value);
  } else {
    return false;
  }
  return true;
}

/// A function of Python that is told of each E-step; what it raises ends the call.
std::function<void(const FitProgress&)> told(const nb::object& function, Interrupt& interrupt) {
  if (!function.is_valid() || function.is_none()) return {};
  return [&function, &interrupt](const FitProgress& now) {
    const nb::gil_scoped_acquire locked;
    if (interrupt.raised()) return;
    try {
      function(now.restart, now.iteration, now.objective);
    } catch (nb::python_error& error) {
      interrupt.keep(std::move(error));
    }
  };
}

nb::dict as_dict(const Fit& fit) {
  nb::dict result;
  result["model"] = nb::cast(PythonModel{fit.model});
  result["log_likelihood"] = fit.log_likelihood;
  result["objective"] = fit.objective;
  result["history"] = fit.history;
  nb::list restarts;
  for (const Restart& restart : fit.restarts) {
    restarts.append(nb::make_tuple(restart.objective, restart.iterations, restart.converged));
  }
  result["restarts"] = restarts;
  result["best"] = fit.best;
  result["converged"] = fit.converged;
  result["parameters"] = fit.parameters;
  result["observations"] = fit.observations;
  result["aic"] = fit.aic;
  result["bic"] = fit.bic;
  nb::dict errors;
  for (const Factor& factor : fit.model.graph.factors()) {
    const auto found = fit.standard_errors.find(factor.name);
    if (found != fit.standard_errors.end())
      errors[nb::cast(factor.name)] = to_python(Tensor(found->second), Library::numpy);
  }
  result["standard_errors"] = errors;
  nb::dict likelihoods;
  for (const auto& [name, parameters] : fit.likelihood_errors) {
    nb::dict own;
    for (const auto& [parameter, numbers] : parameters) {
      own[nb::cast(parameter)] = to_python(Tensor(numbers), Library::numpy);
    }
    likelihoods[nb::cast(name)] = own;
  }
  result["likelihood_errors"] = likelihoods;
  result["held_out"] = fit.held_out;
  nb::list folds;
  for (const Fold& fold : fit.folds) {
    folds.append(nb::make_tuple(fold.slices, fold.log_likelihood, fold.cells, fold.iterations, fold.converged));
  }
  result["folds"] = folds;
  result["cross_validated"] = fit.cross_validated;
  nb::list varied;
  for (const Varied& row : fit.varied) {
    varied.append(nb::make_tuple(row.states, row.log_likelihood, row.parameters, row.aic, row.bic, row.held_out,
                                 row.cross_validated, row.converged));
  }
  result["varied"] = varied;
  result["notes"] = fit.notes;
  return result;
}

nb::object fit_model(const PythonModel& model, nb::handle data, const nb::kwargs& keywords) {
  FitCall call;
  call.data = data_of(model, data);
  FitOptions options;
  nb::object progress;
  read_keywords("fit", keywords, [&](std::string_view key, nb::handle value) {
    if (key == "progress") {
      progress = nb::borrow(value);
      return true;
    }
    if (key == "held_out") {
      if (!value.is_none()) options.held_out = Data{.states = evidence_of(model, value)};
      return true;
    }
    return call.take(key, value) || take_how(options, key, value);
  });
  Interrupt interrupt;
  const auto signal = interrupt.callback();
  options.cancelled = [&] { return interrupt.raised().has_value() || signal(); };
  options.progress = told(progress, interrupt);
  const Fit fitted = without_lock(interrupt, [&] { return fit(model, call.data, options); });
  if (interrupt.raised()) throw std::move(*interrupt.raised());
  return nb::module_::import_("plated._fit").attr("Fit")(**as_dict(fitted));
}

/// Runs `question` on the data and the options of a call.
template <class Question>
auto ask(const char* verb, const PythonModel& model, nb::handle data, const nb::kwargs& keywords, Question question) {
  FitCall call;
  call.data = data_of(model, data);
  EvaluateOptions options;
  Progress progress;
  read_keywords(verb, keywords, [&](std::string_view key, nb::handle value) {
    if (key == "plate") {
      if (!value.is_none()) options.plate = text_of(key, value);
    } else if (key == "factors") {
      options.factors = strings(key, value);
    } else if (key == "threads") {
      options.threads = value.is_none() ? 0 : integer_of<int>(key, value);
    } else if (key == "memory_limit") {
      options.memory_limit = value.is_none() ? 0 : integer_of<std::int64_t>(key, value);
    } else {
      return progress.take(key, value) || call.take(key, value);
    }
    return true;
  });
  Interrupt interrupt;
  options.cancelled = interrupt.callback();
  options.progress = progress.callback(interrupt);
  auto answer = without_lock(interrupt, [&] { return question(call.data, options); });
  if (interrupt.raised()) throw std::move(*interrupt.raised());
  return answer;
}

nb::dict count(const PythonModel& model, nb::handle data, const nb::kwargs& keywords) {
  auto counts = ask("expected_counts", model, data, keywords, [&](const Data& states, const EvaluateOptions& options) {
    return expected_counts(model, states, options);
  });
  nb::dict result;  // in the model's order
  for (const Factor& factor : model.graph.factors()) {
    result[nb::cast(factor.name)] = to_python(std::move(counts.at(factor.name)), Library::numpy);
  }
  return result;
}

nb::object score(const PythonModel& model, nb::handle data, const nb::kwargs& keywords) {
  Score found = ask("evaluate", model, data, keywords, [&](const Data& states, const EvaluateOptions& options) {
    return evaluate(model, states, options);
  });
  nb::object slices = nb::none();
  if (found.slices.data() != nullptr) slices = to_python(std::move(found.slices), Library::numpy);
  return nb::module_::import_("plated._fit").attr("Score")(found.log_likelihood, found.cells, slices);
}

}  // namespace

void define_fit(nb::module_& module, nb::class_<PythonModel>& model) {
  module.def("fit", &fit_model, nb::arg("model"), nb::arg("data") = nb::none(), nb::arg("keywords"),
             nb::sig("def fit(model: Model, data: Mapping[str, object] | None = None, *, "
                     "learn: Sequence[str] | None = None, restarts: int = 1, iterations: int = 500, "
                     "tolerance: float = 1e-9, accelerate: bool = True, pseudo_count: float = 0, seed: int = 0, "
                     "batch: Mapping[str, int] | None = None, "
                     "held_out: Mapping[str, object] | None = None, cross_validate: Mapping[str, int] | None = None, "
                     "vary: Mapping[str, int | Iterable[int]] | None = None, standard_errors: bool = False, "
                     "lengths: Mapping[str, _Integers] | None = None, weights: Mapping[str, object] | None = None, "
                     "threads: int = 0, memory_limit: int = 0, "
                     "progress: Callable[[int, int, float], object] | None = None) -> Fit"),
             R"(Learns the distributions of a model from data, by exact EM.

>>> import plated
>>> graph = plated.FactorGraph()
>>> graph.plate("i", 4)
>>> graph.variable("coin", 2, plates=["i"])
>>> _ = graph.factor("bias", ["coin"], tied=["i"], distribution_of="coin")
>>> model = plated.Model(graph, {"bias": [0.5, 0.5]}, space="real")
>>> fit = plated.fit(model, {"coin": [0, 1, 1, 1]})
>>> fit.model.factors["bias"], fit.parameters
(array([0.25, 0.75]), 1)

Data are states by variable, as evidence is given, and numbers of likelihoods by their names; plates that no factor has an axis for get as many slices as the data.
The first of the ``restarts`` starts from the model's own numbers, the others from random ones. ``iterations`` are the
most E- and M-steps of each; the numbers are those after the last M-step. ``held_out`` are data to score the fitted
model on; ``cross_validate={"patient": 5}`` deals the slices of a plate to folds by the ``seed``, and scores each under a
fit of the others. ``vary={"truth": range(2, 9)}`` fits a model for each number of states of a latent variable and
keeps the one of the least BIC. ``standard_errors`` asks for those of what is learnt. ``batch={"patient": 100}`` takes a
step for every 100 slices of a plate, and ``iterations`` are then passes over the data. ``progress`` is told restart, iteration and
objective of each E-step. docs/fit.md has the rest.)");
  module.def("expected_counts", &count, nb::arg("model"), nb::arg("data") = nb::none(), nb::arg("keywords"),
             nb::sig("def expected_counts(model: Model, data: Mapping[str, object] | None = None, *, "
                     "lengths: Mapping[str, _Integers] | None = None, weights: Mapping[str, object] | None = None, "
                     "threads: int = 0, memory_limit: int = 0, progress: Callable[[float], object] | None = None) -> "
                     "dict[str, _Array]"),
             "How often each entry of each factor is expected to occur given the data, by the factor's name.");
  model.def("evaluate", &score, nb::arg("data") = nb::none(), nb::arg("keywords"),
            nb::sig("def evaluate(self, data: Mapping[str, object] | None = None, *, plate: str | None = None, "
                    "factors: Sequence[str] = (), lengths: Mapping[str, _Integers] | None = None, "
                    "weights: Mapping[str, object] | None = None, threads: int = 0, memory_limit: int = 0, "
                    "progress: Callable[[float], object] | None = None) -> Score"),
            "ln L of data, how many cells are observed, and ln p of each slice of a ``plate`` given all others.");
}

}  // namespace plated::python
