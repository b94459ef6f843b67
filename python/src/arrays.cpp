// Reads arrays by the buffer protocol or DLPack.
#include "arrays.hpp"

#include <cstring>

#include "errors.hpp"
#include "keywords.hpp"

namespace plated::python {
namespace {

/// An address for arrays without elements, which may come without any.
const double nothing = 0;

nb::object loaded_module(const char* name) {
  PyObject* const modules = PyImport_GetModuleDict();
  PyObject* const found = PyDict_GetItemString(modules, name);
  return found == nullptr ? nb::object() : nb::borrow(found);
}

/// Whether the array belongs to a library that the caller has imported; Plated imports none of them.
bool belongs_to(nb::handle array, const char* module, const char* type) {
  const nb::object loaded = loaded_module(module);
  if (!loaded.is_valid() || !nb::hasattr(loaded, type)) return false;
  return nb::isinstance(array, nb::object(loaded.attr(type)));
}

/// numpy.ndarray and numpy.generic.
PyObject* numpy_types() {
  static PyObject* const types = [] {
    const nb::module_ numpy = nb::module_::import_("numpy");
    return nb::make_tuple(numpy.attr("ndarray"), numpy.attr("generic")).release().ptr();
  }();
  return types;
}

/// Whether it is an ndarray and no subclass, as nearly all arrays are.
bool is_plain_numpy(nb::handle array) {
  return reinterpret_cast<PyObject*>(Py_TYPE(array.ptr())) == PyTuple_GET_ITEM(numpy_types(), 0);
}

bool is_numpy(nb::handle array) { return PyObject_IsInstance(array.ptr(), numpy_types()) == 1; }

/// Whether NumPy has to make an array of it: a number, a list, or a table of pandas.
bool is_plain_data(nb::handle data) {
  PyObject* const object = data.ptr();
  if (PyList_Check(object) != 0 || PyTuple_Check(object) != 0 || PyFloat_CheckExact(object) != 0) return true;
  if (PyLong_CheckExact(object) != 0) return true;
  return nb::hasattr(data, "isna") && nb::hasattr(data, "to_numpy");
}

std::string class_name(nb::handle object) { return nb::cast<std::string>(nb::str(nb::type_name(object.type()))); }

std::string text_of(const nb::object& object) { return nb::cast<std::string>(nb::steal(PyObject_Str(object.ptr()))); }

std::string dtype_name(nb::handle array, const char* otherwise) {
  return nb::hasattr(array, "dtype") ? text_of(array.attr("dtype")) : otherwise;
}

[[noreturn]] void wrong_dtype(nb::handle array, Role role, const char* format) {
  raise("DtypeError",
        role.text() + " has the dtype " + dtype_name(array, format) + ": Plated takes float32 and float64");
}

/// Whether a tensor of PyTorch requires grad, but nobody records: parameters under torch.no_grad().
bool unrecorded(nb::handle tensor) {
  return nb::cast<bool>(nb::object(tensor.attr("requires_grad"))) &&
         !nb::cast<bool>(nb::module_::import_("torch").attr("is_grad_enabled")());
}

/// Throws for tensors of PyTorch whose memory does not say all: a gradient would be lost, or a sign.
void check_torch(nb::handle tensor, Role role) {
  if (nb::cast<bool>(nb::object(tensor.attr("requires_grad")))) {
    raise("DtypeError", role.text() +
                            " requires grad, and this function would lose it: call plated.torch, detach() it, "
                            "or read it under torch.no_grad()");
  }
  if (nb::cast<bool>(tensor.attr("is_neg")())) {
    raise("DtypeError", role.text() + " is a view that negates what it views: call resolve_neg()");
  }
}

/// Throws for masked arrays of NumPy: what is masked would be read like everything else.
void check_mask(nb::handle array, Role role) {
  if (!belongs_to(array, "numpy.ma", "MaskedArray")) return;
  raise("DtypeError", role.text() + " is a masked array, and its mask would be ignored: call .filled() with what " +
                          "masked entries stand for");
}

/// Throws unless elements lie at multiples of their size, where the machine reads them.
void check_aligned(const void* data, std::int64_t bytes, Role role) {
  if (reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(bytes) == 0) return;
  raise("ShapeError", role.text() + " begins at an address that is no multiple of its elements' " +
                          std::to_string(bytes) + " bytes: copy it");
}

/// Why an object that can be read neither way cannot.
[[noreturn]] void not_readable(nb::handle array, Role role, bool writable) {
  PyErr_Clear();
  if (nb::hasattr(array, "device") && nb::hasattr(array, "__dlpack__")) {
    raise("DtypeError", role.text() + " is a " + class_name(array) + " of " + dtype_name(array, "unknown dtype") +
                            " on " + text_of(array.attr("device")) + ", which Plated cannot " +
                            (writable ? "write to" : "read") + ": it takes float32 and float64 in main memory");
  }
  raise("DtypeError", role.text() + " is a " + class_name(array) +
                          ", not an array: those of NumPy, PyTorch and JAX are read, lists of numbers, and what has "
                          "the buffer protocol" +
                          (nb::hasattr(array, "to_numpy") ? "; call to_numpy() on it" : ""));
}

}  // namespace

std::string Role::text() const { return index < 0 ? name : std::string(name) + " " + std::to_string(index); }

Arrays::~Arrays() {
  for (Py_buffer& buffer : buffers_) PyBuffer_Release(&buffer);
}

Tensor Arrays::read(nb::handle array, Role role) {
  if (is_plain_numpy(array)) return view(array, role, false);
  if (belongs_to(array, "torch", "Tensor") && unrecorded(array)) return view(array.attr("detach")(), role, false);
  if (is_plain_data(array)) {
    return view(nb::module_::import_("plated._operands").attr("read_operand")(array, role.text()), role, false);
  }
  return view(array, role, false);
}
Tensor Arrays::write(nb::handle array, Role role) { return view(array, role, true); }

Tensor Arrays::view(nb::handle array, Role role, bool writable) {
  const bool plain = is_plain_numpy(array);
  const bool numpy = plain || is_numpy(array);
  if (!numpy) {
    note_library(array, role);
  } else if (!plain) {
    check_mask(array, role);
  }
  if (numpy || (PyObject_CheckBuffer(array.ptr()) != 0 && !nb::hasattr(array, "__dlpack__"))) {
    return view_buffer(array, role, writable);
  }
  return view_dlpack(array, role, writable);
}

void Arrays::note_library(nb::handle array, Role role) {
  if (belongs_to(array, "torch", "Tensor")) {
    check_torch(array, role);
    if (library_ == Library::numpy) library_ = Library::torch;
  } else if (library_ == Library::numpy && belongs_to(array, "jax", "Array")) {
    library_ = Library::jax;
  }
}

Tensor Arrays::view_buffer(nb::handle array, Role role, bool writable) {
  Py_buffer& buffer = buffers_.emplace_back();
  if (PyObject_GetBuffer(array.ptr(), &buffer, writable ? PyBUF_RECORDS : PyBUF_RECORDS_RO) != 0) {
    buffers_.pop_back();
    PyErr_Clear();
    // Some element types, dates among them, cannot be exported at all.
    if (!writable || PyObject_GetBuffer(array.ptr(), &buffers_.emplace_back(), PyBUF_RECORDS_RO) != 0) {
      if (writable) buffers_.pop_back();
      PyErr_Clear();
      wrong_dtype(array, role, "unknown");
    }
    raise("ShapeError", role.text() + " is read-only and cannot be written to");
  }
  const char* format = buffer.format == nullptr ? "B" : buffer.format;
  // All machines that Plated runs on are little-endian, so '<' is native, too.
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  const bool single = std::strcmp(format, "f") == 0;
  if (!single && std::strcmp(format, "d") != 0) wrong_dtype(array, role, format);
  const std::int64_t bytes = single ? 4 : 8;

  const auto rank = static_cast<std::size_t>(buffer.ndim);
  Tensor::Shape shape(buffer.shape, buffer.shape + rank);
  Tensor::Shape strides(rank);
  std::int64_t dense = bytes;  // arrays of ctypes do not tell their strides, which are those of C
  for (std::size_t k = rank; k-- > 0;) {
    const std::int64_t stride = buffer.strides == nullptr ? dense : buffer.strides[k];
    if (stride % bytes != 0) {
      raise("ShapeError", role.text() + " has a stride of " + std::to_string(stride) +
                              " bytes, which is no multiple of its elements' " + std::to_string(bytes) + ": copy it");
    }
    strides[k] = stride / bytes;
    dense *= shape[k];
  }
  void* const data = buffer.buf == nullptr ? const_cast<double*>(&nothing) : buffer.buf;
  check_aligned(data, bytes, role);
  if (writable) {
    return single ? Tensor::view(static_cast<float*>(data), std::move(shape), std::move(strides))
                  : Tensor::view(static_cast<double*>(data), std::move(shape), std::move(strides));
  }
  return single ? Tensor::view(static_cast<const float*>(data), std::move(shape), std::move(strides))
                : Tensor::view(static_cast<const double*>(data), std::move(shape), std::move(strides));
}

Tensor Arrays::view_dlpack(nb::handle array, Role role, bool writable) {
  nb::ndarray<nb::ro> imported;
  const void* data = nullptr;
  if (writable) {
    if (belongs_to(array, "jax", "Array"))
      raise("ShapeError", role.text() + " is an array of JAX, which nobody may write to");
    nb::ndarray<> target;
    if (!nb::try_cast(array, target, false)) not_readable(array, role, true);
    data = target.data();
    imported = nb::ndarray<nb::ro>(target);
  } else if (!nb::try_cast(array, imported, false)) {
    not_readable(array, role, false);
  } else {
    data = imported.data();
  }
  if (imported.device_type() != nb::device::cpu::value) not_readable(array, role, writable);
  const bool single = imported.dtype() == nb::dtype<float>();
  if (!single && imported.dtype() != nb::dtype<double>()) wrong_dtype(array, role, "unknown");
  Tensor::Shape shape(imported.shape_ptr(), imported.shape_ptr() + imported.ndim());
  Tensor::Shape strides(imported.stride_ptr(), imported.stride_ptr() + imported.ndim());
  const bool empty = imported.size() == 0;
  capsules_.push_back(std::move(imported));
  if (data == nullptr && !empty) {  // tensors of PyTorch that stand for others, masked ones among them
    raise("NullDataError", role.text() + " is a " + class_name(array) +
                               ", which has no elements in memory: make it a " + "plain array of what they stand for");
  }
  if (data == nullptr) data = &nothing;
  check_aligned(data, single ? 4 : 8, role);
  if (writable) {
    void* const target = const_cast<void*>(data);
    return single ? Tensor::view(static_cast<float*>(target), std::move(shape), std::move(strides))
                  : Tensor::view(static_cast<double*>(target), std::move(shape), std::move(strides));
  }
  return single ? Tensor::view(static_cast<const float*>(data), std::move(shape), std::move(strides))
                : Tensor::view(static_cast<const double*>(data), std::move(shape), std::move(strides));
}

namespace {

template <class View>
std::vector<Tensor> each(nb::handle sequence, const char* name, bool or_none, View view) {
  std::vector<Tensor> tensors;
  // An array is iterable, too, and its rows are not what is meant.
  if (!nb::isinstance<nb::tuple>(sequence) && !nb::isinstance<nb::list>(sequence)) {
    tensors.push_back(view(sequence, Role{name}));
    return tensors;
  }
  for (const nb::handle item : nb::borrow<nb::sequence>(sequence)) {
    const Role role{name, static_cast<std::ptrdiff_t>(tensors.size())};
    tensors.push_back(or_none && item.is_none() ? Tensor() : view(item, role));
  }
  return tensors;
}

}  // namespace

std::vector<Tensor> Arrays::read_all(nb::handle sequence, const char* name, bool or_none) {
  return each(sequence, name, or_none, [&](nb::handle item, Role role) { return read(item, role); });
}

std::vector<Tensor> Arrays::write_all(nb::handle sequence, const char* name, bool or_none) {
  return each(sequence, name, or_none, [&](nb::handle item, Role role) { return write(item, role); });
}

Tensor::Shape shape_of(nb::handle array_or_shape, Role role) {
  nb::object shape = nb::borrow(array_or_shape);
  if (nb::hasattr(shape, "shape")) shape = shape.attr("shape");
  Tensor::Shape sizes;
  if (!nb::isinstance<nb::str>(shape) && !nb::isinstance<nb::bytes>(shape) && nb::isinstance<nb::sequence>(shape)) {
    for (const nb::handle size : shape) {
      sizes.push_back(integer_of<std::int64_t>("an extent of " + role.text(), size));
    }
    return sizes;
  }
  raise("DtypeError", role.text() + " is a " + class_name(array_or_shape) + ", neither an array nor a shape");
}

std::vector<Tensor::Shape> shapes_of(const nb::args& operands) {
  std::vector<Tensor::Shape> shapes;
  for (const nb::handle operand : operands) {
    shapes.push_back(shape_of(operand, {"operand", static_cast<std::ptrdiff_t>(shapes.size())}));
  }
  return shapes;
}

std::optional<IntegerView> view_integers(nb::handle array) {
  using Array = nb::ndarray<nb::ro, nb::device::cpu>;
  Array entries;
  if (!nb::ndarray_check(array) || !nb::try_cast(array, entries)) return std::nullopt;
  const auto view = [&]<std::integral T>(T) -> std::optional<IntegerView> {
    if (entries.dtype() != nb::dtype<T>()) return std::nullopt;
    static constexpr T none = 0;  // an empty array may have no address
    const auto* const data = static_cast<const T*>(entries.data());
    const Tensor::Shape shape(entries.shape_ptr(), entries.shape_ptr() + entries.ndim());
    const Tensor::Shape strides(entries.stride_ptr(), entries.stride_ptr() + entries.ndim());
    return IntegerView::view(entries.size() == 0 ? &none : data, shape, strides)
        .keeping(std::make_shared<const Array>(entries));
  };
  std::optional<IntegerView> found;
  const auto look = [&](auto... types) { (void)((found = view(types)) || ...); };
  look(std::int8_t{}, std::int16_t{}, std::int32_t{}, std::int64_t{}, std::uint8_t{}, std::uint16_t{}, std::uint32_t{},
       std::uint64_t{});
  return found;
}

IntegerView read_integers(nb::handle values, const std::string& key, const std::string& name) {
  const nb::object read = nb::module_::import_("plated._integers").attr(("read_" + key).c_str());
  const nb::object array = read(values, key + " of '" + name + "'");
  return view_integers(array).value();
}

}  // namespace plated::python
