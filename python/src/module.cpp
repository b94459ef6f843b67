// The extension module plated._core.
#include <nanobind/nanobind.h>

#include "errors.hpp"
#include "jax.hpp"
#include "verb.hpp"

NB_MODULE(_core, module) {
  using namespace plated::python;
  nb::set_leak_warnings(false);  // at exit, the interpreter need not have let go of everything
  module.doc() = "The engine of Plated; use it through the package plated.";
  translate_errors(module);
  define_graph(module);
  nb::class_<PythonPlan> plan(module, "Plan",
                              R"(A compiled schedule; plated.compile makes one. Call it with operands, or by any verb.

>>> import numpy as np, plated
>>> plan = plated.compile("x,xy->y", (2,), (2, 3), semiring="real")
>>> plan(np.array([0.5, 0.5]), np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]))
array([0.5 , 0.25, 0.25])
>>> plan.elimination_order, plan.cost().flops
(['x'], 9.0)

A notebook shows it as a table. Many threads may run one plan at once.)",
                              nb::is_weak_referenceable());
  define_values(module, plan);
  define_posteriors(module, plan);
  define_assignments(module, plan);
  define_evaluation(module, plan);
  define_plan(module, plan);
  define_model(module);
  define_jax(module);
}
