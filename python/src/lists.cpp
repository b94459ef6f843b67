// Reads plated.Long.
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "model_call.hpp"

namespace plated::python {

Long list_of(const Model& model, const std::string& variable, nb::handle value) {
  const nb::object states = value.attr("states");
  const bool is_masked = nb::hasattr(states, "mask");
  Long list;
  const auto seen = is_masked ? std::nullopt : view_integers(states);
  list.states = seen ? *seen : states_of(model, variable, variable, states);
  for (const auto [plate, slices] : nb::cast<nb::dict>(value.attr("slices"))) {
    const auto name = nb::cast<std::string>(plate);
    const auto viewed = view_integers(slices);
    list.slices.emplace(name, viewed ? *viewed : read_integers(slices, "slices", name));
  }
  return list;
}

}  // namespace plated::python
