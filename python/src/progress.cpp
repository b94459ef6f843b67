// Tells a function of Python how far a call is.
#include "progress.hpp"

namespace plated::python {

namespace nb = nanobind;

bool Progress::take(std::string_view key, nb::handle value) {
  if (key != "progress") return false;
  if (value.is_none()) return true;
  if (PyCallable_Check(value.ptr()) == 0) {
    PyErr_Format(PyExc_TypeError, "progress must be a function, not %R", value.ptr());
    throw nb::python_error();
  }
  function_ = nb::borrow(value);
  return true;
}

std::function<void(double)> Progress::callback(Interrupt& interrupt) const {
  if (!function_.is_valid()) return {};
  return [this, &interrupt](double share) {
    const nb::gil_scoped_acquire locked;
    try {
      function_(share);
    } catch (nb::python_error& error) {
      interrupt.keep(std::move(error));  // the run stops before its next step
    }
  };
}

}  // namespace plated::python
