// Writes JSON.
#include "json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace plated::cli::json {
namespace {

/// `entry(k)` is the text of the k-th element in row-major order.
template <class Entry>
void append(std::string& out, const std::vector<std::int64_t>& shape, std::size_t axis, std::size_t& next,
            const Entry& entry) {
  if (axis == shape.size()) {
    out += entry(next++);
    return;
  }
  out += '[';
  for (std::int64_t k = 0; k < shape[axis]; ++k) {
    if (k > 0) out += ", ";
    append(out, shape, axis + 1, next, entry);
  }
  out += ']';
}

}  // namespace

std::string number(double value) {
  if (std::isnan(value)) throw std::runtime_error("an answer is not a number");
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  return fmt::format("{}", value);
}

std::string nested(const Tensor& tensor) {
  const std::vector<double> values = tensor.values();
  // A float32 is shortest as itself: as a double it would drag along digits that say nothing.
  const bool single = tensor.dtype() == Dtype::float32;
  std::string out;
  std::size_t next = 0;
  append(out, tensor.shape(), 0, next, [&](std::size_t k) {
    const double value = values[k];
    return single && std::isfinite(value) ? fmt::format("{}", static_cast<float>(value)) : number(value);
  });
  return out;
}

std::string nested(const Integers& integers) {
  std::string out;
  std::size_t next = 0;
  append(out, integers.shape, 0, next, [&](std::size_t k) { return std::to_string(integers.values[k]); });
  return out;
}

}  // namespace plated::cli::json
