// Weights of plates in loops: runs that a limit cuts have the bits of those that it does not.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "plated/marginals.hpp"
#include "property/question_case.hpp"

namespace plated::test {
namespace {

/// A weight for each slice of every plate: none, whole ones and fractions.
Weights random_weights(const LargeCase& large, Random& random) {
  Weights weights;
  for (DimId d = 0; d < large.graph.dims().size(); ++d) {
    if (large.graph.dims()[d].kind != DimKind::plate) continue;
    std::vector<double> of_slices;
    for (std::int64_t k = 0; k < large.extents[d]; ++k) {
      of_slices.push_back(random.chance(20) ? 0.0 : 0.25 * static_cast<double>(1 + random.below(12)));
    }
    weights[large.graph.dims()[d].name] = Tensor::of<double>({large.extents[d]}, of_slices);
  }
  return weights;
}

TEST(LoopsOfWeights, GiveTheSameBitsUnderAnyLimit) {
  int cut = 0;
  for_each_seed(60, [&](std::uint64_t seed) -> testing::AssertionResult {
    std::optional<LargeCase> large = large_case(seed, Semiring::log, Dtype::float64);
    if (!large) return testing::AssertionSuccess();
    const BlockedFrom all(0);
    RunOptions options{.weights = random_weights(*large, large->random)};
    if (options.weights.empty()) return testing::AssertionSuccess();
    for (DimId d = 0; d < large->graph.dims().size(); ++d) {
      if (large->graph.dims()[d].kind != DimKind::variable)
        options.sizes[large->graph.dims()[d].name] = large->extents[d];
    }
    const Plan plan = compile(large->graph);
    using Ask = std::function<std::vector<Tensor>(const RunOptions&)>;
    const std::vector<std::pair<const char*, Ask>> questions{
        {"value", [&](const RunOptions& how) { return plan.run(large->factors, how); }},
        {"gradient",
         [&](const RunOptions& how) {
           ValueAndGradient both = value_and_gradient(plan, large->factors, how);
           both.values.insert(both.values.end(), both.gradients.begin(), both.gradients.end());
           return both.values;
         }},
        {"marginals", [&](const RunOptions& how) {
           const Marginals got = marginals(plan, large->factors, how, {.factors = true});
           std::vector<Tensor> list{got.log_partition};
           for (const auto& [name, posterior] : got.variables) list.push_back(posterior);
           list.insert(list.end(), got.factors.begin(), got.factors.end());
           return list;
         }}};
    for (const auto& [name, ask] : questions) {
      std::vector<std::uint64_t> want;
      try {
        want = bits_of(ask(options));
      } catch (const ImpossibleError&) {
        continue;
      }
      RunOptions limited = options;
      limited.memory_limit = 1;
      try {
        (void)ask(limited);
      } catch (const MemoryLimitError& error) {
        limited.memory_limit = error.bytes_needed();
        ++cut;
      }
      for (const int threads : {1, 2}) {
        limited.threads = threads;
        try {
          if (bits_of(ask(limited)) != want) {
            return testing::AssertionFailure() << large->print() << "\n  " << name << " has other bits under a limit";
          }
        } catch (const MemoryLimitError& error) {
          if (threads == 1)
            return testing::AssertionFailure() << large->print() << "\n  " << name << ": " << error.what();
        }
      }
    }
    return testing::AssertionSuccess();
  });
  EXPECT_GT(cut, quota(10)) << "too few runs had a limit";
}

}  // namespace
}  // namespace plated::test
