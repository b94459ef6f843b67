// Small models of observed numbers.
#pragma once

#include <vector>

#include "plated/model.hpp"

namespace plated::test {

/// Numbers in a plate 'i' that are distributed alike.
inline Model numbers_model(std::int64_t count, Likelihood likelihood, Measurements measurements = {}) {
  FactorGraph graph;
  graph.plate("i", count);
  graph.factor("f", {}, {.tied = {"i"}});
  likelihood.of = "x";
  return make_model(graph, {},
                    {.learning = {{"f", {.learn = true}}},
                     .likelihoods = {{"f", std::move(likelihood)}},
                     .measurements = std::move(measurements)});
}

/// A mixture of `states` components: each number of plate 'i' is of the component that its 'k' says.
inline Model mixture_model(std::int64_t count, std::int64_t states, Likelihood likelihood) {
  FactorGraph graph;
  graph.plate("i", count);
  graph.variable("k", states, {"i"});
  graph.factor("share", {"k"}, {.tied = {"i"}, .distribution_of = "k"});
  graph.factor("f", {"k"}, {.tied = {"i"}});
  likelihood.of = "x";
  return make_model(graph, {},
                    {.space = Space::real,
                     .learning = {{"share", {.learn = true}}, {"f", {.learn = true}}},
                     .likelihoods = {{"f", std::move(likelihood)}}});
}

inline Tensor list_of(const std::vector<double>& numbers) {
  return Tensor::of<double>({static_cast<std::int64_t>(numbers.size())}, numbers);
}

}  // namespace plated::test
