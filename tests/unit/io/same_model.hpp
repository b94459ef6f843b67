// Compares two models: names, shapes, states, evidence, and every bit of their numbers.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "plated/model.hpp"

namespace plated::test {

inline std::string names_of(const FactorGraph& graph, const std::vector<DimId>& dims) {
  std::string names;
  for (const DimId dim : dims) names += graph.dims()[dim].name + " ";
  return names;
}

inline void expect_same_numbers(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_EQ(a.dtype(), b.dtype());
  EXPECT_EQ(a.values(), b.values());
}

/// Graphs are compared through what they print, which shows dims, sizes, plates, factors and outputs.
inline void expect_same_model(const Model& a, const Model& b) {
  EXPECT_EQ(a.graph.print(), b.graph.print());
  EXPECT_EQ(variables(a), variables(b));
  ASSERT_EQ(a.factors.size(), b.factors.size());
  for (std::size_t f = 0; f < a.factors.size(); ++f) {
    SCOPED_TRACE(a.graph.factors()[f].name);
    const Factor& left = a.graph.factors()[f];
    const Factor& right = b.graph.factors()[f];
    EXPECT_EQ(left.name, right.name);
    EXPECT_EQ(names_of(a.graph, left.dims), names_of(b.graph, right.dims));
    EXPECT_EQ(names_of(a.graph, left.tied), names_of(b.graph, right.tied));
    EXPECT_EQ(left.distribution_of.has_value(), right.distribution_of.has_value());
    expect_same_numbers(a.factors[f], b.factors[f]);
  }
  EXPECT_EQ(a.space, b.space);
  EXPECT_EQ(a.children, b.children);
  EXPECT_EQ(a.directed, b.directed);
  EXPECT_EQ(a.states, b.states);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.observed, b.observed);
  EXPECT_EQ(a.evidence, b.evidence);
  EXPECT_EQ(a.lists, b.lists);
  EXPECT_EQ(a.lengths, b.lengths);
  EXPECT_EQ(a.likelihoods.size(), b.likelihoods.size());
  for (const auto& [name, left] : a.likelihoods) {
    ASSERT_TRUE(b.likelihoods.contains(name));
    const Likelihood& right = b.likelihoods.find(name)->second;
    EXPECT_EQ(left.family, right.family);
    EXPECT_EQ(left.of, right.of);
    EXPECT_EQ(left.zero_inflated, right.zero_inflated);
    ASSERT_EQ(left.parameters.size(), right.parameters.size());
    for (const auto& [parameter, numbers] : left.parameters)
      expect_same_numbers(numbers, right.parameters.at(parameter));
  }
  EXPECT_EQ(a.measurements.size(), b.measurements.size());
}

}  // namespace plated::test
