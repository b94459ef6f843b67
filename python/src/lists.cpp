// Reads plated.Long.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "model_call.hpp"

namespace plated::python {
namespace {

using Array = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

template <class T>
IntegerView view_of(const Array& array) {
  const auto owner = std::make_shared<const Array>(array);
  return IntegerView::view(static_cast<const T*>(array.data()), {static_cast<std::int64_t>(array.shape(0))},
                           {array.stride(0)})
      .keeping(owner);
}

/// A view of an array of integers with one axis, if it is one.
std::optional<IntegerView> in_place(nb::handle value) {
  Array array;
  if (!nb::ndarray_check(value) || !nb::try_cast(value, array)) return std::nullopt;
  const nb::dlpack::dtype type = array.dtype();
  if (type == nb::dtype<std::int8_t>()) return view_of<std::int8_t>(array);
  if (type == nb::dtype<std::int16_t>()) return view_of<std::int16_t>(array);
  if (type == nb::dtype<std::int32_t>()) return view_of<std::int32_t>(array);
  if (type == nb::dtype<std::int64_t>()) return view_of<std::int64_t>(array);
  if (type == nb::dtype<std::uint8_t>()) return view_of<std::uint8_t>(array);
  if (type == nb::dtype<std::uint16_t>()) return view_of<std::uint16_t>(array);
  if (type == nb::dtype<std::uint32_t>()) return view_of<std::uint32_t>(array);
  if (type == nb::dtype<std::uint64_t>()) return view_of<std::uint64_t>(array);
  return std::nullopt;
}

}  // namespace

Long list_of(const Model& model, const std::string& variable, nb::handle value) {
  const nb::object states = value.attr("states");
  const bool is_masked = nb::hasattr(states, "mask");
  Long list;
  const auto seen = is_masked ? std::nullopt : in_place(states);
  list.states = seen ? *seen : IntegerView(states_of(model, variable, variable, states));
  for (const auto [plate, slices] : nb::cast<nb::dict>(value.attr("slices"))) {
    const auto name = nb::cast<std::string>(plate);
    const auto viewed = in_place(slices);
    list.slices.emplace(name, viewed ? *viewed : IntegerView(read_integers(slices, "slices", name)));
  }
  return list;
}

}  // namespace plated::python
