// Random models to learn, on random graphs, and random data.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/derived.hpp"
#include "plated/model.hpp"
#include "property/in_any_form.hpp"
#include "property/naive_em.hpp"
#include "property/written_case.hpp"

namespace plated::test {

/// A model on a random graph: most factors are distributions of one of their variables, some of them with zeros.
inline Model random_model(FactorGraph graph, const Lengths& lengths, Random& random) {
  Model model;
  model.space = random.chance(50) ? Space::log : Space::real;
  model.lengths = lengths;
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    Factor factor = graph.factors()[f];
    Tensor::Shape shape;
    std::int64_t elements = 1;
    std::vector<std::size_t> candidates;
    for (std::size_t a = 0; a < factor.dims.size(); ++a) {
      shape.push_back(graph.dims()[factor.dims[a]].size);
      elements *= shape.back();
      const bool once = std::count(factor.dims.begin(), factor.dims.end(), factor.dims[a]) == 1;
      if (once && graph.dims()[factor.dims[a]].kind == DimKind::variable) candidates.push_back(a);
    }
    std::vector<double> weights;
    for (std::int64_t k = 0; k < elements; ++k) weights.push_back(random.uniform(0.1, 1));
    if (!candidates.empty() && random.chance(85)) {
      const std::size_t axis = random.pick(candidates);
      const bool zeros = random.chance(15);
      for_each_row(shape, axis, [&](const std::vector<std::size_t>& row) {
        if (zeros && row.size() > 1) weights[random.pick(row)] = 0;
        double sum = 0;
        for (const std::size_t k : row) sum += weights[k];
        for (const std::size_t k : row) weights[k] /= sum;
      });
      factor.distribution_of = factor.dims[axis];
      factor.trusted = true;
      model.children.push_back(graph.dims()[factor.dims[axis]].name);
      graph::Derived::put_factor(graph, f, std::move(factor));
    } else {
      model.children.emplace_back();
    }
    for (double& w : weights) w = model.space == Space::log ? std::log(w) : w;
    model.factors.push_back(Tensor::of(shape, weights));
  }
  model.graph = std::move(graph);
  return model;
}

inline void tie_and_choose(Model& model, Random& random) {
  const std::vector<Factor>& factors = model.graph.factors();
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (model.children[f].empty()) continue;
    Learning& learning = model.learning[factors[f].name];
    learning.learn = random.chance(80);
    if (random.chance(30)) learning.prior = Tensor::scalar(random.uniform(0, 2));
    for (std::size_t g = 0; g < f; ++g) {
      if (model.children[g].empty() || model.factors[f].shape() != model.factors[g].shape()) continue;
      if (axis_of_child(model, f) == axis_of_child(model, g) && random.chance(60)) learning.same_as = factors[g].name;
    }
  }
}

inline Evidence random_data(const Model& model, Random& random) {
  Evidence data;
  std::vector<std::int64_t> batch;
  for (const Dim& dim : model.graph.dims()) {
    if (dim.kind == DimKind::batch) batch.push_back(dim.size);
  }
  for (const std::string& name : variables(model)) {
    if (random.chance(40)) continue;
    const DimId v = *model.graph.find(name);
    std::vector<std::int64_t> shape = random.chance(50) ? batch : std::vector<std::int64_t>{};
    for (const DimId plate : model.graph.variable_plates()[v]) shape.push_back(model.graph.dims()[plate].size);
    Integers states(shape, -1);
    const int seen = random.chance(50) ? 100 : 60;
    for (std::int64_t& state : states.values) {
      if (random.chance(seen)) state = random.below(model.graph.dims()[v].size);
    }
    if (!states.values.empty() &&
        std::count(states.values.begin(), states.values.end(), -1) < std::ssize(states.values))
      data.emplace(name, in_any_form(states, random));
  }
  return data;
}

/// The factors that share numbers, those first that follow no other.
inline std::vector<std::vector<std::size_t>> groups_of(const Model& model) {
  std::map<std::string, std::string> root;
  const auto find = [&](std::string name) {
    while (!model.learning.at(name).same_as.empty()) name = model.learning.at(name).same_as;
    return name;
  };
  std::map<std::string, std::vector<std::size_t>> by_root;
  std::set<std::string> wanted;
  bool any = false;
  for (const auto& [name, learning] : model.learning) any = any || learning.learn;
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    if (model.children[f].empty()) continue;
    const std::string& name = model.graph.factors()[f].name;
    by_root[find(name)].push_back(f);
    if (model.learning.at(name).learn || !any) wanted.insert(find(name));
  }
  std::vector<std::vector<std::size_t>> groups;
  for (const auto& [name, group] : by_root) {
    if (wanted.contains(name)) groups.push_back(group);  // same_as points to an earlier factor: the root is the first
  }
  return groups;
}

}  // namespace plated::test
