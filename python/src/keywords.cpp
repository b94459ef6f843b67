// Reads keyword arguments.
#include "keywords.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <utility>

#include "arrays.hpp"
#include "errors.hpp"
#include "plated/error.hpp"

namespace plated::python {

using namespace nanobind::literals;

namespace {

[[noreturn]] void wrong_type(std::string_view key, const char* expected, nb::handle value) {
  PyErr_Format(PyExc_TypeError, "%s must be %s, not %R", std::string(key).c_str(), expected, value.ptr());
  throw nb::python_error();
}

template <class Choice, std::size_t count>
Choice choice_of(std::string_view key, nb::handle value,
                 const std::array<std::pair<std::string_view, Choice>, count>& choices) {
  const std::string_view text = text_of(key, value);
  std::string names;
  for (const auto& [name, choice] : choices) {
    if (name == text) return choice;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  throw OptionError(std::string(key) + " is '" + std::string(text) + "', and it can be " + names);
}

constexpr std::array<std::pair<std::string_view, Check>, 2> checks{{{"all", Check::all}, {"none", Check::none}}};
constexpr std::array<std::pair<std::string_view, Search>, 5> searches{{{"automatic", Search::automatic},
                                                                       {"optimal", Search::optimal},
                                                                       {"greedy", Search::greedy},
                                                                       {"min_fill", Search::min_fill},
                                                                       {"randomised", Search::randomised}}};

/// Numbers for the slices of plates, from anything that NumPy makes an array of floats from.
Weights weights_by_name(nb::handle value) {
  Weights result;
  const nb::module_ numpy = nb::module_::import_("numpy");
  for (const auto [name, values] : dict_of("weights", value)) {
    const std::string plate(text_of("a name in weights", name));
    const nb::object array = numpy.attr("asarray")(values, "dtype"_a = "float64");
    Tensor::Shape shape;
    for (const nb::handle size : array.attr("shape")) shape.push_back(nb::cast<std::int64_t>(size));
    std::vector<double> entries;
    for (const nb::handle entry : array.attr("ravel")()) entries.push_back(nb::cast<double>(entry));
    result.emplace(plate, Tensor::of(shape, entries));
  }
  return result;
}

}  // namespace

std::string_view text_of(std::string_view key, nb::handle value) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_Check(value.ptr()) != 0 ? PyUnicode_AsUTF8AndSize(value.ptr(), &size) : nullptr;
  if (text == nullptr) {
    if (PyErr_Occurred() == nullptr) wrong_type(key, "a str", value);
    throw nb::python_error();
  }
  return {text, static_cast<std::size_t>(size)};
}

nb::object index_of(std::string_view key, nb::handle value) {
  // True is an int for Python, and never one that was meant.
  PyObject* const index = PyBool_Check(value.ptr()) != 0 ? nullptr : PyNumber_Index(value.ptr());
  if (index != nullptr) return nb::steal(index);
  if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
  PyErr_Clear();
  wrong_type(key, "an int", value);
}

void out_of_range(std::string_view key, nb::handle value, const std::string& range) {
  const std::string digits = nb::cast<std::string>(nb::str(value));
  throw OptionError(std::string(key) + " is " + digits + ", and it can be " + range);
}

bool flag_of(std::string_view key, nb::handle value) {
  if (PyBool_Check(value.ptr()) != 0) return value.is(Py_True);
  const nb::object flag = nb::module_::import_("numpy").attr("bool_");
  if (!nb::isinstance(value, flag)) wrong_type(key, "True or False", value);
  return PyObject_IsTrue(value.ptr()) == 1;
}

double number_of(std::string_view key, nb::handle value) {
  double number = 0;
  if (PyBool_Check(value.ptr()) != 0 || !nb::try_cast(value, number)) wrong_type(key, "a number", value);
  return number;
}

nb::list list_of(std::string_view key, nb::handle value) {
  if (!nb::hasattr(value, "__iter__")) wrong_type(key, "a list", value);
  PyObject* const items = PySequence_List(value.ptr());
  if (items == nullptr) throw nb::python_error();
  return nb::steal<nb::list>(items);
}

std::vector<std::string> strings(std::string_view key, nb::handle value) {
  if (PyUnicode_Check(value.ptr()) != 0) return {std::string(text_of(key, value))};
  std::vector<std::string> result;
  for (const nb::handle item : list_of(key, value)) result.emplace_back(text_of(key, item));
  return result;
}

nb::dict dict_of(std::string_view key, nb::handle value) {
  if (PyDict_Check(value.ptr()) != 0) return nb::borrow<nb::dict>(value);
  if (!nb::hasattr(value, "keys")) wrong_type(key, "a dict", value);
  nb::dict copy;
  if (PyDict_Update(copy.ptr(), value.ptr()) != 0) throw nb::python_error();
  return copy;
}

IntegersByName integers_by_name(std::string_view key, nb::handle value) {
  IntegersByName result;
  for (const auto [name, values] : dict_of(key, value)) {
    const std::string of(text_of("a name in " + std::string(key), name));
    result.emplace(of, read_integers(values, std::string(key), of));
  }
  return result;
}

Semiring semiring_of(nb::handle value) { return semiring_named(text_of("semiring", value)); }

Dtype dtype_of_name(nb::handle value) {
  // A string, or what NumPy takes for a dtype.
  const std::string name =
      PyUnicode_Check(value.ptr()) != 0
          ? std::string(text_of("dtype", value))
          : nb::cast<std::string>(nb::object(nb::module_::import_("numpy").attr("dtype")(value).attr("name")));
  if (name == "float32") return Dtype::float32;
  if (name == "float64") return Dtype::float64;
  raise("DtypeError", "dtype is " + name + ": Plated takes float32 and float64");
}

std::map<std::string, std::int64_t> sizes_of(nb::handle value) {
  std::map<std::string, std::int64_t> sizes;
  if (value.is_none()) return sizes;
  for (const auto [dim, size] : dict_of("sizes", value)) {
    const std::string name(text_of("a name in sizes", dim));
    sizes.emplace(name, integer_of<std::int64_t>("the size of '" + name + "'", size));
  }
  return sizes;
}

bool take_run(std::string_view key, nb::handle value, RunOptions& options) {
  if (key == "semiring") {
    options.semiring = semiring_of(value);
  } else if (key == "threads") {
    options.threads = value.is_none() ? 0 : integer_of<int>(key, value);
  } else if (key == "check") {
    options.check = choice_of(key, value, checks);
  } else if (key == "memory_limit") {
    options.memory_limit = value.is_none() ? 0 : integer_of<std::int64_t>(key, value);
  } else if (key == "evidence") {
    if (!value.is_none()) options.evidence = integers_by_name(key, value);
  } else if (key == "lengths") {
    if (!value.is_none()) options.lengths = integers_by_name(key, value);
  } else if (key == "weights") {
    if (!value.is_none()) options.weights = weights_by_name(value);
  } else if (key == "sizes") {
    options.sizes = sizes_of(value);
  } else {
    return false;
  }
  return true;
}

bool take_equation(std::string_view key, nb::handle value, EinsumOptions& options) {
  if (key == "plates") {
    options.plates = text_of(key, value);
  } else if (key == "batch") {
    options.batch = text_of(key, value);
  } else if (key == "chains") {
    if (value.is_none()) return true;
    for (const auto [chain, links] : dict_of(key, value)) {
      const std::string name(text_of("a name in chains", chain));
      options.chains.emplace(name, strings(key, links));
    }
  } else if (key == "spaced") {
    if (!value.is_none()) options.spaced = flag_of(key, value);
  } else {
    return false;
  }
  return true;
}

bool take_plan(std::string_view key, nb::handle value, PlanOptions& options) {
  if (key == "search") {
    options.search = choice_of(key, value, searches);
  } else if (key == "trials") {
    options.trials = integer_of<int>(key, value);
  } else if (key == "seed") {
    options.seed = integer_of<std::uint64_t>(key, value);
  } else if (key == "seconds") {
    options.seconds = number_of(key, value);
  } else if (key == "sums_only") {
    options.sums_only = flag_of(key, value);
  } else if (key == "observable") {
    options.observable = strings(key, value);
  } else if (key == "questions") {
    for (const std::string& question : strings(key, value)) {
      options.questions.push_back({.kind = question_kind(question)});
    }
  } else if (key == "without") {
    for (std::string& pass : strings(key, value)) options.without.insert(std::move(pass));
  } else {
    return false;
  }
  return true;
}

}  // namespace plated::python
