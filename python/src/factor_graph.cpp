// plated.FactorGraph: the builder, with names where C++ has ids.
#include "plated/factor_graph.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "draw.hpp"
#include "keywords.hpp"
#include "plated/error.hpp"
#include "size_caster.hpp"
#include "verb.hpp"

namespace plated::python {
namespace {

using Names = std::vector<std::string>;

const char* name(DimKind kind) {
  switch (kind) {
    case DimKind::plate:
      return "plate";
    case DimKind::batch:
      return "batch";
    case DimKind::chain:
      return "chain";
    case DimKind::variable:
      break;
  }
  return "variable";
}

nb::tuple names(const FactorGraph& graph, const std::vector<DimId>& dims) {
  nb::list list;
  for (const DimId d : dims) list.append(graph.dims()[d].name);
  return nb::tuple(list);
}

nb::object or_none(const FactorGraph& graph, const std::optional<DimId>& dim) {
  return dim ? nb::cast(graph.dims()[*dim].name) : nb::none();
}

nb::list dims(const FactorGraph& graph) {
  const nb::object type = answer_class("Dim");
  nb::list list;
  for (const Dim& dim : graph.dims()) list.append(type(dim.name, name(dim.kind), dim.size));
  return list;
}

nb::list factors(const FactorGraph& graph) {
  const nb::object type = answer_class("Factor");
  nb::list list;
  for (const Factor& factor : graph.factors()) {
    list.append(type(factor.name, names(graph, factor.dims), names(graph, factor.tied),
                     or_none(graph, factor.distribution_of), factor.trusted));
  }
  return list;
}

nb::list outputs(const FactorGraph& graph) {
  nb::list list;
  for (const Output& output : graph.outputs()) list.append(names(graph, output.dims));
  return list;
}

nb::dict chains(const FactorGraph& graph) {
  nb::dict dict;
  for (const Chain& chain : graph.chains()) {
    nb::list links;
    for (const Link& link : chain.links) {
      links.append(nb::make_tuple(graph.dims()[link.source].name, graph.dims()[link.target].name));
    }
    dict[nb::cast(graph.dims()[chain.dim].name)] = links;
  }
  return dict;
}

nb::dict variable_plates(const FactorGraph& graph) {
  const auto plates = graph.variable_plates();
  nb::dict dict;
  for (std::size_t d = 0; d < graph.dims().size(); ++d) {
    const Dim& dim = graph.dims()[d];
    if (dim.kind == DimKind::variable && dim.end == End::none) dict[nb::cast(dim.name)] = names(graph, plates[d]);
  }
  return dict;
}

nb::list components(const FactorGraph& graph) {
  nb::list list;
  for (const FactorGraph::Component& component : graph.components()) {
    nb::list held;
    for (const std::size_t f : component.factors) held.append(graph.factors()[f].name);
    list.append(nb::make_tuple(names(graph, component.variables), nb::tuple(held)));
  }
  return list;
}

nb::list slices(const std::vector<Slice>& copies) {
  nb::list list;
  for (const Slice& slice : copies) {
    nb::dict index;
    for (const auto& [axis, at] : slice.index) index[nb::int_(axis)] = at;
    list.append(nb::make_tuple(slice.original, index));
  }
  return list;
}

nb::object unroll(const FactorGraph& graph, const std::optional<std::string>& plate) {
  UnrolledGraph unrolled = plate ? graph.unroll(*plate) : graph.unroll();
  return answer_class("UnrolledGraph")(std::move(unrolled.graph), slices(unrolled.factors), slices(unrolled.outputs));
}

FactorGraph from_equation(const std::string& equation, const nb::args& operands, const nb::kwargs& keywords) {
  const std::vector<Tensor::Shape> shapes = shapes_of(operands);
  EinsumOptions options;
  read_keywords("from_equation", keywords, [&](std::string_view key, nb::handle value) {
    if (key != "sizes") return take_equation(key, value, options);
    options.sizes = sizes_of(value);
    return true;
  });
  return FactorGraph::from_equation(equation, shapes, options.reading());
}

std::size_t index_among(const FactorGraph& graph, Size factor) {
  const std::size_t count = graph.factors().size();
  if (factor.value >= 0 && static_cast<std::size_t>(factor.value) < count) {
    return static_cast<std::size_t>(factor.value);
  }
  throw nb::index_error(
      ("there is no factor " + std::to_string(factor.value) + ", only " + std::to_string(count)).c_str());
}

std::string draw(const FactorGraph& graph, const nb::kwargs& keywords) {
  DrawCall call;
  read_keywords("draw", keywords, [&](std::string_view key, nb::handle value) { return call.take(key, value); });
  return call.svg(graph);
}

}  // namespace

void define_graph(nb::module_& module) {
  module.def(
      "first", [](const std::string& variable) { return first(variable); }, nb::arg("variable"),
      "How the first slice's variable is named outside of its chain.\n\n>>> import plated\n>>> "
      "plated.first('a')\n'^a'");
  module.def(
      "last", [](const std::string& variable) { return last(variable); }, nb::arg("variable"),
      "How the last slice's variable is named outside of its chain.\n\n>>> import plated\n>>> plated.last('b')\n'b$'");

  nb::class_<FactorGraph>(module, "FactorGraph", R"(A plated factor graph: names, sizes and plates, and never data.

>>> import plated
>>> graph = plated.FactorGraph()
>>> graph.plate("i", 100)
>>> graph.variable("x", 2)
>>> graph.variable("y", 3)
>>> graph.factor("prior", ["x"])
0
>>> graph.factor("likelihood", ["i", "x", "y"])
1
>>> graph.output([])
0
>>> graph.variable_plates()
{'x': (), 'y': ('i',)}

In a notebook it shows itself as a picture.)")
      .def(nb::init<>())
      .def_static("from_equation", &from_equation,
                  nb::sig("def from_equation(equation: str, *operands: _Array | Sequence[int], plates: str = '', "
                          "chains: Mapping[str, str | Sequence[str]] | None = None, batch: str = '', "
                          "sizes: Mapping[str, int] | None = None, spaced: bool | None = None) -> FactorGraph"),
                  R"(The graph of an equation and its operands, or their shapes.

>>> import plated
>>> plated.FactorGraph.from_equation("x,iy,ijxy->", (2,), (5, 3), (5, 7, 2, 3), plates="ij").equation()
'x, i y, i j x y ->')")
      .def(
          "plate", [](FactorGraph& g, const std::string& name, Size size) { g.plate(name, size.value); },
          nb::arg("name"), nb::arg("size"), "Declare a plate.")
      .def(
          "batch", [](FactorGraph& g, const std::string& name, Size size) { g.batch(name, size.value); },
          nb::arg("name"), nb::arg("size"), "Declare a batch dim: independent problems.")
      .def(
          "chain", [](FactorGraph& g, const std::string& name, Size size) { g.chain(name, size.value); },
          nb::arg("name"), nb::arg("size"), "Declare a chain: an ordered plate whose slices share variables by links.")
      .def(
          "variable",
          [](FactorGraph& g, const std::string& name, Size domain, const std::optional<Names>& plates) {
            plates ? g.variable(name, domain.value, *plates) : g.variable(name, domain.value);
          },
          nb::arg("name"), nb::arg("domain"), nb::arg("plates") = nb::none(),
          "Declare a variable; its plates follow from the factors, or are stated and then checked.")
      .def(
          "link",
          [](FactorGraph& g, const std::string& chain, const std::string& source, const std::string& target) {
            g.link(chain, source, target);
          },
          nb::arg("chain"), nb::arg("source"), nb::arg("target"), "Slice t's target is slice t+1's source.")
      .def(
          "factor",
          [](FactorGraph& g, const std::string& name, const Names& axes, const Names& tied,
             const std::optional<std::string>& distribution_of, bool trusted) {
            return g.factor(name, axes, {.tied = tied, .distribution_of = distribution_of, .trusted = trusted});
          },
          nb::arg("name"), nb::arg("dims"), nb::kw_only(), nb::arg("tied") = Names(),
          nb::arg("distribution_of") = nb::none(), nb::arg("trusted") = false,
          "Add a factor whose operand has these axes; returns its operand's index.")
      .def(
          "output", [](FactorGraph& g, const Names& axes) { return g.output(axes); }, nb::arg("dims"),
          "Ask for an output with these axes; returns its index.")
      .def("asking", &FactorGraph::asking, nb::arg("outputs"), "The same graph asked for other outputs.")
      .def(
          "resized",
          [](const FactorGraph& g, const std::string& plate, Size size) { return g.resized(plate, size.value); },
          nb::arg("plate"), nb::arg("size"), "The same graph with another number of slices in a plate or chain.")
      .def("validate", &FactorGraph::validate, "Raise PlateError where plates do not fit.")
      .def("unroll", &unroll, nb::arg("plate") = nb::none(),
           "The graph with one plate or chain, or all of them, replaced by copies.")
      .def("variable_plates", &variable_plates, "The plates and chains of each variable, by name.")
      .def(
          "factor_plates",
          [](const FactorGraph& g, Size factor) { return names(g, g.factor_plates(index_among(g, factor))); },
          nb::arg("factor"), "The plates and chains that a factor lives in.")
      .def(
          "factor_variables",
          [](const FactorGraph& g, Size factor) { return names(g, g.factor_variables(index_among(g, factor))); },
          nb::arg("factor"), "The variables that a factor involves.")
      .def("components", &components, "Connected components: (variables, factors) of each.")
      .def_prop_ro("dims", &dims)
      .def_prop_ro("factors", &factors)
      .def_prop_ro("outputs", &outputs)
      .def_prop_ro("chains", &chains)
      .def("equation", &FactorGraph::equation, "The graph as an equation with spaced names.")
      .def("print", &FactorGraph::print, "A readable table of plates, variables, factors and outputs.")
      .def("draw", &draw,
           nb::sig("def draw(self, *, title: str = '', factor_names: bool = True, sizes: bool = True, caption: bool = "
                   "True, observed: Sequence[str] = (), directed: bool = False, certificate: Certificate | None = "
                   "None) -> str"),
           "The graph as SVG, with the certificate of an IntractableError in red. Variables that are ``observed`` are "
           "shaded; ``directed`` draws distributions as arrows.")
      .def("__reduce__",
           [](nb::handle self) { return nb::module_::import_("plated._pickle").attr("reduce_graph")(self); })
      .def("__copy__", [](const FactorGraph& g) { return FactorGraph(g); })
      .def("__deepcopy__", [](const FactorGraph& g, nb::handle) { return FactorGraph(g); })
      .def("_repr_svg_", [](const FactorGraph& g) { return draw_svg(g); })
      .def("__str__", &FactorGraph::print)
      .def("__repr__", [](const FactorGraph& g) { return "<plated.FactorGraph '" + g.equation() + "'>"; });
}

}  // namespace plated::python
