// Finds entries out of range, and says where they are.
#include "tensor/check_entries.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <span>
#include <type_traits>

#include "plated/error.hpp"
#include "tensor/visit_integers.hpp"

namespace plated::tensor {
namespace {

/// " at index (2, 0)" of the entry that comes `flat` entries behind the first; nothing where there are no axes.
std::string place(const std::vector<std::int64_t>& shape, std::int64_t flat) {
  std::string index;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index.insert(0, std::to_string(flat % shape[axis]) + (index.empty() ? "" : ", "));
    flat /= shape[axis];
  }
  return index.empty() ? "" : " at index (" + index + ")";
}

struct Axis {
  std::int64_t extent = 1, stride = 0;
};

/// The axes along which entries lie in memory, those far apart first; neighbours that lie like one are one. Nothing is
/// allocated: runs that repeat are to allocate nothing.
class InMemory {
 public:
  static constexpr std::size_t most_axes = 16;

  /// Of a rank of no more than these.
  explicit InMemory(const IntegerView& integers) {
    std::array<Axis, most_axes> axes;
    std::size_t count = 0;
    for (std::size_t a = 0; a < integers.shape().size(); ++a) {
      const Axis axis{.extent = integers.shape()[a], .stride = integers.strides()[a]};
      if (axis.extent > 1 && axis.stride != 0) axes[count++] = axis;
    }
    const std::span<Axis> used(axes.data(), count);
    std::ranges::sort(used, std::ranges::greater{}, [](const Axis& axis) { return std::abs(axis.stride); });
    for (const Axis& axis : used) {
      if (count_ > 0 && joined_[count_ - 1].stride == axis.extent * axis.stride) {
        joined_[count_ - 1] = {.extent = joined_[count_ - 1].extent * axis.extent, .stride = axis.stride};
      } else {
        joined_[count_++] = axis;
      }
    }
  }

  [[nodiscard]] std::span<const Axis> axes() const { return {joined_.data(), count_}; }

 private:
  std::array<Axis, most_axes> joined_ = {};
  std::size_t count_ = 0;
};

template <class T>
struct Extremes {
  T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::lowest();

  void look_at(const T* entries, std::span<const Axis> axes) {
    if (axes.empty()) {
      least = std::min(least, *entries);
      most = std::max(most, *entries);
    } else if (axes.size() > 1) {
      for (std::int64_t k = 0; k < axes[0].extent; ++k) look_at(entries + k * axes[0].stride, axes.subspan(1));
    } else if (axes[0].stride == 1) {  // a loop that compilers vectorise
      T low = least;
      T high = most;
      for (std::int64_t k = 0; k < axes[0].extent; ++k) {
        low = std::min(low, entries[k]);
        high = std::max(high, entries[k]);
      }
      least = low;
      most = high;
    } else {
      for (std::int64_t k = 0; k < axes[0].extent; ++k) look_at(entries + k * axes[0].stride, {});
    }
  }
};

template <class T>
Range typed_range(const IntegerView& integers) {
  Extremes<T> extremes;
  const InMemory memory(integers);
  extremes.look_at(static_cast<const T*>(integers.data()), memory.axes());
  return {.least = Index(extremes.least).value, .most = Index(extremes.most).value};
}

}  // namespace

Range range_of(const IntegerView& integers) {
  if (integers.size() == 0) return {};
  if (integers.shape().size() > InMemory::most_axes) {
    Range range{.least = integers[0], .most = integers[0]};
    for (const std::int64_t entry : integers) {
      range.least = std::min(range.least, entry);
      range.most = std::max(range.most, entry);
    }
    return range;
  }
  return visit_integers(integers, [&]<class T>(const T*) { return typed_range<T>(integers); });
}

std::int64_t count_observed(const IntegerView& states) {
  if (!states.is_row_major()) return std::count_if(states.begin(), states.end(), [](auto state) { return state >= 0; });
  return visit_integers(states, [&]<class T>(const T* entries) -> std::int64_t {
    if constexpr (std::is_unsigned_v<T>) return static_cast<std::int64_t>(states.size());
    return std::count_if(entries, entries + states.size(), [](T state) { return state >= 0; });
  });
}

namespace {

bool within(const IntegerView& integers, std::int64_t least, std::int64_t most) {
  const Range range = range_of(integers);
  return integers.size() == 0 || (range.least >= least && range.most <= most);
}

}  // namespace

void check_entries(const IntegerView& integers, std::int64_t least, std::int64_t most, const std::string& what,
                   const std::string& expected) {
  if (within(integers, least, most)) return;
  for (std::size_t k = 0; k < integers.size(); ++k) {
    const std::int64_t value = integers[k];
    if (value >= least && value <= most) continue;
    std::string message = what + " " + std::to_string(value);
    message += place(integers.shape(), static_cast<std::int64_t>(k));
    throw ValueError(message.append(", ").append(expected));
  }
}

void check_states(const IntegerView& observed, const std::string& variable, std::int64_t states) {
  if (within(observed, -1, states - 1)) return;  // before a message is made for nothing
  check_entries(observed, -1, states - 1, "the evidence for '" + variable + "' has the value",
                "and its states are 0 … " + std::to_string(states - 1) + " (−1: not observed)");
}

}  // namespace plated::tensor
