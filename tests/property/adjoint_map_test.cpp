// The best assignment and max-marginals of random plated graphs, against brute force and bit for bit.
#include <gtest/gtest.h>

#include <tuple>

#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "property/adjoint_case.hpp"
#include "property/blocked_from.hpp"

namespace plated::test {
namespace {

/// For each operand, which entries an assignment uses.
using Used = std::vector<std::vector<bool>>;

Used used_entries(const Drawn& drawn, const oracle::Posterior& posterior,
                  const std::map<std::string, Integers>& assignment) {
  Used used;
  for (const Tensor& t : drawn.tensors()) used.emplace_back(static_cast<std::size_t>(t.elements()), false);
  std::size_t batch = 0;
  std::vector<std::int64_t> at(drawn.graph.dims().size(), 0);
  oracle::for_each_index(drawn.graph, drawn.of_kind(DimKind::batch), at, [&] {
    const oracle::World world(drawn.graph, at, {});
    const oracle::States states = posterior.states(batch++, assignment);
    for (const oracle::Site& site : world.factors) used[site.owner][oracle::index_of(site, states)] = true;
  });
  return used;
}

/// Dense copies of the operands in which everything that is not used is the semiring's zero; nothing is where `used` is
/// empty.
std::vector<Tensor> masked(const Drawn& drawn, const Used& used, Semiring semiring) {
  std::vector<Tensor> result;
  for (std::size_t f = 0; f < drawn.tensors().size(); ++f) {
    const Tensor& operand = drawn.tensors()[f];
    std::vector<double> values = operand.values();
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!used.empty() && !used[f][k]) values[k] = static_cast<double>(oracle::zero(semiring));
    }
    result.push_back(operand.dtype() == Dtype::float64
                         ? Tensor::of<double>(operand.shape(), values)
                         : Tensor::of<float>(operand.shape(), std::vector<float>(values.begin(), values.end())));
  }
  return result;
}

