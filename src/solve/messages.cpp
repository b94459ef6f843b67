// Reads a table at observed states before the rest is planned: what is left is about the parents.
#include <algorithm>
#include <utility>

#include "base/sorted_set.hpp"
#include "graph/derived.hpp"
#include "solve/solver.hpp"

namespace plated::solve {
namespace {

/// The graph of a single factor. The plates of its parents are batch dims: slices that know nothing of each other.
struct Part {
  FactorGraph graph;
  std::vector<DimId> dims;        // of the output, in the whole graph
  std::vector<std::size_t> axes;  // of evidence: batch dims first
};

Part part_of(const FactorGraph& whole, std::size_t f, DimId child) {
  const std::vector<Dim>& dims = whole.dims();
  const Factor& factor = whole.factors()[f];
  base::SortedSet around;
  std::vector<DimId> parents;
  for (const DimId v : whole.factor_variables(f)) {
    if (v == child) continue;
    parents.push_back(v);
    around = base::unite(around, whole.variable_plates()[v]);
  }
  const base::SortedSet inside = base::subtract(whole.variable_plates()[child], around);
  const auto names = [&](const std::vector<DimId>& of) {
    std::vector<std::string> result;
    for (const DimId d : of) result.push_back(dims[d].name);
    return result;
  };
  Part part;
  for (const DimId d : around) part.graph.batch(dims[d].name, dims[d].size);
  for (const DimId d : inside) part.graph.plate(dims[d].name, dims[d].size);
  for (const DimId v : parents) part.graph.variable(dims[v].name, dims[v].size);
  part.graph.variable(dims[child].name, dims[child].size, names(inside));
  part.graph.factor(factor.name, names(factor.dims),
                    {.tied = names(base::intersect(base::sorted(factor.tied), inside))});
  part.dims = around;
  part.dims.insert(part.dims.end(), parents.begin(), parents.end());
  part.graph.output(names(part.dims));
  const std::vector<DimId>& plates = whole.variable_plates()[child];
  for (const base::SortedSet* const of : {&std::as_const(around), &inside}) {
    for (const DimId d : *of) {
      part.axes.push_back(static_cast<std::size_t>(std::find(plates.begin(), plates.end(), d) - plates.begin()));
    }
  }
  return part;
}

}  // namespace

void Solver::take_messages(const std::function<bool(DimId)>& may, bool run) {
  Model& model = reduction_.model;
  const std::vector<DimId> evident = std::exchange(observed_, {});
  for (const DimId v : evident) {
    const std::string name = graph().dims()[v].name;
    const IntegerView& states = model.evidence.at(name);
    const auto holder = reduce::read_in_place_at(model, v);
    const bool known = is_known(v);
    if (!holder || !may(v)) {
      observed_.push_back(v);
      continue;
    }
    Part part = part_of(graph(), *holder, v);
    Tensor::Shape shape;
    for (const DimId d : part.dims) shape.push_back(graph().dims()[d].size);
    const Plan plan = this->plan(part.graph, {*part.graph.find(name)}, true);
    if (run) {
      RunOptions options = run_options();
      options.evidence = {{name, states.permuted(part.axes)}};
      options.lengths = {};
      model.factors[*holder] = plan.run({model.factors[*holder]}, options)[0];
    } else {
      model.factors[*holder] = Tensor::scalar(0.0).broadcast(shape);
      Question question{.semiring = Semiring::log};
      name_observed(question, {v});
      messages_.push_back({plan, question});
    }
    Factor factor = graph().factors()[*holder];
    factor.dims = std::move(part.dims);
    factor.tied.clear();
    factor.distribution_of.reset();
    graph::Derived::state_plates(model.graph, graph().variable_plates());
    graph::Derived::put_factor(model.graph, *holder, std::move(factor));
    graph::Derived::resize_variable(model.graph, v, 1);
    if (known) reduction_.known.emplace(v, states);
    model.evidence.erase(name);
  }
}

}  // namespace plated::solve
