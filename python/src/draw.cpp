// Reads the arguments of draw().
#include "draw.hpp"

#include "keywords.hpp"

namespace plated::python {

bool DrawCall::take(std::string_view key, nb::handle value) {
  if (key == "title") {
    options.title = text_of(key, value);
  } else if (key == "factor_names") {
    options.factor_names = flag_of(key, value);
  } else if (key == "sizes") {
    options.sizes = flag_of(key, value);
  } else if (key == "caption") {
    options.caption = flag_of(key, value);
  } else if (key == "observed") {
    options.observed.clear();
    for (std::string& variable : strings(key, value)) options.observed.insert(std::move(variable));
  } else if (key == "directed") {
    options.directed = flag_of(key, value);
  } else if (key == "certificate") {
    if (value.is_none()) return true;
    certificate = Certificate{.u = nb::cast<std::string>(value.attr("u")),
                              .w = nb::cast<std::string>(value.attr("w")),
                              .a = nb::cast<std::string>(value.attr("a")),
                              .b = nb::cast<std::string>(value.attr("b")),
                              .factors = strings("factors", value.attr("factors"))};
  } else {
    return false;
  }
  return true;
}

std::string DrawCall::svg(const FactorGraph& graph) const {
  return certificate ? draw_svg(graph, *certificate, options) : draw_svg(graph, options);
}

}  // namespace plated::python
