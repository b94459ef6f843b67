// Likelihoods of observed numbers, and data of models, as Python has them.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <string>

#include "plated/fit.hpp"
#include "plated/model.hpp"

namespace plated::python {

namespace nb = nanobind;

/// From `{"steps": {"family": "normal", "of": "step", "mean": […], "deviation": 1}}`.
[[nodiscard]] std::map<std::string, Likelihood, std::less<>> likelihoods_of(nb::handle value);
/// The same back.
[[nodiscard]] nb::dict likelihoods(const Model& model);
/// Observed numbers by name.
[[nodiscard]] nb::dict measurements(const Model& model);

/// Names of variables have states, names of likelihoods' numbers have numbers.
[[nodiscard]] Data data_of(const Model& model, nb::handle value);

}  // namespace plated::python
