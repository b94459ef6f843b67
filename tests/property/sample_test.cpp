// Joint samples of random models: chi-squared tests on all joint cells, and a stream that depends on the seed alone.
#include <gtest/gtest.h>

#include "plated/sample.hpp"
#include "property/count_samples.hpp"
#include "property/drawn_model.hpp"
#include "property/near.hpp"

namespace plated::test {
namespace {

testing::AssertionResult check(DrawnModel& drawn) {
  const std::int64_t count = drawn.c.chains.empty() ? 4000 : 2500;
  oracle::Posterior posterior = drawn.posterior();
  const auto ask = [&] {
    return sample(drawn.plan, drawn.tensors(), {.count = count, .seed = drawn.c.seed + 11}, drawn.run());
  };
  if (any_zero(posterior.table({}), drawn.semiring)) return impossible([&] { (void)ask(); });
  const Draws draws = ask();
  if (draws.size() != drawn.variables().size()) return testing::AssertionFailure() << draws.size() << " variables";
  for (const DimId v : drawn.variables()) {
    Tensor::Shape shape = posterior.shape(posterior.axes({v}));
    shape.pop_back();
    shape.insert(shape.begin(), count);
    if (draws.at(drawn.name_of(v)).shape != shape) {
      return testing::AssertionFailure() << drawn.name_of(v) << " has the wrong shape";
    }
  }
  return plausible(posterior, draws, count);
}

constexpr CaseOptions plates{.most_work = 3000};
constexpr ChainOptions chains{.most_work = 4000}, nested{.most_work = 4000, .nested = true};

class Samples : public OfModels {};

TEST_P(Samples, HaveTheJointDistribution) { for_each_model(models(), check); }

INSTANTIATE_TEST_SUITE_P(
    Of, Samples,
    testing::Combine(
        testing::Values(Models{"plates", 250, {.graphs = plates}},
                        Models{"plates_with_zeros", 250, {.zero_percent = 12, .graphs = plates}},
                        Models{"plates_of_extreme_magnitudes", 250, {.extreme = true, .graphs = plates}},
                        Models{"chains", 120, {.graphs = chains}},
                        Models{"chains_with_zeros", 120, {.zero_percent = 12, .graphs = chains}},
                        Models{"chains_of_extreme_magnitudes", 100, {.extreme = true, .graphs = chains}},
                        Models{"chains_in_chains", 40, {.zero_percent = 5, .graphs = nested}},
                        Models{"plates_in_blocks", 100, {.zero_percent = 5, .graphs = plates}, true},
                        Models{"chains_in_blocks", 40, {.zero_percent = 5, .graphs = chains}, true},
                        Models{"chains_in_chains_in_blocks", 15, {.zero_percent = 5, .graphs = nested}, true}),
        sum_semirings, both_dtypes),
    models_name);

testing::AssertionResult check_stream(DrawnModel& drawn) {
  if (any_zero(drawn.posterior().table({}), drawn.semiring)) return testing::AssertionSuccess();
  const auto ask = [&](std::int64_t first, std::int64_t count, int threads) {
    RunOptions options = drawn.run();
    options.threads = threads;
    return sample(drawn.plan, drawn.tensors(), {.count = count, .seed = 3, .first = first}, options);
  };
  const Draws all = ask(0, 40, 1);
  for (const int threads : {2, 3, 8}) {
    if (ask(0, 40, threads) != all) return testing::AssertionFailure() << threads << " threads differ";
  }
  std::int64_t first = 0;
  for (const std::int64_t count : {0, 1, 2, 17, 20}) {
    const Draws part = ask(first, count, 1);
    if (part.size() != all.size()) return testing::AssertionFailure() << part.size() << " variables";
    for (const auto& [variable, states] : part) {
      const std::vector<std::int64_t>& whole = all.at(variable).values;
      const std::int64_t each = std::ssize(whole) / 40;
      if (!std::equal(states.values.begin(), states.values.end(), whole.begin() + first * each,
                      whole.begin() + (first + count) * each)) {
        return testing::AssertionFailure() << count << " samples of " << variable << " from " << first << " differ";
      }
    }
    first += count;
  }
  return testing::AssertionSuccess();
}

TEST(Samples, AreTheSameInAnyBatchesAndAnyThreads) {
  for_each_model({"plates", 200, {.zero_percent = 3}}, check_stream);
  for_each_model({"chains", 150, {.zero_percent = 3, .graphs = ChainOptions{}}}, check_stream);
  for_each_model({"chains_in_chains", 30, {.zero_percent = 3, .graphs = ChainOptions{.nested = true}}}, check_stream);
}

}  // namespace
}  // namespace plated::test
