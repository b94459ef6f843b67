// Reads the arguments of models and of the verbs on them.
#include "model_call.hpp"

#include <nanobind/ndarray.h>

#include "arrays.hpp"
#include "errors.hpp"

namespace plated::python {
namespace {

/// A function of plated._states, which knows NumPy and pandas.
nb::object reader(const char* name) { return nb::module_::import_("plated._states").attr(name); }

/// The states of a variable as Python has them: names, or None where they are numbers.
nb::object names_of(const Model& model, const std::string& variable) {
  const auto found = model.states.find(variable);
  if (found == model.states.end()) return nb::none();
  nb::list names;
  for (const std::string& state : found->second) names.append(state);
  return names;
}

}  // namespace

Space space_of(std::string_view key, nb::handle value) {
  const std::string_view text = text_of(key, value);
  if (text == "log") return Space::log;
  if (text == "real") return Space::real;
  throw OptionError(std::string(key) + " is '" + std::string(text) + "', and it can be log, real");
}

const char* name_of(Space space) { return space == Space::log ? "log" : "real"; }

std::map<std::string, std::vector<std::string>, std::less<>> states_of(nb::handle value) {
  std::map<std::string, std::vector<std::string>, std::less<>> result;
  if (value.is_none()) return result;
  for (const auto [variable, names] : dict_of("states", value)) {
    const std::string of(text_of("a name in states", variable));
    if (nb::isinstance<nb::str>(names)) {
      PyErr_Format(PyExc_TypeError, "the states of '%s' must be a list of names, not %R", of.c_str(), names.ptr());
      throw nb::python_error();
    }
    result.emplace(of, strings("a state of '" + of + "'", names));
  }
  return result;
}

std::map<std::string, Tensor> numbers_of(nb::handle value) {
  std::map<std::string, Tensor> result;
  const nb::object read = reader("read_numbers");
  for (const auto [name, values] : dict_of("factors", value)) {
    const std::string of(text_of("a name in factors", name));
    const std::string role = "factor '" + of + "'";
    Arrays arrays;
    const nb::object array = read(values, role);
    result.emplace(of, copy_of(arrays.read(array, {role.c_str()})));
  }
  return result;
}

IntegerView states_of(const Model& model, const std::string& variable, const std::string& given, nb::handle values) {
  const nb::object named =
      nb::cpp_function([&model, &variable](const std::string& state) { return state_named(model, variable, state); });
  return view_integers(reader("read_states")(values, "evidence of '" + given + "'", names_of(model, variable), named))
      .value();
}

Evidence evidence_of(const Model& model, nb::handle value, Lists* lists) {
  Evidence result;
  if (value.is_none()) return result;
  const nb::object list = nb::module_::import_("plated._long").attr("Long");
  for (const auto [name, values] : dict_of("evidence", value)) {
    const std::string given(text_of("a name in evidence", name));
    const auto found = find_variable(model, given);
    if (!found) throw UnknownNameError("there is no variable '" + given + "' to observe");
    const std::string variable = model.graph.dims()[*found].name;
    if (nb::isinstance(values, list)) {
      if (lists == nullptr) {
        PyErr_Format(PyExc_TypeError,
                     "plated.Long is evidence of plated.Model and data of plated.fit: make a model with it");
        throw nb::python_error();
      }
      lists->emplace(variable, list_of(model, variable, values));
      continue;
    }
    IntegerView states = states_of(model, variable, given, values);
    if (states.shape().empty() && states[0] == -1) {  // nothing is observed, in any slice
      IntegerView::Shape shape;
      for (const DimId plate : model.graph.variable_plates()[*found]) shape.push_back(model.graph.dims()[plate].size);
      states = Integers(std::move(shape), -1);
    }
    if (!result.emplace(variable, std::move(states)).second) {
      throw DuplicateNameError("'" + given + "' is observed twice, by its name and by its label");
    }
  }
  return result;
}

Lengths lengths_of(nb::handle value) {
  return value.is_none() ? Lengths() : Lengths(integers_by_name("lengths", value));
}

Tensor copy_of(const Tensor& tensor) {
  const std::vector<double> entries = tensor.values();
  if (tensor.dtype() == Dtype::float64) return Tensor::of(tensor.shape(), entries);
  return Tensor::of(tensor.shape(), std::vector<float>(entries.begin(), entries.end()));
}

nb::object read_only(const Tensor& tensor) {
  auto memory = std::make_unique<Tensor>(tensor);
  const void* const data = memory->data();
  const std::vector<std::size_t> shape(tensor.shape().begin(), tensor.shape().end());
  const Tensor::Shape strides = tensor.strides();
  const nb::dlpack::dtype dtype = tensor.dtype() == Dtype::float32 ? nb::dtype<float>() : nb::dtype<double>();
  const nb::capsule owner(memory.release(), [](void* held) noexcept { delete static_cast<Tensor*>(held); });
  return nb::cast(nb::ndarray<nb::numpy, nb::ro>(data, shape.size(), shape.data(), owner, strides.data(), dtype));
}

bool ModelCall::take_shared(const Model& model, std::string_view key, nb::handle value) {
  if (progress_.take(key, value)) return true;
  if (key == "evidence") {
    options_.evidence = evidence_of(model, value);
  } else if (key == "lengths") {
    options_.lengths = lengths_of(value);
  } else if (key == "threads") {
    options_.threads = value.is_none() ? 0 : integer_of<int>(key, value);
  } else if (key == "memory_limit") {
    options_.memory_limit = value.is_none() ? 0 : integer_of<std::int64_t>(key, value);
  } else {
    return false;
  }
  return true;
}

}  // namespace plated::python
