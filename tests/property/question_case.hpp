// The schedules of all questions about a random graph whose plates and batch dims are large enough to be cut, with
// operands.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "adjoint/questions.hpp"
#include "engine/runnable.hpp"
#include "planner/planner.hpp"
#include "plated/error.hpp"
#include "property/blocked_from.hpp"
#include "property/random_case.hpp"
#include "property/random_tensor.hpp"
#include "property/seeds.hpp"

namespace plated::test {

struct Question {
  std::string name;
  planner::Schedule schedule;
  Semiring semiring = Semiring::log;
};

/// A graph with sizes of its own, and its operands.
struct LargeCase {
  Case c;
  FactorGraph graph;
  planner::Extents extents;
  Random random;
  std::vector<Tensor> factors;

  [[nodiscard]] Tensor::Shape shape(const std::vector<DimId>& dims) const {
    Tensor::Shape shape;
    for (const DimId d : dims) shape.push_back(extents[d]);
    return shape;
  }

  [[nodiscard]] std::vector<Tensor> outputs(const planner::Schedule& schedule) const {
    std::vector<Tensor> list;
    for (const std::vector<DimId>& dims : schedule.outputs) list.emplace_back(Dtype::float64, shape(dims));
    return list;
  }

  /// The factors, and whatever else the question takes.
  [[nodiscard]] std::vector<Tensor> operands(const Question& question) const {
    std::vector<Tensor> list = factors;
    Random own = random;
    for (std::size_t k = list.size(); k < question.schedule.operands.size(); ++k) {
      list.push_back(random_tensor(Dtype::float64, shape(question.schedule.operands[k]), own, Semiring::max_product));
    }
    return list;
  }

  [[nodiscard]] std::string print() const {
    std::string text = c.print() + "\n  sizes:";
    for (DimId d = 0; d < extents.size(); ++d) text += " " + graph.dims()[d].name + "=" + std::to_string(extents[d]);
    return text;
  }
};

inline std::vector<Question> questions(const FactorGraph& graph, Semiring semiring) {
  std::vector<Question> list;
  const std::vector<bool> all(graph.factors().size(), true);
  list.push_back({"value", planner::plan(graph, {}), semiring});
  if (semiring != Semiring::log && semiring != Semiring::real) return list;
  list.push_back({"gradient",
                  adjoint::gradient_schedule(adjoint::forward(graph, {}), graph.outputs().size(),
                                             {.semiring = semiring, .wanted = all}),
                  semiring});
  list.push_back({"hessian", adjoint::hessian_schedule(adjoint::forward(graph, {}), semiring), semiring});
  if (semiring != Semiring::log) return list;
  const planner::Schedule total = adjoint::forward(graph::total_graph(graph), {});
  list.push_back({"marginals", adjoint::marginal_schedule(total, 0, true, true), semiring});
  list.push_back({"entropy", adjoint::entropy_schedule(total, 0), semiring});
  list.push_back({"expectation", adjoint::expectation_schedule(total, 0, all), semiring});
  for (DimId d = 0; d < graph.dims().size(); ++d) {
    if (graph.dims()[d].kind != DimKind::plate) continue;
    list.push_back(
        {"leave_one_out " + graph.dims()[d].name,
         planner::plan(graph::total_graph(graph), {.keep_sums = true, .left_out = planner::LeftOut{.of = d}}),
         semiring});
  }
  return list;
}

/// A graph whose schedules are for plates of any size, with plates and batch dims enlarged.
inline std::optional<LargeCase> large_case(std::uint64_t seed, Semiring semiring, Dtype dtype,
                                           std::int64_t most_slices = 3000) {
  LargeCase result{random_case(seed, {.small_sizes = false}), FactorGraph{}, {}, Random(seed + 31), {}};
  result.graph = result.c.build();
  try {
    if (!planner::plan(result.graph, {}).problem.fixed.empty()) return std::nullopt;
  } catch (const IntractableError&) {
    return std::nullopt;
  }
  result.extents = planner::extents_of(result.graph);
  const std::vector<std::int64_t> sizes{0, 1, 2, 5, 33, 64, 65, 70, 130, 200, 300};
  const auto largest = [&] {
    std::vector<DimId> sliced;
    for (DimId d = 0; d < result.extents.size(); ++d) {
      if (result.graph.dims()[d].kind != DimKind::variable) sliced.push_back(d);
    }
    return planner::elements(result.extents, sliced);
  };
  for (DimId d = 0; d < result.extents.size(); ++d) {
    if (result.graph.dims()[d].kind == DimKind::variable) continue;
    const std::int64_t before = result.extents[d];
    const std::int64_t first = result.random.chance(10) ? 0 : 3;
    result.extents[d] =
        sizes[static_cast<std::size_t>(first + result.random.below(static_cast<std::int64_t>(sizes.size()) - first))];
    if (largest() > most_slices) result.extents[d] = before;
  }
  for (const Factor& factor : result.graph.factors()) {
    result.factors.push_back(random_tensor(dtype, result.shape(factor.dims), result.random, semiring));
    // Structural zeros.
    if (semiring == Semiring::log && dtype == Dtype::float64 && result.random.chance(20)) {
      auto* data = static_cast<double*>(result.factors.back().mutable_data());
      for (std::int64_t k = 0; k < result.factors.back().elements(); ++k) {
        if (result.random.chance(3)) data[k] = -std::numeric_limits<double>::infinity();
      }
    }
  }
  return result;
}

/// Every bit, so that NaN equals NaN and 0 is not −0.
inline std::vector<std::uint64_t> bits_of(const std::vector<Tensor>& tensors) {
  std::vector<std::uint64_t> bits;
  for (const Tensor& t : tensors) {
    if (t.elements() == 0) continue;
    for (const double x : t.values()) bits.push_back(std::bit_cast<std::uint64_t>(x));
  }
  return bits;
}

/// How far answers may be off, relative to the largest. Messages inside of a slice are float32 where operands are; the
/// products of a Hessian are differences of their sums over slices, which leaves one digit fewer.
inline double rounding(const Question& question, Dtype dtype) {
  if (dtype == Dtype::float64) return 1e-9;
  return question.name == "hessian" ? 1e-3 : 1e-4;
}

inline testing::AssertionResult agree(const std::vector<Tensor>& got, const std::vector<Tensor>& want,
                                      double relative) {
  double scale = 1;
  for (const Tensor& t : want) {
    if (t.elements() == 0) continue;
    for (const double x : t.values()) scale = std::isfinite(x) ? std::max(scale, std::abs(x)) : scale;
  }
  for (std::size_t k = 0; k < want.size(); ++k) {
    if (want[k].elements() == 0) continue;
    const std::vector<double> a = got[k].values();
    const std::vector<double> b = want[k].values();
    for (std::size_t e = 0; e < a.size(); ++e) {
      const bool same = a[e] == b[e] || (std::isnan(a[e]) && std::isnan(b[e]));
      if (same || std::abs(a[e] - b[e]) <= relative * scale) continue;
      return testing::AssertionFailure() << "output " << k << " entry " << e << " is " << a[e] << ", not " << b[e];
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace plated::test
