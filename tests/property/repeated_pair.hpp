// A model with whole weights beside the one whose slices are repeated, asked the same.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "property/near.hpp"
#include "property/repeated_slices.hpp"

namespace plated::test {

/// The weighted model and the repeated one, asked the same.
struct Pair {
  Pair(DrawnModel& drawn, std::int64_t most = 3)
      : given(drawn), repeated(drawn, most), plan(compile(repeated.graph)), weighted(drawn.run()) {
    weighted.weights = repeated.weights;
    for (std::size_t f = 0; f < drawn.tensors().size(); ++f) operands.push_back(spread(f, drawn.tensors()[f]));
  }
  [[nodiscard]] Tensor spread(std::size_t f, const Tensor& t) const {
    return repeated.spread(t, given.graph.factors()[f].dims);
  }
  /// Compares an answer with that of the repeated model; what no copy tells of is not compared.
  [[nodiscard]] testing::AssertionResult same(const std::string& what, const Tensor& got, const Tensor& other,
                                              const std::vector<DimId>& dims, bool sums, Bound within,
                                              std::optional<double> missing = {}) const {
    Numbers want = repeated.gathered(other, dims, sums, missing.value_or(0)), size;
    const std::vector<bool> unknown = repeated.missing(dims);
    const std::vector<double> values = got.elements() > 0 ? got.values() : std::vector<double>{};
    for (std::size_t k = 0; k < want.size(); ++k) {
      if (unknown[k] && !missing) want[k] = values[k];
      size.push_back(std::isinf(want[k]) ? 1 : std::abs(want[k]) + scale);
    }
    return near(what, got, got.shape(), want, size, within);
  }

  DrawnModel& given;
  Repeated repeated;
  Plan plan;
  RunOptions weighted;
  std::vector<Tensor> operands;
  double scale = 1;
};

inline std::vector<DimId> axes_of(const DrawnModel& drawn, const std::string& variable) {
  return oracle::Posterior(drawn.graph, drawn.tensors(), Semiring::boolean).axes({*drawn.graph.find(variable)});
}

/// A test of random models of plates, or of chains, in one semiring.
class Weighted : public testing::TestWithParam<std::tuple<bool, Semiring>> {
 protected:
  /// Checks so many models, whose posteriors exist.
  template <class Property>
  static void for_each(std::uint64_t plates, std::uint64_t chains, Property property) {
    const auto [chained, semiring] = GetParam();
    DrawOptions draw{.semiring = semiring, .graphs = CaseOptions{.most_work = 5000, .small_sizes = false}};
    if (chained) draw.graphs = ChainOptions{.most_work = 5000, .ragged = false, .small_sizes = false};
    for_each_model(chained ? chains : plates, draw, property);
  }
};

inline std::string weighted_name(const testing::TestParamInfo<std::tuple<bool, Semiring>>& of) {
  return (std::get<0>(of.param) ? "chains_" : "plates_") + std::string(name(std::get<1>(of.param)));
}

}  // namespace plated::test
