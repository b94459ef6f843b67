// Marginals of variables, factors and sets of variables on random plated graphs, against the brute-force posterior.
#include <gtest/gtest.h>

#include <tuple>

#include "plated/marginals.hpp"
#include "property/adjoint_case.hpp"

namespace plated::test {
namespace {

/// Random sets of variables whose plates contain each other's.
std::vector<std::vector<DimId>> random_sets(Drawn& drawn) {
  const auto plates = drawn.graph.variable_plates();
  std::vector<DimId> variables = drawn.of_kind(DimKind::variable);
  std::vector<std::vector<DimId>> sets;
  for (std::int64_t n = drawn.random.below(3); n > 0 && !variables.empty(); --n) {
    drawn.random.shuffle(variables);
    std::vector<DimId> set;
    for (const DimId v : variables) {
      const bool fits = std::all_of(set.begin(), set.end(), [&](DimId w) {
        return std::includes(plates[v].begin(), plates[v].end(), plates[w].begin(), plates[w].end()) ||
               std::includes(plates[w].begin(), plates[w].end(), plates[v].begin(), plates[v].end());
      });
      if (fits && set.size() < 3) set.push_back(v);
    }
    sets.push_back(set);
  }
  return sets;
}

/// The slices and batches that one entry of a factor's operand stands for.
long double shared_by(const FactorGraph& graph, const Factor& factor) {
  long double count = 1;
  for (DimId d = 0; d < graph.dims().size(); ++d) {
    const bool tied = std::find(factor.tied.begin(), factor.tied.end(), d) != factor.tied.end();
    const bool shared = graph.dims()[d].kind == DimKind::batch &&
                        std::find(factor.dims.begin(), factor.dims.end(), d) == factor.dims.end();
    if (tied || shared) count *= static_cast<long double>(graph.dims()[d].size);
  }
  return count;
}

testing::AssertionResult compare(const std::string& what, const Tensor& got, const Tensor::Shape& shape,
                                 const Numbers& probabilities, bool log, const Bound& bound) {
  const Numbers want = log ? logarithms(probabilities) : probabilities;
  return near(what, got, shape, want, log ? log_magnitude(want) : probabilities, bound);
}

testing::AssertionResult check(Drawn& drawn, const Bound& bound) {
  const std::vector<std::vector<DimId>> sets = random_sets(drawn);
  MarginalOptions wanted{.variables = drawn.random.chance(85),
                         .factors = drawn.random.chance(60),
                         .sets = {},
                         .log = drawn.random.chance(50)};
  for (const std::vector<DimId>& set : sets) {
    wanted.sets.emplace_back();
    for (const DimId v : set) wanted.sets.back().push_back(drawn.name_of(v));
  }
  oracle::Posterior posterior = drawn.posterior();
  const auto ask = [&] { return marginals(drawn.plan, drawn.tensors(), drawn.run(), wanted); };
  const Numbers totals = posterior.table({});
  if (any_zero(totals, drawn.semiring)) return impossible([&] { (void)ask(); });
  const Marginals got = ask();
  const Numbers log_z = posterior.log_totals();
  auto good = near("log Z", got.log_partition, posterior.shape(posterior.axes({})), log_z, log_magnitude(log_z), bound);
  const std::vector<DimId> variables = drawn.of_kind(DimKind::variable);
  if (got.variables.size() != (wanted.variables ? variables.size() : 0) ||
      got.factors.size() != (wanted.factors ? drawn.tensors().size() : 0) || got.sets.size() != sets.size()) {
    return testing::AssertionFailure() << got.variables.size() << " variables, " << got.factors.size() << " factors, "
                                       << got.sets.size() << " sets";
  }
  for (const DimId v : variables) {
    if (!good || !wanted.variables) break;
    good = compare("marginal of " + drawn.name_of(v), got.variables.at(drawn.name_of(v)),
                   posterior.shape(posterior.axes({v})), posterior.marginal({v}), wanted.log, bound);
  }
  for (std::size_t f = 0; f < got.factors.size() && good; ++f) {
    Numbers want = posterior.factor(f);
    const long double count = shared_by(drawn.graph, drawn.graph.factors()[f]);
    if (count == 0) continue;  // it stands for nothing
    for (long double& p : want) p /= count;
    good = compare("posterior of factor " + std::to_string(f), got.factors[f], drawn.tensors()[f].shape(), want,
                   wanted.log, bound);
  }
  for (std::size_t s = 0; s < sets.size() && good; ++s) {
    good = compare("joint marginal " + std::to_string(s), got.sets[s], posterior.shape(posterior.axes(sets[s])),
                   posterior.marginal(sets[s]), wanted.log, bound);
  }
  if (good) return good;
  return testing::AssertionFailure() << good.message() << (wanted.log ? ", log" : "")
                                     << (wanted.variables ? ", variables" : "") << (wanted.factors ? ", factors" : "");
}

class MarginalsOf : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {
 protected:
  void run(std::uint64_t runs, int zero_percent, const CaseOptions& graphs = {}, bool extreme = false) {
    const Draw draw{.semiring = std::get<0>(GetParam()),
                    .dtypes = {std::get<1>(GetParam())},
                    .zero_percent = zero_percent,
                    .extreme = extreme,
                    .graphs = graphs};
    for_each_tractable(runs, draw, [&](Drawn& drawn) { return check(drawn, bound(draw.dtypes)); });
  }
};

TEST_P(MarginalsOf, RandomGraphs) { run(900, 0); }
TEST_P(MarginalsOf, GraphsWithZeros) { run(900, 12); }
/// Until posteriors are exact for slices that weigh 1e±300, or are masked with −1e30 in log space.
TEST_P(MarginalsOf, ExtremeMagnitudes) { run(600, 0, {}, true); }
TEST_P(MarginalsOf, LargerGraphs) { run(60, 3, {.most_work = 2e5, .small_sizes = false}); }

INSTANTIATE_TEST_SUITE_P(Semirings, MarginalsOf,
                         testing::Combine(testing::Values(Semiring::log, Semiring::real),
                                          testing::Values(Dtype::float32, Dtype::float64)),
                         test_name);

TEST(Marginals, SumToOne) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    for_each_tractable(400, {.dtypes = {dtype}}, [&](Drawn& drawn) -> testing::AssertionResult {
      oracle::Posterior posterior = drawn.posterior();
      if (any_zero(posterior.table({}), drawn.semiring)) return testing::AssertionSuccess();
      const Marginals got = marginals(drawn.plan, drawn.tensors(), drawn.run());
      for (const auto& [variable, tensor] : got.variables) {
        const std::vector<double> p = tensor.values();
        const auto states = static_cast<std::size_t>(tensor.shape().back());
        for (std::size_t k = 0; k < p.size(); k += states) {
          double sum = 0;
          for (std::size_t s = 0; s < states; ++s) sum += p[k + s];
          if (!(std::abs(sum - 1) <= (dtype == Dtype::float32 ? 3e-6 : 1e-14))) {
            return testing::AssertionFailure() << variable << " sums to 1 + " << sum - 1;
          }
        }
      }
      return testing::AssertionSuccess();
    });
  }
}

