// Converts arrays between Python and C++: tensors that view them without copies, and answers in the caller's library.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plated/integer_view.hpp"
#include "plated/tensor.hpp"

namespace plated::python {

namespace nb = nanobind;

/// Whose arrays the caller passes, and so whose arrays the answers are.
enum class Library : std::uint8_t { numpy, torch, jax };

/// What an array is to the call, for messages: "operand 2", or without a number "the cotangent".
struct Role {
  const char* name = "operand";
  std::ptrdiff_t index = -1;
  [[nodiscard]] std::string text() const;
};

/// The arrays of one call: keeps their memory in place while tensors view it.
class Arrays {
 public:
  Arrays() = default;
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;
  ~Arrays();

  /// A view of an array of float32 or float64 with any strides. Throws plated.DtypeError for other element types and
  /// for what is no array in the machine's main memory.
  [[nodiscard]] Tensor read(nb::handle array, Role role);
  /// The same of an array that can be written to.
  [[nodiscard]] Tensor write(nb::handle array, Role role);
  /// A view of each array of a sequence; None stands for a tensor without data where that is allowed.
  [[nodiscard]] std::vector<Tensor> read_all(nb::handle sequence, const char* name, bool or_none = false);
  [[nodiscard]] std::vector<Tensor> write_all(nb::handle sequence, const char* name, bool or_none = false);

  /// The library of the first operand that is no NumPy array, else NumPy.
  [[nodiscard]] Library library() const { return library_; }

 private:
  Tensor view(nb::handle array, Role role, bool writable);
  Tensor view_buffer(nb::handle array, Role role, bool writable);
  Tensor view_dlpack(nb::handle array, Role role, bool writable);
  void note_library(nb::handle array, Role role);

  Library library_ = Library::numpy;
  std::deque<Py_buffer> buffers_;
  std::vector<nb::ndarray<nb::ro>> capsules_;
};

/// The shape of an array, or of a tuple or list that is one.
[[nodiscard]] Tensor::Shape shape_of(nb::handle array_or_shape, Role role);
/// The same of all operands of an equation.
[[nodiscard]] std::vector<Tensor::Shape> shapes_of(const nb::args& operands);

/// A view of an array of integers of any width, which it keeps alive; none of what is no such array.
[[nodiscard]] std::optional<IntegerView> view_integers(nb::handle array);
/// The evidence or the lengths (`key`) of `name`, from anything that NumPy makes an array of integers from; NumPy's own
/// are read in place. Throws plated.DtypeError for what is none, and plated.ValueError for what 64 bits cannot hold.
[[nodiscard]] IntegerView read_integers(nb::handle values, const std::string& key, const std::string& name);

/// Answers, without copies: the Python array keeps the memory.
[[nodiscard]] nb::object to_python(Tensor tensor, Library library);
[[nodiscard]] nb::object to_python(Integers integers, Library library);
[[nodiscard]] inline nb::object to_python(const IntegerView& integers, Library library) {
  return to_python(integers.integers(), library);
}
[[nodiscard]] nb::list to_list(std::vector<Tensor> tensors, Library library);
/// One output as itself, several as a tuple.
[[nodiscard]] nb::object one_or_tuple(std::vector<Tensor> tensors, Library library);

template <class Answer>
[[nodiscard]] nb::dict to_dict(std::map<std::string, Answer> answers, Library library) {
  nb::dict dict;
  for (auto& [name, answer] : answers) dict[nb::str(name.data(), name.size())] = to_python(std::move(answer), library);
  return dict;
}

}  // namespace plated::python
