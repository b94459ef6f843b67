// A plated model with operands, its backtrace, and all its joint assignments in the order of plain loops.
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adjoint/backtrace.hpp"
#include "base/random.hpp"
#include "planner/planner.hpp"
#include "plated/factor_graph.hpp"
#include "plated/tensor.hpp"

namespace plated::test {

struct BacktraceCase {
  FactorGraph graph;
  std::vector<Tensor> operands;
  planner::Schedule schedule;
  engine::Workspace workspace;

  explicit BacktraceCase(FactorGraph written, std::set<std::string> without = {}) : graph(std::move(written)) {
    if (graph.outputs().empty()) graph.output(batch_names());
    without.insert("reuse_buffers");
    schedule = planner::plan(graph, {.without = std::move(without)});
  }

  [[nodiscard]] std::vector<std::string> batch_names() const {
    std::vector<std::string> names;
    for (const Dim& d : graph.dims()) {
      if (d.kind == DimKind::batch) names.push_back(d.name);
    }
    return names;
  }

  [[nodiscard]] std::vector<std::int64_t> operand_shape(std::size_t f) const {
    std::vector<std::int64_t> shape;
    for (const DimId d : graph.factors()[f].dims) shape.push_back(graph.dims()[d].size);
    return shape;
  }

  /// Fills every operand with entry(), in float or double.
  template <class T, class Entry>
  void fill(const Entry& entry) {
    operands.clear();
    for (std::size_t f = 0; f < graph.factors().size(); ++f) {
      Tensor tensor(dtype_of<T>, operand_shape(f));
      auto* data = static_cast<T*>(tensor.mutable_data());
      for (std::int64_t k = 0; k < tensor.elements(); ++k) data[k] = static_cast<T>(entry());
      operands.push_back(tensor);
    }
  }

  std::vector<double> run(Semiring semiring, int threads = 1) {
    std::vector<std::int64_t> shape;
    for (const DimId d : graph.outputs()[0].dims) shape.push_back(graph.dims()[d].size);
    const std::vector<Tensor> outputs{Tensor(Dtype::float64, shape)};
    engine::run(schedule, outputs, operands, workspace, {.semiring = semiring, .threads = threads});
    return outputs[0].values();
  }

  /// Batch dims, then the plates of a variable.
  [[nodiscard]] std::vector<DimId> axes(DimId v) const {
    std::vector<DimId> list;
    for (DimId d = 0; d < graph.dims().size(); ++d) {
      if (graph.dims()[d].kind == DimKind::batch) list.push_back(d);
    }
    const auto plates = graph.variable_plates();
    list.insert(list.end(), plates[v].begin(), plates[v].end());
    return list;
  }

  std::vector<Integers> backtrace(Semiring semiring, const adjoint::Choice& choice, int threads = 1) {
    std::vector<Integers> assignment(graph.dims().size());
    for (DimId v = 0; v < assignment.size(); ++v) {
      if (graph.dims()[v].kind != DimKind::variable) continue;
      std::vector<std::int64_t> shape;
      if (choice.draw) shape.push_back(choice.count);
      for (const DimId d : axes(v)) shape.push_back(graph.dims()[d].size);
      assignment[v] = Integers(shape);
    }
    adjoint::backtrace(schedule, semiring, operands, workspace, choice, threads, assignment);
    return assignment;
  }

  /// Calls visit(factor, entry's flat index, row-major) for every factor instance of one joint assignment; `state`
  /// gives a variable's state at an index of dims.
  using Index = std::map<DimId, std::int64_t>;
  void visit_entries(const std::function<std::int64_t(DimId, const Index&)>& state,
                     const std::function<void(std::size_t, std::int64_t, const Index&)>& visit) const {
    for (std::size_t f = 0; f < graph.factors().size(); ++f) {
      std::vector<DimId> loops;
      for (DimId d = 0; d < graph.dims().size(); ++d) {
        const auto plates = graph.factor_plates(f);
        const bool plate = std::find(plates.begin(), plates.end(), d) != plates.end();
        if (plate || graph.dims()[d].kind == DimKind::batch) loops.push_back(d);
      }
      const std::function<void(std::size_t, Index)> walk = [&](std::size_t k, Index index) {
        if (k < loops.size()) {
          for (std::int64_t i = 0; i < graph.dims()[loops[k]].size; ++i) {
            index[loops[k]] = i;
            walk(k + 1, index);
          }
          return;
        }
        std::int64_t flat = 0;
        for (const DimId d : graph.factors()[f].dims) {
          const bool variable = graph.dims()[d].kind == DimKind::variable;
          flat = flat * graph.dims()[d].size + (variable ? state(d, index) : index.at(d));
        }
        visit(f, flat, index);
      };
      walk(0, {});
    }
  }

  /// The position of a slice in a variable's row-major assignment.
  [[nodiscard]] std::int64_t slice(DimId v, const Index& index) const {
    std::int64_t flat = 0;
    for (const DimId d : axes(v)) flat = flat * graph.dims()[d].size + index.at(d);
    return flat;
  }