TEST(Marginals, OfAnEquationAreThoseOfItsPlan) {
  for_each_tractable(300, {}, [](Drawn& drawn) -> testing::AssertionResult {
    const std::optional<EinsumOptions> options = drawn.c.equation_options();
    oracle::Posterior posterior = drawn.posterior();
    if (!options || any_zero(posterior.table({}), drawn.semiring)) return testing::AssertionSuccess();
    const Marginals got = marginals(drawn.c.equation(), drawn.tensors(), *options);
    for (const DimId v : drawn.of_kind(DimKind::variable)) {
      // Names are declared in another order in an equation, so that axes may be too: only sizes and sums are sure.
      const Tensor& t = got.variables.at(drawn.name_of(v));
      if (drawn.graph.variable_plates()[v].size() > 1 || drawn.of_kind(DimKind::batch).size() > 1) continue;
      const Numbers want = posterior.marginal({v});
      const auto good = near(drawn.name_of(v), t, posterior.shape(posterior.axes({v})), want, want, {1e-11, 1e-300});
      if (!good) return good;
    }
    return testing::AssertionSuccess();
  });
}

TEST(Marginals, InLogSpaceAreRightWhereProbabilitiesUnderflow) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    const auto tensor = [&](const Tensor::Shape& shape, const std::vector<double>& values) {
      if (dtype == Dtype::float64) return Tensor::of<double>(shape, values);
      return Tensor::of<float>(shape, std::vector<float>(values.begin(), values.end()));
    };
    // x; y in a plate: each depends on x, and is nearly surely in state 0.
    const Tensor f = tensor({2}, {0, -5000});
    const Tensor g = tensor({2, 2, 2}, {0, -7000, -1, -2, 0.5, -6000, -3, -1});
    const Marginals p =
        marginals("x,ixy->", {f, g}, {.plates = "i"}, {.factors = true, .sets = {{"x", "y"}}, .log = true});
    const Marginals plain = marginals("x,ixy->", {f, g}, {.plates = "i"}, {.factors = true});
    const double one = std::log(std::exp(-1.0) + std::exp(-2.0)) + std::log(std::exp(-3.0) + std::exp(-1.0));
    const double relative = dtype == Dtype::float32 ? 1e-6 : 1e-14;
    const auto expect = [&](double got, double want) { EXPECT_NEAR(got, want, relative * (1 + std::abs(want))); };
    // log Z = 0.5: x = 1 weighs e^(−5000 + one), and a state y = 1 of x = 0 weighs e^−7000 or e^−6000.
    expect(p.log_partition.item(), 0.5);
    expect(p.variables.at("x").values()[0], 0);
    expect(p.variables.at("x").values()[1], -5000 + one - 0.5);
    const double y0 = -5000 - 2 + std::log(std::exp(-3.0) + std::exp(-1.0)) - 0.5;
    const double y1 = -5000 - 1 + std::log(std::exp(-1.0) + std::exp(-2.0)) - 0.5;
    expect(p.variables.at("y").at({0, 1}), y0);
    expect(p.variables.at("y").at({1, 1}), y1);
    expect(p.factors[0].values()[1], -5000 + one - 0.5);
    expect(p.factors[1].at({0, 0, 1}), -7000);
    expect(p.factors[1].at({1, 0, 1}), -6000.5);
    expect(p.sets[0].at({0, 0, 1}), -7000);
    expect(p.sets[0].at({1, 0, 1}), -6000.5);
    EXPECT_EQ(plain.variables.at("x").values(), (std::vector<double>{1, 0}));
  }
}

TEST(Marginals, RefuseSetsThatMakeNoSense) {
  const Tensor f = Tensor::of<double>({2, 2}, {1, 2, 3, 4});
  const auto ask = [&](std::vector<std::string> set) {
    (void)marginals("ix,jy->", {f, f}, {.plates = "ij"}, {.sets = {std::move(set)}});
  };
  EXPECT_THROW(ask({"x", "nobody"}), UnknownNameError);
  EXPECT_THROW(ask({"x", "i"}), Error);
  EXPECT_THROW((void)marginals("ix,jy->", {f, f}, {.plates = "ij", .semiring = Semiring::max_plus}), OptionError);
  EXPECT_THROW((void)marginals("ix,jy->", {f, f}, {.plates = "ij", .semiring = Semiring::boolean}), OptionError);
}

}  // namespace
}  // namespace plated::test
