// Sizes as arguments of methods: what Python takes for an index, and neither a bool nor a float.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace plated::python {

struct Size {
  std::int64_t value = 0;
};

}  // namespace plated::python

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)

/// nanobind's own caster of integers calls __int__, which cuts off fractions.
template <>
struct type_caster<plated::python::Size> {
  NB_TYPE_CASTER(plated::python::Size, const_name("int"))

  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (PyBool_Check(source.ptr()) != 0) return false;
    PyObject* const index = PyNumber_Index(source.ptr());
    const bool is_integer = index != nullptr;
    if (is_integer) value.value = PyLong_AsLongLong(index);
    Py_XDECREF(index);
    const bool fits = PyErr_Occurred() == nullptr;
    PyErr_Clear();
    return is_integer && fits;
  }
};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)