  /// The log weight of a joint assignment (values by variable, without samples), summed over all batches.
  [[nodiscard]] double weight(const std::vector<std::vector<std::int64_t>>& values) const {
    double total = 0;
    std::vector<std::vector<double>> entries;
    for (const Tensor& t : operands) entries.push_back(t.values());
    visit_entries(
        [&](DimId v, const Index& index) { return values[v][static_cast<std::size_t>(slice(v, index))]; },
        [&](std::size_t f, std::int64_t flat, const Index&) { total += entries[f][static_cast<std::size_t>(flat)]; });
    return total;
  }

  /// Calls visit(values) for every joint assignment.
  void visit_assignments(const std::function<void(const std::vector<std::vector<std::int64_t>>&)>& visit) const {
    std::vector<std::vector<std::int64_t>> values(graph.dims().size());
    std::vector<std::pair<DimId, std::size_t>> cells;
    for (DimId v = 0; v < values.size(); ++v) {
      if (graph.dims()[v].kind != DimKind::variable) continue;
      std::size_t count = 1;
      for (const DimId d : axes(v)) count *= static_cast<std::size_t>(graph.dims()[d].size);
      values[v].assign(count, 0);
      for (std::size_t k = 0; k < count; ++k) cells.emplace_back(v, k);
    }
    for (;;) {
      visit(values);
      std::size_t k = cells.size();
      while (k > 0) {
        auto& state = values[cells[k - 1].first][cells[k - 1].second];
        if (++state < graph.dims()[cells[k - 1].first].size) break;
        state = 0;
        --k;
      }
      if (k == 0) return;
    }
  }
};

/// A graph of an equation with one letter per dim; sizes by letter. Sizes and plates that it does not name are ignored.
inline FactorGraph graph_of(std::string_view equation, const std::map<char, std::int64_t>& sizes,
                            const std::string& plates = "", const std::string& batch = "") {
  std::vector<std::vector<std::int64_t>> shapes(1);
  const auto named = [&](char c) { return equation.find(c) != std::string_view::npos; };
  EquationOptions options{.batch = batch};
  std::copy_if(plates.begin(), plates.end(), std::back_inserter(options.plates), named);
  bool tied = false;
  for (const char c : equation.substr(0, equation.find('-'))) {
    if (c == ',') shapes.emplace_back();
    if (c == '(') tied = true;
    if (c == ')') tied = false;
    if (std::isalpha(static_cast<unsigned char>(c)) && !tied) shapes.back().push_back(sizes.at(c));
  }
  for (const auto& [c, size] : sizes) {
    if (named(c)) options.sizes[std::string(1, c)] = size;
  }
  return FactorGraph::from_equation(equation, shapes, options);
}

/// Small models of every kind, by name.
inline std::vector<std::pair<std::string, FactorGraph>> small_models() {
  std::vector<std::pair<std::string, FactorGraph>> list;
  list.emplace_back("chain", graph_of("a,ab,bc,cd->", {{'a', 3}, {'b', 2}, {'c', 4}, {'d', 3}}));
  list.emplace_back("nested", graph_of("x,ixy,ijyz->", {{'x', 2}, {'y', 2}, {'z', 2}, {'i', 2}, {'j', 2}}, "ij"));
  list.emplace_back(
      "overlapping",
      graph_of("a,abi,bcij,adj,deij->", {{'a', 2}, {'b', 2}, {'c', 2}, {'d', 2}, {'e', 2}, {'i', 2}, {'j', 1}}, "ij"));
  list.emplace_back("two plates", graph_of("xi,xyij->", {{'x', 2}, {'y', 2}, {'i', 2}, {'j', 3}}, "ij"));
  list.emplace_back("tied", graph_of("x,(i)xy,(i)yz->", {{'x', 3}, {'y', 2}, {'z', 2}, {'i', 3}}, "i"));
  list.emplace_back("half tied", graph_of("x,(i)xy,iyz->", {{'x', 2}, {'y', 2}, {'z', 2}, {'i', 3}}, "i"));
  list.emplace_back("disconnected", graph_of("ab,ic,d->", {{'a', 2}, {'b', 3}, {'c', 3}, {'i', 2}, {'d', 2}}, "i"));
  list.emplace_back("batch", graph_of("na,aib,nbi->n", {{'n', 2}, {'a', 2}, {'b', 2}, {'i', 2}}, "i", "n"));
  list.emplace_back("shared batch", graph_of("na,abi->n", {{'n', 3}, {'a', 2}, {'b', 2}, {'i', 2}}, "i", "n"));
  list.emplace_back("diagonal", graph_of("aab,bb,iibc->", {{'a', 3}, {'b', 3}, {'c', 2}, {'i', 3}}, "i"));
  list.emplace_back("unit dims", graph_of("au,aib,iju->", {{'a', 3}, {'u', 1}, {'b', 2}, {'i', 1}, {'j', 2}}, "ij"));
  list.emplace_back("empty plate", graph_of("a,iab->", {{'a', 3}, {'b', 2}, {'i', 0}}, "i"));
  list.emplace_back("triple", graph_of("abc,abd,acd,bcd->", {{'a', 3}, {'b', 3}, {'c', 3}, {'d', 3}}));
  FactorGraph untouched;
  untouched.plate("i", 2);
  untouched.variable("x", 2);
  untouched.variable("free", 3, {"i"});
  untouched.variable("lonely", 2);
  untouched.factor("", {"i", "x"});
  list.emplace_back("untouched variables", std::move(untouched));
  return list;
}

}  // namespace plated::test
