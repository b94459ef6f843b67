// The handlers of plated.jax that XLA calls.
#pragma once

#include <nanobind/nanobind.h>

namespace plated::python {

namespace nb = nanobind;

/// Adds jax_handlers, which gives the functions to register with jax.ffi.
void define_jax(nb::module_& module);

}  // namespace plated::python
