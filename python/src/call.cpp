// Reads the arguments that all verbs share.
#include "call.hpp"

#include "plated/einsum.hpp"

namespace plated::python {

void Call::read_operands(const nb::args& operands) {
  operands_.reserve(operands.size());
  for (std::size_t k = 0; k < operands.size(); ++k) {
    operands_.push_back(arrays_.read(operands[k], {"operand", static_cast<std::ptrdiff_t>(k)}));
  }
}

void Call::find_plan(nb::str equation, EinsumOptions reading) {
  // What is observed in this call is what its plan can observe.
  for (const auto& [variable, values] : run_.evidence) reading.plan.observable.push_back(variable);
  reading.sizes = run_.sizes;
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(equation.ptr(), &size);
  if (text == nullptr) throw nb::python_error();
  const std::string_view view(text, static_cast<std::size_t>(size));
  // With the lock: most plans are known already, and looking one up is quicker than to give the lock away.
  Interrupt interrupt;
  reading.plan.cancelled = interrupt.callback();
  try {
    plan_.emplace(compile(view, operands_, reading));
  } catch (const CancelledError&) {
    if (interrupt.raised()) throw std::move(*interrupt.raised());
    throw;
  }
}

bool Call::take_progress(std::string_view key, nb::handle value) {
  if (key != "progress") return false;
  if (value.is_none()) return true;
  if (PyCallable_Check(value.ptr()) == 0) {
    PyErr_Format(PyExc_TypeError, "progress must be a function, not %R", value.ptr());
    throw nb::python_error();
  }
  progress_ = nb::borrow(value);
  return true;
}

std::function<void(double)> Call::report(Interrupt& interrupt) {
  return [this, &interrupt](double share) {
    const nb::gil_scoped_acquire locked;
    try {
      progress_(share);
    } catch (nb::python_error& error) {
      interrupt.keep(std::move(error));  // the run stops before its next step
    }
  };
}

}  // namespace plated::python
