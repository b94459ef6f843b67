// Views of arrays of integers: observed values and lengths, in the memory and the type that the caller has them in.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "plated/index.hpp"
#include "plated/integers.hpp"

namespace plated {

/// The type of integers, known at run time. Arrays of bool are read as uint8.
enum class IntegerType : std::uint8_t { int8, int16, int32, int64, uint8, uint16, uint32, uint64 };

/// The IntegerType of a C++ type.
template <std::integral T>
inline constexpr IntegerType integer_type_of = [] {
  using enum IntegerType;
  constexpr bool is_signed = std::is_signed_v<T>;
  if constexpr (sizeof(T) == 1) return is_signed ? int8 : uint8;
  if constexpr (sizeof(T) == 2) return is_signed ? int16 : uint16;
  if constexpr (sizeof(T) == 4) return is_signed ? int32 : uint32;
  if constexpr (sizeof(T) == 8) return is_signed ? int64 : uint64;
}();

/// An array of integers that is only read: a caller's memory, of any integer type and in any strides, or Integers that
/// were given away. Entries are read as 64-bit integers; an unsigned one beyond them is read as the largest.
///
///   std::vector<std::int32_t> seen = …;
///   RunOptions options{.evidence = {{"sensor", IntegerView::view(seen)}, {"rain", 1}}};
///
/// Copies share the memory.
class IntegerView {
 public:
  using Shape = std::vector<std::int64_t>;

  /// Without data.
  IntegerView() = default;
  /// Takes over, or copies, what it is given. Throws ShapeError unless there are as many entries as the shape says.
  IntegerView(Integers owned);  // NOLINT(google-explicit-constructor)
  /// A single integer, without axes.
  template <std::integral T>
  IntegerView(T value) : IntegerView(Integers({}, Index(value).value)) {}  // NOLINT(google-explicit-constructor)

  /// A view of `data`, which the caller keeps alive; strides are in elements, and without them it is row-major. Throws
  /// SizeError for a negative extent and RankError where there are not as many strides as extents.
  template <std::integral T>
  [[nodiscard]] static IntegerView view(const T* data, Shape shape, Shape strides) {
    return IntegerView(data, integer_type_of<T>, std::move(shape), std::move(strides));
  }
  template <std::integral T>
  [[nodiscard]] static IntegerView view(const T* data, Shape shape) {
    Shape strides = row_major(shape);
    return view(data, std::move(shape), std::move(strides));
  }
  /// Of an array that the caller keeps alive. Throws ShapeError unless it has as many entries as its shape says.
  [[nodiscard]] static IntegerView view(const Integers& array);
  /// Of a vector, array or span, likewise: with one axis.
  template <std::ranges::contiguous_range R>
  requires std::integral<std::ranges::range_value_t<R>>
  [[nodiscard]] static IntegerView view(const R& entries) {
    return view(std::ranges::data(entries), {static_cast<std::int64_t>(std::ranges::size(entries))});
  }

  /// The same view, which keeps `owner` alive as long as it or a copy of it lives.
  [[nodiscard]] IntegerView keeping(std::shared_ptr<const void> owner) const;
  /// A view of `count` slices along an axis, from `first` on, which keeps alive what this one does. Throws ShapeError
  /// for slices or an axis that it does not have.
  [[nodiscard]] IntegerView range(std::size_t axis, std::int64_t first, std::int64_t count) const;
  /// The same entries with other axes first: axis k is axis axes[k] of this view. Throws ShapeError unless each axis is
  /// named once.
  [[nodiscard]] IntegerView permuted(const std::vector<std::size_t>& axes) const;
  /// A row-major copy of the same type that owns its memory.
  [[nodiscard]] IntegerView copy() const;

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const Shape& strides() const { return strides_; }
  [[nodiscard]] IntegerType type() const { return type_; }
  /// The first entry (index 0 on every axis); null without data.
  [[nodiscard]] const void* data() const { return data_; }
  /// Whether entries lie behind each other, the last axis first.
  [[nodiscard]] bool is_row_major() const { return is_row_major_; }
  /// The number of entries; 0 without data.
  [[nodiscard]] std::size_t size() const { return data_ == nullptr ? 0 : size_; }

  /// The k-th entry in row-major order, which must exist.
  [[nodiscard]] std::int64_t operator[](std::size_t k) const { return read(is_row_major_ ? k : offset(k)); }
  /// The entry at an index. Throws ShapeError out of range.
  [[nodiscard]] std::int64_t at(std::span<const std::int64_t> index) const;
  [[nodiscard]] std::int64_t at(std::initializer_list<Index> index) const;
  /// All entries in row-major order.
  [[nodiscard]] std::vector<std::int64_t> values() const { return {begin(), end()}; }
  /// A copy that can be written to.
  [[nodiscard]] Integers integers() const { return {shape_, values()}; }

  /// Visits the entries in row-major order.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::int64_t;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::int64_t*;
    using reference = std::int64_t;

    Iterator() = default;
    Iterator(const IntegerView& view, std::size_t at) : view_(&view), at_(at) {}
    std::int64_t operator*() const { return (*view_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++at_;
      return before;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const IntegerView* view_ = nullptr;
    std::size_t at_ = 0;
  };
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size()}; }

  /// Whether shapes and entries are the same; types and strides may differ.
  [[nodiscard]] bool operator==(const IntegerView& other) const;

 private:
  IntegerView(const void* data, IntegerType type, Shape shape, Shape strides);
  [[nodiscard]] static Shape row_major(const Shape& shape);
  [[nodiscard]] std::size_t offset(std::size_t k) const;
  [[nodiscard]] std::int64_t read(std::size_t offset) const;
  template <class Numbers>
  [[nodiscard]] std::int64_t entry_at(const Numbers& index) const;

  const void* data_ = nullptr;
  IntegerType type_ = IntegerType::int64;
  bool is_row_major_ = true;
  std::size_t size_ = 0;
  Shape shape_;
  Shape strides_;
  std::shared_ptr<const void> owner_;
};

}  // namespace plated
