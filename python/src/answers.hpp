// What several verbs read and return: marginals, assignments, cotangents.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "arrays.hpp"
#include "plated/cost.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"

namespace plated::python {

/// Takes an argument of marginals(). False where `key` is none of them.
bool take_marginals(std::string_view key, nb::handle value, MarginalOptions& wanted);
/// Takes an argument of sample(): n, seed, first.
bool take_draws(std::string_view key, nb::handle value, SampleOptions& draws);
[[nodiscard]] nb::object to_python(const Cost& cost);
[[nodiscard]] nb::object to_python(Marginals posterior, Library library);
[[nodiscard]] nb::object to_python(MapResult best, Library library);

/// The cotangents of outputs, of which there is at least one: no cotangents would mean ones to C++.
[[nodiscard]] std::vector<Tensor> cotangents_of(nb::handle value, Arrays& arrays);
/// Numbers of operands, each once.
[[nodiscard]] std::vector<std::int64_t> operands_named(nb::handle value);

}  // namespace plated::python
