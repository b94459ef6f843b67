// Calls with the entries of a view in the type that they have.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "plated/integer_view.hpp"
#include "plated/tensor.hpp"

namespace plated::tensor {

/// The dtype to read each IntegerType as, in the order of these: no state is beyond 64 bits with a sign.
inline constexpr std::array<Dtype, 8> dtypes_of_integers{Dtype::int8,  Dtype::int16,  Dtype::int32,  Dtype::int64,
                                                         Dtype::uint8, Dtype::uint16, Dtype::uint32, Dtype::int64};

[[nodiscard]] constexpr Dtype dtype_of(IntegerType type) { return dtypes_of_integers[static_cast<std::size_t>(type)]; }

/// The first that is read as a dtype of integers.
[[nodiscard]] constexpr IntegerType integer_type_of_dtype(Dtype dtype) {
  const auto* const found = std::find(dtypes_of_integers.begin(), dtypes_of_integers.end(), dtype);
  return static_cast<IntegerType>(found - dtypes_of_integers.begin());
}

/// visit(data) with a pointer to integers of a type.
template <class Visit>
decltype(auto) visit_integers(const void* data, IntegerType type, const Visit& visit) {
  switch (type) {
    case IntegerType::int8:
      return visit(static_cast<const std::int8_t*>(data));
    case IntegerType::int16:
      return visit(static_cast<const std::int16_t*>(data));
    case IntegerType::int32:
      return visit(static_cast<const std::int32_t*>(data));
    case IntegerType::uint8:
      return visit(static_cast<const std::uint8_t*>(data));
    case IntegerType::uint16:
      return visit(static_cast<const std::uint16_t*>(data));
    case IntegerType::uint32:
      return visit(static_cast<const std::uint32_t*>(data));
    case IntegerType::uint64:
      return visit(static_cast<const std::uint64_t*>(data));
    case IntegerType::int64:
      break;
  }
  return visit(static_cast<const std::int64_t*>(data));
}

/// The same with the first entry of a view: the others lie in its strides.
template <class Visit>
decltype(auto) visit_integers(const IntegerView& view, const Visit& visit) {
  return visit_integers(view.data(), view.type(), visit);
}

}  // namespace plated::tensor
