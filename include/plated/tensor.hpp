// Tensors: dense arrays of numbers that own their memory or view a caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "plated/index.hpp"

namespace plated {

/// The element type of a tensor, known at run time. Factors, outputs and answers are float32 or float64; integers are
/// states of observed variables.
enum class Dtype : std::uint8_t { float32, float64, int8, int16, int32, int64, uint8, uint16, uint32 };

/// "float32", "int8" …
[[nodiscard]] std::string_view name(Dtype dtype);
/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::int8:
    case Dtype::uint8:
      return 1;
    case Dtype::int16:
    case Dtype::uint16:
      return 2;
    case Dtype::float32:
    case Dtype::int32:
    case Dtype::uint32:
      return 4;
    case Dtype::float64:
    case Dtype::int64:
      break;
  }
  return 8;
}
[[nodiscard]] constexpr bool is_floating(Dtype dtype) { return dtype == Dtype::float32 || dtype == Dtype::float64; }

/// A C++ type that tensors have elements of.
template <class T>
concept Element = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// The Dtype of a C++ type, which is float or double.
template <Element T>
inline constexpr Dtype dtype_of = std::is_same_v<T, float> ? Dtype::float32 : Dtype::float64;

/// A vector, array or span of floats or doubles.
template <class R>
concept ElementRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    Element<std::remove_cv_t<std::ranges::range_value_t<R>>>;

/// A dense array with a shape and, for each axis, a stride in elements: any stride, negative and zero included.
///
///   Tensor owned = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
///   Tensor view = Tensor::view(pointer, {2, 3}, {1, 2});   // a column-major matrix, not copied
///   owned.at<float>({0, 1}) = 2.5F;
///   for (double entry : view) sum += entry;                 // in row-major order
///
/// Copying a Tensor shares its memory. A default-constructed Tensor has no data.
class Tensor {
 public:
  using Shape = std::vector<std::int64_t>;

  Tensor() = default;

  /// Row-major, owned, filled with zeros, aligned to 64 bytes. Throws SizeError on a negative extent and
  /// SizeOverflowError where the bytes do not fit in 63 bits.
  Tensor(Dtype dtype, Shape shape);
  /// The same with uninitialised entries.
  [[nodiscard]] static Tensor uninitialised(Dtype dtype, Shape shape);

  /// Row-major and owned, with the given entries. Throws ShapeError unless there are exactly as many as the shape says.
  template <class T>
  [[nodiscard]] static Tensor of(Shape shape, std::initializer_list<T> values) {
    return copy_of(std::move(shape), std::span<const T>(values.begin(), values.size()));
  }
  template <class T>
  [[nodiscard]] static Tensor of(Shape shape, std::span<const std::type_identity_t<T>> values) {
    return copy_of<T>(std::move(shape), values);
  }
  template <ElementRange R>
  [[nodiscard]] static Tensor of(Shape shape, const R& values) {
    using T = std::remove_cv_t<std::ranges::range_value_t<R>>;
    return copy_of(std::move(shape), std::span<const T>(values));
  }
  /// The same with one axis.
  template <ElementRange R>
  [[nodiscard]] static Tensor of(const R& values) {
    return of({static_cast<std::int64_t>(std::ranges::size(values))}, values);
  }
  /// A tensor without axes.
  template <class T>
  [[nodiscard]] static Tensor scalar(T value) {
    return copy_of(Shape{}, std::span<const T>(&value, 1));
  }

  /// A view of `data`, which the caller keeps alive. Without strides: row-major. A view of const memory is read-only.
  template <class T>
  [[nodiscard]] static Tensor view(T* data, Shape shape, Shape strides) {
    return Tensor(dtype_of<std::remove_const_t<T>>, const_cast<std::remove_const_t<T>*>(data), std::move(shape),
                  std::move(strides), !std::is_const_v<T>);
  }
  template <class T>
  [[nodiscard]] static Tensor view(T* data, Shape shape) {
    return Tensor(dtype_of<std::remove_const_t<T>>, const_cast<std::remove_const_t<T>*>(data),
                  row_major_axes(std::move(shape)), !std::is_const_v<T>);
  }
  /// The same of observed states: read-only integers.
  [[nodiscard]] static Tensor states(Dtype dtype, const void* data, Shape shape, Shape strides) {
    return Tensor(dtype, const_cast<void*>(data), std::move(shape), std::move(strides), false);
  }
  /// The same of a vector, array or span, which is to have as many elements as the shape says (SizeError).
  template <ElementRange R>
  requires std::ranges::borrowed_range<R>
  [[nodiscard]] static Tensor view(R&& values, Shape shape) {
    Tensor result = view(std::ranges::data(values), std::move(shape));
    check_count(result.elements(), std::ranges::size(values));
    return result;
  }
  /// With one axis.
  template <ElementRange R>
  requires std::ranges::borrowed_range<R>
  [[nodiscard]] static Tensor view(R&& values) {
    return view(std::ranges::data(values), {static_cast<std::int64_t>(std::ranges::size(values))});
  }

  /// The same tensor, which keeps `owner` alive as long as it or a view of it lives: for foreign memory.
  [[nodiscard]] Tensor keeping(const std::shared_ptr<void>& owner) const;

