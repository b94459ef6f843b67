// Keyword arguments of the verbs, read into the options of C++.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plated/einsum.hpp"

namespace plated::python {

namespace nb = nanobind;

/// Takes an argument that concerns the run: semiring, threads, check, memory_limit, evidence, lengths, sizes, weights.
/// False where `key` is none of them.
bool take_run(std::string_view key, nb::handle value, RunOptions& options);
/// Takes an argument that concerns the equation: plates, batch, chains, spaced.
bool take_equation(std::string_view key, nb::handle value, EinsumOptions& options);
/// Takes an argument that concerns the search for a plan: search, trials, seed, seconds, sums_only, observable,
/// questions, without.
bool take_plan(std::string_view key, nb::handle value, PlanOptions& options);

/// Hands each keyword to `take`; throws TypeError, as Python does, for one that it does not.
template <class Take>
void read_keywords(const char* function, const nb::kwargs& keywords, Take take) {
  for (const auto [key, value] : keywords) {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(key.ptr(), &size);
    if (text == nullptr) throw nb::python_error();
    if (!take(std::string_view(text, static_cast<std::size_t>(size)), value)) {
      PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%s'", function, text);
      throw nb::python_error();
    }
  }
}

/// A Python int from what is one to Python. Throws TypeError naming the argument, for bools and floats too.
[[nodiscard]] nb::object index_of(std::string_view key, nb::handle value);
[[noreturn]] void out_of_range(std::string_view key, nb::handle value, const std::string& range);

/// The integer of an argument. Throws TypeError for what is none, and OptionError for one that the type cannot hold.
template <class T>
T integer_of(std::string_view key, nb::handle value) {
  const nb::object index = index_of(key, value);
  T result{};
  if (!nb::try_cast(index, result, false)) {
    using Limits = std::numeric_limits<T>;
    out_of_range(key, index, std::to_string(Limits::min()) + " … " + std::to_string(Limits::max()));
  }
  return result;
}

/// True or False, Python's or NumPy's. Throws TypeError naming the argument.
[[nodiscard]] bool flag_of(std::string_view key, nb::handle value);
/// A float, or an integer as one. Throws TypeError naming the argument.
[[nodiscard]] double number_of(std::string_view key, nb::handle value);
/// A string. Throws TypeError naming the argument.
[[nodiscard]] std::string_view text_of(std::string_view key, nb::handle value);

/// A dict, or another mapping as one: what has keys() is, a table of pandas too. Throws TypeError naming the argument.
[[nodiscard]] nb::dict dict_of(std::string_view key, nb::handle value);
/// The items of a list, a tuple or whatever else can be iterated. Throws TypeError naming the argument.
[[nodiscard]] nb::list list_of(std::string_view key, nb::handle value);
/// A list or tuple of strings; a single string is a list of one.
[[nodiscard]] std::vector<std::string> strings(std::string_view key, nb::handle value);
/// Evidence or lengths (`key`) by name, from a dict of what NumPy makes arrays of integers from.
[[nodiscard]] IntegersByName integers_by_name(std::string_view key, nb::handle value);
/// Sizes by name, from a dict; None gives none.
[[nodiscard]] std::map<std::string, std::int64_t> sizes_of(nb::handle value);
[[nodiscard]] Semiring semiring_of(nb::handle value);
[[nodiscard]] Dtype dtype_of_name(nb::handle value);

}  // namespace plated::python
