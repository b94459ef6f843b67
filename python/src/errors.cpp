// Turns C++ exceptions into Python ones with the same names and data.
#include "errors.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace plated::python {

namespace nb = nanobind;

namespace {

nb::object class_named(const char* name) { return nb::module_::import_("plated._errors").attr(name); }

void set(const char* name, const char* message) { PyErr_SetObject(class_named(name).ptr(), nb::str(message).ptr()); }

nb::object certificate_of(const Certificate& why) {
  return class_named("Certificate")(why.u, why.w, why.a, why.b, nb::tuple(nb::cast(why.factors)));
}

void set_memory_limit(const MemoryLimitError& error) {
  const nb::object type = class_named("MemoryLimitError");
  PyErr_SetObject(type.ptr(), type(error.what(), error.bytes_needed(), error.limit()).ptr());
}

template <class Thrown>
bool set_if(const Error& error, const char* name) {
  if (dynamic_cast<const Thrown*>(&error) == nullptr) return false;
  set(name, error.what());
  return true;
}

void translate(const Error& error) {
  if (const auto* intractable = dynamic_cast<const IntractableError*>(&error)) {
    const nb::object raised = python_error_of(*intractable);
    return PyErr_SetObject(raised.type().ptr(), raised.ptr());
  }
  if (const auto* memory = dynamic_cast<const MemoryLimitError*>(&error)) return set_memory_limit(*memory);
  // The derived ones before ShapeError, which they are, too.
  const bool known = set_if<RankError>(error, "RankError") || set_if<SizeError>(error, "SizeError") ||
                     set_if<SizeOverflowError>(error, "SizeOverflowError") ||
                     set_if<OverlapError>(error, "OverlapError") || set_if<ShapeError>(error, "ShapeError") ||
                     set_if<ParseError>(error, "ParseError") || set_if<UnknownNameError>(error, "UnknownNameError") ||
                     set_if<DuplicateNameError>(error, "DuplicateNameError") ||
                     set_if<PlateError>(error, "PlateError") || set_if<OperandCountError>(error, "OperandCountError") ||
                     set_if<NullDataError>(error, "NullDataError") || set_if<ValueError>(error, "ValueError") ||
                     set_if<OptionError>(error, "OptionError") || set_if<ImpossibleError>(error, "ImpossibleError") ||
                     set_if<CancelledError>(error, "CancelledError") || set_if<FormatError>(error, "FormatError") ||
                     set_if<FileError>(error, "FileError");
  if (!known) set("Error", error.what());
}

}  // namespace

nb::object python_error_of(const IntractableError& error) {
  nb::list repairs;
  for (const Repair& repair : error.repairs()) {
    repairs.append(class_named("Repair")(nb::tuple(nb::cast(repair.unroll)), repair.flops, repair.peak_bytes));
  }
  return class_named("IntractableError")(error.what(), certificate_of(error.certificate()), repairs);
}

void translate_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      translate(error);
    }
  });
}

void raise(const char* name, const std::string& message) {
  set(name, message.c_str());
  throw nb::python_error();
}

}  // namespace plated::python
