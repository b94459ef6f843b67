// Derivatives of a plan's outputs, by brute force and exactly: sums over all assignments in dual numbers.
#pragma once

#include "oracle/posterior.hpp"

namespace plated::oracle {

/// a + εb with ε² = 0: a value and its derivative in a direction.
struct Dual {
  long double value = 0, slope = 0;
};
inline Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
inline Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.value * b.slope + a.slope * b.value}; }

/// Outputs and the vector–Jacobian product with cotangents, each with its derivative in a direction.
struct Derivative {
  std::vector<std::vector<Dual>> outputs;    // value: the output; slope: its tangent
  std::vector<std::vector<Dual>> gradients;  // value: the gradient; slope: the Hessian–vector product
};

/// What to differentiate. `magnitudes` takes every term by its absolute value instead: what rounding is measured
/// against.
struct Question {
  Semiring semiring = Semiring::log;  // or real
  std::vector<Numbers> operands, direction, cotangents;
  bool magnitudes = false;
  Lengths lengths = {};
};

inline Question absolute(Question q) {
  const auto absolutes = [](std::vector<Numbers>& lists) {
    for (Numbers& list : lists) {
      for (long double& x : list) x = std::abs(x);
    }
  };
  if (q.semiring == Semiring::real) absolutes(q.operands);
  absolutes(q.direction);
  absolutes(q.cotangents);
  q.magnitudes = true;
  return q;
}

/// The quotient rule; its two terms are added up where magnitudes are wanted.
inline Dual divide(Dual a, Dual b, bool magnitudes) {
  const long double first = a.slope / b.value, second = a.value * b.slope / (b.value * b.value);
  return {a.value / b.value, magnitudes ? first + second : first - second};
}

inline Derivative derivative(const FactorGraph& graph, const Question& q) {
  const bool log = q.semiring == Semiring::log;
  const Dual one{1, 0};
  // In log space an operand's weight is x = e^θ, with dx = x dθ.
  const auto factor = [&](std::size_t f, std::size_t entry) -> Dual {
    const long double x = log ? std::exp(q.operands[f][entry]) : q.operands[f][entry];
    return {x, (log ? x : 1) * q.direction[f][entry]};
  };
  Derivative result;
  std::vector<std::vector<std::vector<std::vector<Dual>>>> jacobian;  // output, entry, operand, entry
  for (const Numbers& operand : q.operands) result.gradients.emplace_back(operand.size());
  for (const Numbers& cotangent : q.cotangents) {
    result.outputs.emplace_back(cotangent.size());
    jacobian.emplace_back(cotangent.size(), result.gradients);
  }
  Index at(graph.dims().size(), 0);
  for_each_index(graph, Slices(graph, q.lengths).batch(), at, [&] {
    World world(graph, at, {}, q.lengths);
    std::vector<Site> outputs;
    for (std::size_t o = 0; o < result.outputs.size(); ++o) {
      const std::vector<DimId>& axes = graph.outputs()[o].dims;
      if (result.outputs[o].empty()) continue;
      for (const Site& site : world.sites(o, axes, world.slices.sliced(axes))) outputs.push_back(site);
    }
    const std::size_t n = world.factors.size();
    std::vector<Dual> before(n + 1, one), after(n + 1, one), x(n);
    std::vector<std::size_t> entry(n);
    world.for_each_assignment([&](const States& states) {
      for (std::size_t s = 0; s < n; ++s) {
        entry[s] = index_of(world.factors[s], states);
        x[s] = factor(world.factors[s].owner, entry[s]);
        before[s + 1] = before[s] * x[s];
      }
      for (std::size_t s = n; s-- > 0;) after[s] = x[s] * after[s + 1];
      for (const Site& site : outputs) {
        const std::size_t k = index_of(site, states);
        result.outputs[site.owner][k] = result.outputs[site.owner][k] + before[n];
        for (std::size_t s = 0; s < n; ++s) {
          Dual& into = jacobian[site.owner][k][world.factors[s].owner][entry[s]];
          into = into + (log ? before[n] : before[s] * after[s + 1]);
        }
      }
    });
  });
  for (std::size_t o = 0; o < jacobian.size(); ++o) {
    for (std::size_t k = 0; k < jacobian[o].size(); ++k) {
      Dual& output = result.outputs[o][k];
      const bool nothing = log && output.value == 0;  // −inf: no gradient
      for (std::size_t f = 0; f < result.gradients.size() && !nothing; ++f) {
        for (std::size_t e = 0; e < result.gradients[f].size(); ++e) {
          const Dual by = jacobian[o][k][f][e];
          const Dual term = log ? divide(by, output, q.magnitudes) : by;
          result.gradients[f][e] = result.gradients[f][e] + Dual{q.cotangents[o][k], 0} * term;
        }
      }
      if (log) output = {std::log(output.value), nothing ? 0 : output.slope / output.value};
    }
  }
  return result;
}

}  // namespace plated::oracle