testing::AssertionResult check(Drawn& drawn, const Bound& bound) {
  const Semiring meant = drawn.semiring;
  const bool other_name = drawn.random.chance(40);
  RunOptions options = drawn.run();
  if (other_name && meant == Semiring::max_plus) options.semiring = Semiring::log;
  if (other_name && meant == Semiring::max_product) options.semiring = Semiring::real;
  oracle::Posterior posterior(drawn.graph, drawn.tensors(), meant);
  const Numbers best = posterior.table({});
  const auto ask = [&] { return map(drawn.plan, drawn.tensors(), options); };
  if (any_zero(best, meant)) return impossible([&] { (void)ask(); });
  const MapResult got = ask();
  const Tensor::Shape batch = posterior.shape(posterior.axes({}));
  if (const auto good = near("score", got.score, batch, best, log_magnitude(best), bound); !good) return good;
  const Plan total = compile(drawn.graph.asking({{}}));
  const std::vector<double> scores = got.score.values();
  if (total.run(drawn.tensors(), {.semiring = meant, .threads = 1})[0].values() != scores) {
    return testing::AssertionFailure() << "the score is not the einsum's, bit for bit";
  }
  const auto plates = drawn.graph.variable_plates();
  for (const DimId v : drawn.of_kind(DimKind::variable)) {
    Tensor::Shape shape = batch;
    for (const DimId b : plates[v]) shape.push_back(drawn.graph.dims()[b].size);
    const Integers& states = got.assignment.at(drawn.name_of(v));
    if (states.shape != shape) return testing::AssertionFailure() << drawn.name_of(v) << " has the wrong shape";
    for (const std::int64_t s : states.values) {
      if (s < 0 || s >= drawn.graph.dims()[v].size) return testing::AssertionFailure() << "state " << s;
    }
  }
  for (std::size_t n = 0; n < posterior.batches(); ++n) {
    const long double weight = posterior.weight(n, posterior.states(n, got.assignment));
    if (!(std::abs(weight - scores[n]) <= bound.relative * (20 + std::abs(weight)))) {
      return testing::AssertionFailure() << "the assignment of batch " << n << " weighs " << static_cast<double>(weight)
                                         << ", not " << scores[n];
    }
  }
  // Bits may depend on how operands lie in memory: the masked ones are dense, and so must be what they are held
  // against.
  const std::vector<Tensor> dense = masked(drawn, {}, meant);
  const MapResult of_dense = map(drawn.plan, dense, options);
  const auto used = used_entries(drawn, posterior, of_dense.assignment);
  const auto again = total.run(masked(drawn, used, meant), {.semiring = meant, .threads = 1});
  if (again[0].values() != of_dense.score.values()) {
    return testing::AssertionFailure() << "the assignment does not evaluate to the score, bit for bit";
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult check_max_marginals(Drawn& drawn, const Bound& bound) {
  const Semiring meant = drawn.semiring;
  const bool other_name = drawn.random.chance(40);
  RunOptions options = drawn.run();
  if (other_name && meant == Semiring::max_plus) options.semiring = Semiring::log;
  if (other_name && meant == Semiring::max_product) options.semiring = Semiring::real;
  oracle::Posterior posterior(drawn.graph, drawn.tensors(), meant);
  const std::map<std::string, Tensor> got = max_marginals(drawn.plan, drawn.tensors(), options);
  const std::vector<DimId> variables = drawn.of_kind(DimKind::variable);
  if (got.size() != variables.size()) return testing::AssertionFailure() << got.size() << " variables";
  for (const DimId v : variables) {
    const Numbers want = posterior.table({v});
    const Numbers magnitude = meant == Semiring::max_product ? want : log_magnitude(want);
    const auto good =
        near(drawn.name_of(v), got.at(drawn.name_of(v)), posterior.shape(posterior.axes({v})), want, magnitude, bound);
    if (!good) return good;
  }
  return testing::AssertionSuccess();
}

class Map : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {
 protected:
  template <class Check>
  void run(std::uint64_t runs, int zero_percent, Check check_one, const CaseOptions& graphs = {}) {
    const Draw draw{.semiring = std::get<0>(GetParam()),
                    .dtypes = {std::get<1>(GetParam())},
                    .zero_percent = zero_percent,
                    .graphs = graphs};
    const Bound within = draw.dtypes[0] == Dtype::float32 ? Bound{5e-6, 0} : Bound{1e-13, 0};
    for_each_tractable(runs, draw, [&](Drawn& drawn) { return check_one(drawn, within); });
  }
};

TEST_P(Map, IsTheBestAssignment) { run(800, 0, check); }
TEST_P(Map, OfGraphsWithZeros) { run(800, 12, check); }
TEST_P(Map, OfLargerGraphs) { run(60, 3, check, {.most_work = 2e5, .small_sizes = false}); }
TEST_P(Map, OfRunsInBlocks) {
  const BlockedFrom all(0);
  run(300, 5, check);
}
TEST_P(Map, MaxMarginals) { run(500, 0, check_max_marginals); }
TEST_P(Map, MaxMarginalsOfZeros) { run(500, 25, check_max_marginals); }

INSTANTIATE_TEST_SUITE_P(Semirings, Map,
                         testing::Combine(testing::Values(Semiring::max_plus, Semiring::min_plus,
                                                          Semiring::max_product),
                                          testing::Values(Dtype::float32, Dtype::float64)),
                         test_name);

/// Small integers: many ties, and every sum exact.
TEST(MapTies, AreBestAssignmentsAndTheSameEveryTime) {
  for_each_tractable(500, {.semiring = Semiring::max_plus}, [](Drawn& drawn) -> testing::AssertionResult {
    std::vector<Tensor> whole;
    for (const Tensor& t : drawn.tensors()) {
      std::vector<double> values = t.values();
      for (double& x : values) x = std::round(x / 3);
      whole.push_back(Tensor::of<double>(t.shape(), values));
    }
    oracle::Posterior posterior(drawn.graph, whole, drawn.semiring);
    const Numbers best = posterior.table({});
    if (any_zero(best, drawn.semiring)) return testing::AssertionSuccess();
    const MapResult got = map(drawn.plan, whole, drawn.run());
    for (std::size_t n = 0; n < best.size(); ++n) {
      if (got.score.values()[n] != best[n] || posterior.weight(n, posterior.states(n, got.assignment)) != best[n]) {
        return testing::AssertionFailure() << "batch " << n << " scores " << got.score.values()[n];
      }
    }
    for (const int threads : {1, 3}) {
      const MapResult again = map(drawn.plan, whole, {.semiring = drawn.semiring, .threads = threads});
      if (again.assignment != got.assignment) return testing::AssertionFailure() << threads << " threads differ";
    }
    return testing::AssertionSuccess();
  });
}

TEST(MapTies, OfEqualWeightsTakeTheLowestStates) {
  for (const Semiring semiring : {Semiring::max_plus, Semiring::min_plus, Semiring::max_product}) {
    for_each_tractable(300, {.semiring = semiring}, [&](Drawn& drawn) -> testing::AssertionResult {
      std::vector<Tensor> equal;
      for (const Tensor& t : drawn.tensors()) {
        equal.push_back(
            Tensor::of<double>(t.shape(), std::vector<double>(static_cast<std::size_t>(t.elements()), 0.75)));
      }
      oracle::Posterior posterior(drawn.graph, equal, semiring);
      if (any_zero(posterior.table({}), semiring)) return testing::AssertionSuccess();
      for (const auto& [variable, states] : map(drawn.plan, equal, drawn.run()).assignment) {
        for (const std::int64_t s : states.values) {
          if (s != 0) return testing::AssertionFailure() << variable << " is " << s;
        }
      }
      return testing::AssertionSuccess();
    });
  }
}

TEST(MapOf, RefusesBooleans) {
  const Tensor t = Tensor::of<double>({2}, {1, 1});
  EXPECT_THROW((void)map("x->", {t}, {.semiring = Semiring::boolean}), OptionError);
  EXPECT_THROW((void)max_marginals("x->", {t}, {.semiring = Semiring::boolean}), OptionError);
}

TEST(MapOf, AnEquation) {
  const Tensor f = Tensor::of<double>({2}, {0, 1}),
               g = Tensor::of<double>({2, 2, 3}, {9, 1, 2, 3, 4, 5, 1, 1, 1, 2, 7, 7});
  const auto [score, assignment] = map("x,ixy->", {f, g}, {.plates = "i"});
  EXPECT_EQ(score.item(), 13);  // x = 1: 1 + 5 + 7; x = 0: 0 + 9 + 1
  EXPECT_EQ(assignment.at("x"), Integers({}, std::vector<std::int64_t>{1}));
  EXPECT_EQ(assignment.at("y"), Integers({2}, {2, 1}));
  EXPECT_EQ(max_marginals("x,ixy->", {f, g}, {.plates = "i"}).at("y").values(),
            (std::vector<double>{11, 12, 13, 10, 13, 13}));
}

}  // namespace
}  // namespace plated::test
