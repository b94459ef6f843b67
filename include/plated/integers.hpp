// Arrays of integers: assignments of variables, and observed values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "plated/index.hpp"

namespace plated {

/// A row-major array of integers that owns its memory. −1 stands for "no value".
struct Integers {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> values;

  Integers() = default;
  /// All entries alike. Throws SizeError for a negative extent.
  explicit Integers(std::vector<std::int64_t> extents, std::int64_t fill = -1);
  /// Throws ShapeError unless there are exactly as many entries as the shape says.
  Integers(std::vector<std::int64_t> extents, std::vector<std::int64_t> entries);
  Integers(std::vector<std::int64_t> extents, std::initializer_list<std::int64_t> entries)
      : Integers(std::move(extents), std::vector<std::int64_t>(entries)) {}

  /// The entry at an index, of integers of any type. Throws ShapeError out of range.
  [[nodiscard]] std::int64_t& at(std::span<const std::int64_t> index);
  [[nodiscard]] std::int64_t at(std::span<const std::int64_t> index) const;
  [[nodiscard]] std::int64_t& at(std::initializer_list<Index> index);
  [[nodiscard]] std::int64_t at(std::initializer_list<Index> index) const;

  bool operator==(const Integers&) const = default;

 private:
  template <class Numbers>
  [[nodiscard]] std::size_t offset(const Numbers& index) const;
};

}  // namespace plated
