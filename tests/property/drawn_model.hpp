// Random models, of plates alone or with chains, their plans and operands: what a property is checked on.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "oracle/posterior.hpp"
#include "property/blocked_from.hpp"
#include "property/compile_case.hpp"
#include "property/padding.hpp"
#include "property/random_case.hpp"
#include "property/random_chain.hpp"
#include "property/random_operands.hpp"
#include "property/seeds.hpp"

namespace plated::test {

struct DrawOptions {
  Semiring semiring = Semiring::log;
  std::vector<Dtype> dtypes = {Dtype::float64};
  int zero_percent = 0;
  bool extreme = false;  // slices that weigh 1e±300, or are masked with −1e30 in log space
  bool signs = false;    // negative entries in the real semiring; without them its operands are weights
  std::variant<CaseOptions, ChainOptions> graphs = CaseOptions{};
};

/// A graph, its plan and its operands; entries beyond a chain's length are NaN, which must not matter.
struct DrawnModel {
  Case c;
  FactorGraph graph;
  Plan plan;
  Semiring semiring;
  Random random;
  Operands operands;
  bool extreme = false;

  [[nodiscard]] const std::vector<Tensor>& tensors() const { return operands.tensors(); }
  [[nodiscard]] RunOptions run() const { return {.semiring = semiring, .threads = 1, .lengths = c.lengths}; }
  [[nodiscard]] oracle::Posterior posterior() const {
    return oracle::Posterior(graph, tensors(), semiring, c.lengths, extreme);
  }

  [[nodiscard]] std::vector<DimId> of_kind(DimKind kind) const {
    std::vector<DimId> result;
    for (DimId d = 0; d < graph.dims().size(); ++d) {
      if (graph.dims()[d].kind == kind) result.push_back(d);
    }
    return result;
  }
  /// Variables but for the ends of chains.
  [[nodiscard]] std::vector<DimId> variables() const {
    std::vector<DimId> result = of_kind(DimKind::variable);
    std::erase_if(result, [&](DimId v) { return graph.dims()[v].end != End::none; });
    return result;
  }
  [[nodiscard]] const std::string& name_of(DimId d) const { return graph.dims()[d].name; }

  /// Everything needed to see a failure by eye.
  [[nodiscard]] std::string print() const {
    std::ostringstream text;
    text << c.print() << "\n  " << name(semiring);
    for (const Tensor& t : tensors()) {
      text << "\n  " << name(t.dtype()) << " {";
      for (const double x : t.values()) text << " " << x;
      text << " }";
    }
    return text.str() + "\n";
  }
};

inline Case drawn_case(std::uint64_t seed, const std::variant<CaseOptions, ChainOptions>& graphs) {
  if (const auto* chains = std::get_if<ChainOptions>(&graphs)) return random_chain(seed, *chains);
  return random_case(seed, std::get<CaseOptions>(graphs));
}

inline DrawnModel drawn_model(const Case& c, const FactorGraph& graph, Plan plan, const DrawOptions& draw) {
  Random random(c.seed + 7000003);
  const bool strided = random.chance(60);
  const bool weights = draw.semiring == Semiring::real && !draw.signs;
  Operands operands(graph, random,
                    {.semiring = weights ? Semiring::max_product : draw.semiring,
                     .dtypes = draw.dtypes,
                     .strided = strided,
                     .zero_percent = draw.zero_percent,
                     .extreme = draw.extreme});
  if (!c.lengths.empty()) spoil_padding(graph, c.lengths, operands.tensors());
  return {c, graph, std::move(plan), draw.semiring, random, std::move(operands), draw.extreme};
}

/// Calls `property(drawn)` for each seed whose graph is tractable. Every graph with chains must be, and at least half
/// of the others, or the test would mean nothing.
template <class Property>
void for_each_model(std::uint64_t runs, const DrawOptions& draw, Property property) {
  std::uint64_t seen = 0, compared = 0;
  for_each_seed(runs, [&](std::uint64_t seed) -> testing::AssertionResult {
    const Case c = drawn_case(seed, draw.graphs);
    std::optional<DrawnModel> drawn;
    testing::AssertionResult result = testing::AssertionSuccess();
    ++seen;
    try {
      const FactorGraph graph = c.build();
      std::optional<Plan> plan = compile_if_tractable(graph);
      if (!plan && c.chains.empty()) return result;
      if (!plan) return testing::AssertionFailure() << c.print() << "\nis intractable";
      ++compared;
      drawn.emplace(drawn_model(c, graph, std::move(*plan), draw));
      result = property(*drawn);
    } catch (const std::exception& error) {
      result = testing::AssertionFailure() << "threw " << error.what();
    }
    if (result) return result;
    return testing::AssertionFailure() << (drawn ? drawn->print() : c.print() + "\n") << result.message();
  });
  EXPECT_GE(2 * compared, seen > 100 ? seen : 0) << "too many graphs were skipped";
}

/// So many models of one kind.
struct Models {
  std::string name;
  std::uint64_t runs = 0;
  DrawOptions draw = {};
  bool blocked = false;  // runs are bound in blocks, however few bytes they have
};

inline std::ostream& operator<<(std::ostream& out, const Models& models) { return out << models.name; }

template <class Property>
void for_each_model(const Models& models, Property property) {
  SCOPED_TRACE(models.name);
  std::optional<BlockedFrom> all;
  if (models.blocked) all.emplace(0);
  for_each_model(models.runs, models.draw, property);
}

/// A test of models of one kind, in one semiring and dtype.
class OfModels : public testing::TestWithParam<std::tuple<Models, Semiring, Dtype>> {
 protected:
  [[nodiscard]] static Models models() {
    Models result = std::get<0>(GetParam());
    result.draw.semiring = std::get<1>(GetParam());
    result.draw.dtypes = {std::get<2>(GetParam())};
    return result;
  }
  [[nodiscard]] static Dtype dtype() { return std::get<2>(GetParam()); }
};

inline std::string models_name(const testing::TestParamInfo<std::tuple<Models, Semiring, Dtype>>& info) {
  return std::get<0>(info.param).name + "_" + std::string(name(std::get<1>(info.param))) + "_" +
         std::string(name(std::get<2>(info.param)));
}

inline const auto sum_semirings = testing::Values(Semiring::log, Semiring::real);
inline const auto max_semirings = testing::Values(Semiring::max_plus, Semiring::min_plus, Semiring::max_product);
inline const auto both_dtypes = testing::Values(Dtype::float32, Dtype::float64);

/// A random dense tensor with entries of either sign.
inline Tensor signed_tensor(const Tensor::Shape& shape, Random& random, Dtype dtype = Dtype::float64) {
  const Tensor tensor(dtype, shape);
  for (std::int64_t k = 0; k < tensor.elements(); ++k) {
    const auto value = static_cast<float>(random.uniform(-2, 2));
    if (dtype == Dtype::float32) {
      static_cast<float*>(tensor.mutable_data())[k] = value;
    } else {
      static_cast<double*>(tensor.mutable_data())[k] = value;
    }
  }
  return tensor;
}

inline std::vector<Tensor> signed_like(const std::vector<Tensor>& tensors, Random& random) {
  std::vector<Tensor> result;
  for (const Tensor& t : tensors) result.push_back(signed_tensor(t.shape(), random));
  return result;
}

}  // namespace plated::test
