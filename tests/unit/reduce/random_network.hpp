// Random directed models without plates: each variable's distribution given a few variables before it, with zeros.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plated/model.hpp"
#include "property/random_case.hpp"

namespace plated::test {

struct NetworkOptions {
  std::int64_t variables = 8;
  std::int64_t most_states = 3;
  int zero_percent = 20;
  int undirected_percent = 10;  // of variables: a further factor of weights
};

inline Model random_network(Random& random, const NetworkOptions& options = {}) {
  Model model;
  std::vector<std::int64_t> sizes;
  const auto name_of = [](std::int64_t v) { return "v" + std::to_string(v); };
  for (std::int64_t v = 0; v < options.variables; ++v) {
    sizes.push_back(1 + random.below(options.most_states));
    model.graph.variable(name_of(v), sizes.back());
  }
  const auto weight = [&] { return random.chance(options.zero_percent) ? 0.0 : random.uniform(0.1, 1.0); };
  for (std::int64_t v = 0; v < options.variables; ++v) {
    std::vector<std::string> dims;
    Tensor::Shape shape;
    std::int64_t rows = 1;
    for (std::int64_t u = std::max<std::int64_t>(0, v - 4); u < v; ++u) {
      if (!random.chance(45) || dims.size() == 3) continue;
      dims.push_back(name_of(u));
      shape.push_back(sizes[static_cast<std::size_t>(u)]);
      rows *= shape.back();
    }
    const std::int64_t states = sizes[static_cast<std::size_t>(v)];
    dims.push_back(name_of(v));
    shape.push_back(states);
    std::vector<double> values;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::vector<double> weights;
      double sum = 0;
      for (std::int64_t s = 0; s < states; ++s) sum += weights.emplace_back(weight());
      if (sum == 0) sum = weights[static_cast<std::size_t>(random.below(states))] = 1;
      for (const double w : weights) values.push_back(w / sum);
    }
    model.graph.factor("", dims, {.distribution_of = name_of(v), .trusted = true});
    model.factors.push_back(Tensor::of(shape, values));
    model.children.push_back(name_of(v));
    if (random.chance(options.undirected_percent)) {
      model.graph.factor("", {name_of(v)});
      std::vector<double> weights;
      for (std::int64_t s = 0; s < states; ++s) weights.push_back(weight());
      model.factors.push_back(Tensor::of({states}, weights));
      model.children.emplace_back();
    }
  }
  model.graph.output({});
  return model;
}

/// Some variables observed, in states that need not be possible.
inline void observe_some(Model& model, Random& random, int percent) {
  for (const std::string& variable : variables(model)) {
    const std::int64_t states = model.graph.dims()[*model.graph.find(variable)].size;
    if (random.chance(percent)) model.evidence.emplace(variable, Integers({}, {random.below(states)}));
  }
}

}  // namespace plated::test
