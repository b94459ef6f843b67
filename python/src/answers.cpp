// Reads and makes what several verbs share.
#include "answers.hpp"

#include <algorithm>

#include "keywords.hpp"
#include "plated/error.hpp"
#include "verb.hpp"

namespace plated::python {
namespace {

/// Lists of names. A name by itself is none: ["x", "y"] could be one set or two.
std::vector<std::vector<std::string>> sets_of(nb::handle value) {
  std::vector<std::vector<std::string>> sets;
  const auto check = [](nb::handle list) {
    if (PyUnicode_Check(list.ptr()) == 0) return;
    PyErr_Format(PyExc_TypeError, "sets must be lists of names in a list, as in [['x', 'y']], and has %R", list.ptr());
    throw nb::python_error();
  };
  check(value);
  for (const nb::handle set : list_of("sets", value)) {
    check(set);
    sets.push_back(strings("a name in sets", set));
  }
  return sets;
}

}  // namespace

nb::object answer_class(const char* name) { return nb::module_::import_("plated._answers").attr(name); }

bool take_marginals(std::string_view key, nb::handle value, MarginalOptions& wanted) {
  if (key == "variables") {
    wanted.variables = flag_of(key, value);
  } else if (key == "factors") {
    wanted.factors = flag_of(key, value);
  } else if (key == "ends") {
    wanted.ends = flag_of(key, value);
  } else if (key == "filtered") {
    wanted.filtered = flag_of(key, value);
  } else if (key == "log") {
    wanted.log = flag_of(key, value);
  } else if (key == "sets") {
    wanted.sets = sets_of(value);
  } else {
    return false;
  }
  return true;
}

bool take_draws(std::string_view key, nb::handle value, SampleOptions& draws) {
  if (key == "n") {
    draws.count = integer_of<std::int64_t>(key, value);
  } else if (key == "seed") {
    draws.seed = integer_of<std::uint64_t>(key, value);
  } else if (key == "first") {
    draws.first = integer_of<std::int64_t>(key, value);
  } else {
    return false;
  }
  return true;
}

nb::object to_python(const Cost& cost) {
  return answer_class("Cost")(cost.flops, cost.exps, cost.bytes_read, cost.bytes_written, cost.peak_bytes,
                              cost.run_bytes, cost.sequential, cost.span);
}

nb::object to_python(Marginals posterior, Library library) {
  static PyObject* const type = answer_class("Marginals").release().ptr();
  return nb::handle(type)(to_dict(std::move(posterior.variables), library),
                          to_python(std::move(posterior.log_partition), library),
                          to_list(std::move(posterior.factors), library), to_list(std::move(posterior.sets), library));
}

nb::object to_python(MapResult best, Library library) {
  static PyObject* const type = answer_class("MapResult").release().ptr();
  return nb::handle(type)(to_python(std::move(best.score), library), to_dict(std::move(best.assignment), library));
}

std::vector<Tensor> cotangents_of(nb::handle value, Arrays& arrays) {
  std::vector<Tensor> given = arrays.read_all(value, "cotangent");
  if (given.empty())
    throw OperandCountError("no cotangents were given, and every output has one: leave them out for ones");
  return given;
}

std::vector<std::int64_t> operands_named(nb::handle value) {
  std::vector<std::int64_t> numbers;
  for (const nb::handle item : list_of("wrt", value)) {
    const auto number = integer_of<std::int64_t>("an operand in wrt", item);
    if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) {
      throw OptionError("wrt names operand " + std::to_string(number) + " twice");
    }
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace plated::python
