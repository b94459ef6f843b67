// Tensors: dense arrays of numbers that own their memory or view a caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace plated {

/// The element type of a tensor, known at run time. Factors, outputs and answers are float32 or float64; integers are
/// states of observed variables.
enum class Dtype : std::uint8_t { float32, float64, int8, int16, int32, int64 };

/// "float32", "int8" …
[[nodiscard]] std::string_view name(Dtype dtype);
/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::int8:
      return 1;
    case Dtype::int16:
      return 2;
    case Dtype::float32:
    case Dtype::int32:
      return 4;
    case Dtype::float64:
    case Dtype::int64:
      break;
  }
  return 8;
}
[[nodiscard]] constexpr bool is_floating(Dtype dtype) { return dtype == Dtype::float32 || dtype == Dtype::float64; }

/// The Dtype of a C++ type: float, double, or a signed integer.
template <class T>
requires std::is_same_v<T, float> || std::is_same_v<T, double> ||
    (std::is_integral_v<T>&& std::is_signed_v<T>)inline constexpr Dtype dtype_of = std::is_same_v<T, float>
                                                                                       ? Dtype::float32
                                                                                   : std::is_same_v<T, double>
                                                                                       ? Dtype::float64
                                                                                   : sizeof(T) == 1 ? Dtype::int8
                                                                                   : sizeof(T) == 2 ? Dtype::int16
                                                                                   : sizeof(T) == 4 ? Dtype::int32
                                                                                                    : Dtype::int64;

/// A dense array with a shape and, for each axis, a stride in elements: any stride, negative and zero included.
///
///   Tensor owned = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
///   Tensor view = Tensor::view(pointer, {2, 3}, {1, 2});   // a column-major matrix, not copied
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
  [[nodiscard]] static Tensor of(Shape shape, const std::vector<T>& values) {
    return copy_of(std::move(shape), std::span<const T>(values));
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

  /// The entry at an index, as a double. Throws ShapeError out of range.
  [[nodiscard]] double at(std::span<const std::int64_t> index) const;
  [[nodiscard]] double at(std::initializer_list<std::int64_t> index) const {
    return at(std::span<const std::int64_t>(index.begin(), index.size()));
  }
  /// The one entry of a tensor with one element.
  [[nodiscard]] double item() const;
  /// All entries in row-major order, as doubles.
  [[nodiscard]] std::vector<double> values() const;

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

  Dtype dtype_ = Dtype::float64;
  bool writable_ = true;
  void* data_ = nullptr;
  std::shared_ptr<std::byte> owner_;
  std::shared_ptr<const Axes> axes_;
};

extern template Tensor Tensor::copy_of<float>(Shape, std::span<const float>);
extern template Tensor Tensor::copy_of<double>(Shape, std::span<const double>);

}  // namespace plated
