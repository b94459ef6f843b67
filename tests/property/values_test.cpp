// Every semiring and element type on random plated graphs and random layouts, against the unrolled graph.
#include <gtest/gtest.h>

#include <tuple>

#include "property/compile_case.hpp"
#include "property/expect_close.hpp"
#include "property/random_case.hpp"
#include "property/random_operands.hpp"
#include "property/seeds.hpp"

namespace plated::test {
namespace {

class Values : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {
 protected:
  /// The share of graphs that must be tractable for the test to mean anything.
  void run(std::uint64_t runs, std::vector<Dtype> dtypes, double relative, const CaseOptions& options,
           int zero_percent) {
    const Semiring semiring = std::get<0>(GetParam());
    std::uint64_t seen = 0, compared = 0;
    for_each_seed(runs, [&](std::uint64_t seed) -> testing::AssertionResult {
      const Case c = random_case(seed, options);
      const FactorGraph graph = c.build();
      ++seen;
      const std::optional<Plan> plan = compile_if_tractable(graph);
      if (!plan) return testing::AssertionSuccess();
      ++compared;
      Random random(seed + 1000003);
      const bool strided = random.chance(70);
      const Operands operands(
          graph, random, {.semiring = semiring, .dtypes = dtypes, .strided = strided, .zero_percent = zero_percent});
      const std::vector<Tensor> results = plan->run(operands.tensors(), {.semiring = semiring, .threads = 1});
      const auto expected = oracle::unrolled(graph, operands.tensors(), semiring);
      const testing::AssertionResult result = close(results, expected, semiring, relative);
      if (result) return result;
      return testing::AssertionFailure() << c.print() << "\n  " << name(semiring) << (strided ? ", strided" : "")
                                         << ": " << result.message() << "\n"
                                         << plan->print();
    });
    EXPECT_GE(2 * compared, seen > 100 ? seen : 0) << "too many graphs were skipped";
  }
};

TEST_P(Values, EqualTheUnrolledGraph) {
  const Dtype dtype = std::get<1>(GetParam());
  run(2000, {dtype}, tolerance(dtype), {}, 0);
}

TEST_P(Values, OfZerosAreExactAndNeverNan) {
  const Dtype dtype = std::get<1>(GetParam());
  run(1000, {dtype}, tolerance(dtype), {}, 35);
}

TEST_P(Values, OfLargerGraphsEqualTheUnrolledGraph) {
  const Dtype dtype = std::get<1>(GetParam());
  run(150, {dtype}, tolerance(dtype), {.most_work = 1e6, .small_sizes = false}, 5);
}

std::string parameter_name(const testing::TestParamInfo<std::tuple<Semiring, Dtype>>& info) {
  return std::string(name(std::get<0>(info.param))) + "_" + std::string(name(std::get<1>(info.param)));
}

constexpr Semiring all_semirings[] = {Semiring::real,     Semiring::log,         Semiring::max_plus,
                                      Semiring::min_plus, Semiring::max_product, Semiring::boolean};

INSTANTIATE_TEST_SUITE_P(Semirings, Values,
                         testing::Combine(testing::ValuesIn(all_semirings),
                                          testing::Values(Dtype::float32, Dtype::float64)),
                         parameter_name);

/// Operands of both types at once; what float32 holds exactly is as precise as the rest.
class MixedValues : public Values {};
TEST_P(MixedValues, EqualTheUnrolledGraph) {
  run(1000, {Dtype::float32, Dtype::float64}, tolerance(Dtype::float32), {}, 10);
}
INSTANTIATE_TEST_SUITE_P(Semirings, MixedValues,
                         testing::Combine(testing::Values(Semiring::real, Semiring::log, Semiring::max_plus),
                                          testing::Values(Dtype::float64)),
                         parameter_name);

}  // namespace
}  // namespace plated::test
