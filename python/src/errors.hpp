// Translates Plated's exceptions into those of plated._errors.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "plated/error.hpp"

namespace plated::python {

/// From now on C++ exceptions arrive in Python as the class of the same name.
void translate_errors(nanobind::module_& module);

/// The Python exception of that name, with its certificate and repairs.
[[nodiscard]] nanobind::object python_error_of(const IntractableError& error);

/// Raises one of them by name.
[[noreturn]] void raise(const char* name, const std::string& message);

}  // namespace plated::python