  [[nodiscard]] Dtype dtype() const { return dtype_; }
  /// References are valid as long as the tensor or a copy of it.
  [[nodiscard]] const Shape& shape() const { return axes_ ? axes_->shape : none(); }
  [[nodiscard]] const Shape& strides() const { return axes_ ? axes_->strides : none(); }
  [[nodiscard]] std::size_t rank() const { return shape().size(); }
  [[nodiscard]] std::int64_t elements() const { return axes_ ? axes_->elements : 1; }
  [[nodiscard]] bool writable() const { return writable_; }

  /// The first element (index 0 on every axis); null for a tensor without data.
  [[nodiscard]] const void* data() const { return data_; }
  /// Throws Error where the tensor views const memory.
  [[nodiscard]] void* mutable_data() const;

  /// The same as elements of their own type, const or not: `data<const float>()` reads, `data<float>()` writes. Throws
  /// NullDataError without data, and Error where the tensor has another type or, to write, as mutable_data().
  template <class T>
  requires Element<std::remove_const_t<T>>
  [[nodiscard]] T* data() const {
    check_dtype(dtype_of<std::remove_const_t<T>>);
    return static_cast<T*>(std::is_const_v<T> ? data_ : mutable_data());
  }
  /// All elements, which must lie in row-major order. Throws as data() does, and ShapeError where they do not.
  template <class T>
  [[nodiscard]] std::span<T> span() const {
    check_row_major();
    return {data<T>(), static_cast<std::size_t>(elements())};
  }

  /// The entry at an index, as a double: `at({i, j})`, with integers of any type. Throws ShapeError out of range.
  [[nodiscard]] double at(std::span<const std::int64_t> index) const;
  [[nodiscard]] double at(std::initializer_list<Index> index) const;
  /// The same to be written: `at<float>({i, j}) = 1`. Throws as data() does, too.
  template <class T>
  [[nodiscard]] T& at(std::span<const std::int64_t> index) const {
    return data<T>()[offset_of(index)];
  }
  template <class T>
  [[nodiscard]] T& at(std::initializer_list<Index> index) const {
    return data<T>()[offset_of(index)];
  }
  /// The one entry of a tensor with one element.
  [[nodiscard]] double item() const;
  /// All entries in row-major order, as doubles.
  [[nodiscard]] std::vector<double> values() const;

  /// Visits all entries in row-major order, as doubles.
  class Iterator;
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;

  /// Whether dtypes, shapes and all entries are the same; strides may differ. NaN differs from itself, as in C++.
  [[nodiscard]] bool operator==(const Tensor& other) const;

  /// Views of the same memory: one slice of an axis; axes in another order.
  [[nodiscard]] Tensor select(std::size_t axis, std::int64_t index) const;
  [[nodiscard]] Tensor permuted(std::span<const std::size_t> axes) const;
  /// A read-only view of the same memory, repeated along further axes in front of its own. Throws as view() does.
  [[nodiscard]] Tensor broadcast(const Shape& leading) const;

  /// Row-major strides of a shape.
  [[nodiscard]] static Shape row_major(const Shape& shape);

 private:
  /// Copies share them, and so do many tensors of one shape: a model may have a hundred thousand.
  struct Axes {
    Shape shape;
    Shape strides;
    std::int64_t elements = 1;
  };
  /// Null without axes. Throws SizeError and SizeOverflowError.
  [[nodiscard]] static std::shared_ptr<const Axes> row_major_axes(Shape shape);
  static const Shape& none() {
    static const Shape shape;
    return shape;
  }

  Tensor(Dtype dtype, void* data, Shape shape, Shape strides, bool writable);
  Tensor(Dtype dtype, void* data, std::shared_ptr<const Axes> axes, bool writable)
      : dtype_(dtype), writable_(writable), data_(data), axes_(std::move(axes)) {}
  template <class T>
  static Tensor copy_of(Shape shape, std::span<const T> values);
  void check_dtype(Dtype wanted) const;
  void check_row_major() const;
  static void check_count(std::int64_t elements, std::size_t given);
  [[nodiscard]] std::int64_t offset_of(std::span<const std::int64_t> index) const;
  [[nodiscard]] std::int64_t offset_of(std::initializer_list<Index> index) const;
  [[nodiscard]] double read(std::int64_t offset) const;

  Dtype dtype_ = Dtype::float64;
  bool writable_ = true;
  void* data_ = nullptr;
  std::shared_ptr<std::byte> owner_;
  std::shared_ptr<const Axes> axes_;
};

/// Of a tensor that it does not keep alive.
class Tensor::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = double;
  using difference_type = std::ptrdiff_t;
  using pointer = const double*;
  using reference = double;

  Iterator() = default;
  double operator*() const { return tensor_->read(offset_); }
  Iterator& operator++();
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Iterator& other) const { return done_ == other.done_; }

 private:
  friend class Tensor;
  Iterator(const Tensor& tensor, std::int64_t done) : tensor_(&tensor), done_(done) {}

  const Tensor* tensor_ = nullptr;
  std::int64_t done_ = 0;  // entries
  std::int64_t offset_ = 0;
};
inline Tensor::Iterator Tensor::begin() const { return {*this, 0}; }
inline Tensor::Iterator Tensor::end() const { return {*this, data_ == nullptr ? 0 : elements()}; }

extern template Tensor Tensor::copy_of<float>(Shape, std::span<const float>);
extern template Tensor Tensor::copy_of<double>(Shape, std::span<const double>);

}  // namespace plated
