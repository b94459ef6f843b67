// Calls with the entries of a view in the type that they have.
#pragma once

#include <cstdint>

#include "plated/integer_view.hpp"

namespace plated::tensor {

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
