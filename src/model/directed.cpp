// Checks the sums of distributions, and looks for cycles among parents.
#include "model/directed.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/spell.hpp"

namespace plated::model {
namespace {

template <class T>
bool sums_to_one(const T* data, const Tensor& numbers, std::size_t axis, Space space) {
  constexpr double tolerance = 2e-6;
  const Tensor::Shape& shape = numbers.shape();
  const Tensor::Shape& strides = numbers.strides();
  const std::int64_t size = shape[axis];
  const std::int64_t stride = strides[axis];
  Tensor::Shape index(shape.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t rows = size > 0 ? numbers.elements() / size : 0; rows > 0; --rows) {
    double sum = 0;
    for (std::int64_t k = 0; k < size; ++k) {
      const auto entry = static_cast<double>(data[offset + k * stride]);
      sum += space == Space::log ? std::exp(entry) : entry;
    }
    if (!(std::abs(sum - 1) <= tolerance)) return false;
    for (std::size_t a = shape.size(); a-- > 0;) {
      if (a == axis) continue;
      offset += strides[a];
      if (++index[a] < shape[a]) break;
      offset -= strides[a] * shape[a];
      index[a] = 0;
    }
  }
  return true;
}

}  // namespace

bool sums_to_one(const Tensor& numbers, std::size_t axis, Space space) {
  return numbers.dtype() == Dtype::float32
             ? sums_to_one(static_cast<const float*>(numbers.data()), numbers, axis, space)
             : sums_to_one(static_cast<const double*>(numbers.data()), numbers, axis, space);
}

void add_factor(Model& model, NewFactor factor, std::int64_t most) {
  FactorOptions options{.tied = std::move(factor.tied)};
  const auto axis =
      static_cast<std::size_t>(std::find(factor.dims.begin(), factor.dims.end(), factor.child) - factor.dims.begin());
  const bool held = axis < factor.dims.size();
  if (!factor.child.empty()) {
    const bool checked = held && factor.numbers.elements() <= most;
    if (!checked || sums_to_one(factor.numbers, axis, model.space)) {
      options.distribution_of = factor.child;
      options.trusted = checked;
    } else {
      model.notes.push_back("factor " + graph::quoted(factor.name) + " does not sum to one over " +
                            graph::quoted(factor.child) + ": it is taken as it is, and not as a distribution");
    }
  }
  const std::size_t index = model.graph.factor(factor.name, factor.dims, options);
  // The graph's name for the child: outside of a chain, a bare name is that of an end.
  if (held) factor.child = model.graph.dims()[model.graph.factors()[index].dims[axis]].name;
  model.factors.push_back(std::move(factor.numbers));
  model.children.push_back(std::move(factor.child));
}

std::vector<std::size_t> find_cycle(const std::vector<std::vector<std::size_t>>& parents) {
  enum class Mark : char { fresh, open, done };
  std::vector<Mark> marks(parents.size(), Mark::fresh);
  std::vector<std::pair<std::size_t, std::size_t>> path;  // a variable, and how many of its parents have been seen
  for (std::size_t start = 0; start < parents.size(); ++start) {
    if (marks[start] != Mark::fresh) continue;
    path.emplace_back(start, 0);
    marks[start] = Mark::open;
    while (!path.empty()) {
      auto& [variable, seen] = path.back();
      if (seen == parents[variable].size()) {
        marks[variable] = Mark::done;
        path.pop_back();
        continue;
      }
      const std::size_t parent = parents[variable][seen++];
      if (marks[parent] == Mark::open) {
        std::vector<std::size_t> cycle;
        for (std::size_t k = path.size(); k-- > 0;) {
          cycle.push_back(path[k].first);
          if (path[k].first == parent) break;
        }
        std::rotate(cycle.begin(), cycle.end() - 1, cycle.end());
        return cycle;
      }
      if (marks[parent] == Mark::fresh) {
        marks[parent] = Mark::open;
        path.emplace_back(parent, 0);
      }
    }
  }
  return {};
}

bool is_directed(const Model& model) {
  const FactorGraph& graph = model.graph;
  std::vector<std::vector<std::size_t>> parents(graph.dims().size());
  std::vector<int> distributions(graph.dims().size(), 0);
  for (std::size_t f = 0; f < model.children.size(); ++f) {
    const auto child = graph.find(model.children[f]);
    if (!child) return false;
    ++distributions[*child];
    for (const DimId dim : graph.factors()[f].dims) {
      if (dim != *child) parents[*child].push_back(dim);
    }
  }
  for (DimId d = 0; d < graph.dims().size(); ++d) {
    if (graph.dims()[d].kind != DimKind::variable || distributions[d] != 1) return false;
  }
  return find_cycle(parents).empty();
}

}  // namespace plated::model
