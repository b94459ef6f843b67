// Answers under memory limits: runs that are cut into blocks of plates, or along chains, give the bits of those that
// are not, and keep to the limit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/question_case.hpp"
#include "property/random_chain.hpp"
#include "property/under_limits.hpp"

namespace plated::test {
namespace {

/// A random model that is large enough to be cut, with operands.
struct LargeModel {
  FactorGraph graph;  // compiled for each question: blocks are chosen when a plan is first run
  std::vector<Tensor> operands;
  RunOptions options;
  std::string text;
  std::uint64_t seed = 0;
};

std::optional<LargeModel> large_plates(std::uint64_t seed, Semiring semiring, Dtype dtype) {
  std::optional<LargeCase> large = large_case(seed, semiring, dtype);
  if (!large) return std::nullopt;
  return LargeModel{large->graph, std::move(large->factors), {.semiring = semiring}, large->print() + "\n", seed};
}

/// Lengths of chains inside chains are not drawn.
LargeModel long_chain(std::uint64_t seed, Semiring semiring, Dtype dtype, bool nested) {
  const Case c = random_chain(seed, {.small_sizes = false, .nested = nested});
  FactorGraph graph = c.build();
  Random random(seed + 77);
  RunOptions options{.semiring = semiring};
  const FactorGraph drawn = graph;
  for (const Chain& chain : drawn.chains()) {
    const std::string name = graph.dims()[chain.dim].name;
    const std::int64_t size = nested ? 4 + random.below(6) : 40 + random.below(90);
    graph = graph.resized(name, size);
    const auto given = c.lengths.find(name);
    if (nested || given == c.lengths.end()) continue;
    Integers lengths = given->second;
    for (std::int64_t& length : lengths.values) length = random.below(size + 1);
    options.lengths.emplace(name, std::move(lengths));
  }
  std::vector<Tensor> operands;
  for (const Factor& factor : graph.factors()) {
    Tensor::Shape shape;
    for (const DimId d : factor.dims) shape.push_back(graph.dims()[d].size);
    operands.push_back(
        random_tensor(dtype, shape, random, semiring == Semiring::real ? Semiring::max_product : semiring));
  }
  return {std::move(graph), std::move(operands), std::move(options), c.print() + "\n", seed};
}

testing::AssertionResult check(const LargeModel& drawn, int& cut) {
  const std::vector<Tensor>& operands = drawn.operands;
  const bool chooses = drawn.options.semiring == Semiring::max_plus || drawn.options.semiring == Semiring::min_plus;
  const auto value = [&](const RunOptions& options) {
    Bits bits;
    bits.add(compile(drawn.graph).run(operands, options));
    return bits;
  };
  const auto best = [&](const RunOptions& options) {
    const MapResult got = map(compile(drawn.graph), operands, options);
    Bits bits;
    bits.add(got.score);
    bits.add(got.assignment);
    return bits;
  };
  const auto gradient = [&](const RunOptions& options) {
    const auto got = value_and_gradient(compile(drawn.graph), operands, options);
    Bits bits;
    bits.add(got.values);
    bits.add(got.gradients);
    return bits;
  };
  const auto posterior = [&](const RunOptions& options) {
    const Marginals got = marginals(compile(drawn.graph), operands, options, {.factors = true});
    Bits bits;
    bits.add(got.log_partition);
    bits.add(got.variables);
    bits.add(got.factors);
    return bits;
  };
  const auto information = [&](const RunOptions& options) {
    Bits bits;
    bits.add(entropy(compile(drawn.graph), operands, options));
    return bits;
  };
  const auto one_draw = [&](const RunOptions& options) {
    Bits bits;
    bits.add(sample(compile(drawn.graph), operands, {.count = 1, .seed = drawn.seed}, options));
    return bits;
  };
  const auto draws = [&](const RunOptions& options) {
    Bits bits;
    bits.add(sample(compile(drawn.graph), operands, {.count = 20, .seed = drawn.seed}, options));
    return bits;
  };
  const std::vector<std::pair<std::string, Ask>> questions =
      chooses ? std::vector<std::pair<std::string, Ask>>{{"value", value}, {"map", best}}
              : std::vector<std::pair<std::string, Ask>>{{"value", value},         {"gradient", gradient},
                                                         {"marginals", posterior}, {"entropy", information},
                                                         {"sample", one_draw},     {"samples", draws}};
  for (const auto& [name, ask] : questions) {
    try {
      const testing::AssertionResult same = same_under_limits(ask, drawn.options, cut);
      if (!same) return testing::AssertionFailure() << name << ": " << same.message();
    } catch (const ImpossibleError&) {
    }
  }
  return testing::AssertionSuccess();
}

enum class Kind { plates, chains, chains_in_chains };

class LimitedAnswers : public testing::TestWithParam<std::tuple<Kind, Semiring, Dtype>> {};

TEST_P(LimitedAnswers, HaveTheSameBitsUnderAnyLimit) {
  const auto [kind, semiring, dtype] = GetParam();
  int cut = 0;
  const bool plates = kind == Kind::plates, nested = kind == Kind::chains_in_chains;
  for_each_seed(plates ? 150 : 60, [&, semiring = semiring, dtype = dtype](std::uint64_t seed) {
    const auto drawn = plates ? large_plates(seed, semiring, dtype) : long_chain(seed, semiring, dtype, nested);
    if (!drawn) return testing::AssertionSuccess();
    const testing::AssertionResult good = check(*drawn, cut);
    return good ? good : testing::AssertionFailure() << drawn->text << good.message();
  });
  EXPECT_GT(cut, quota(10)) << "too few runs were cut";
  RecordProperty("cut", cut);
}

INSTANTIATE_TEST_SUITE_P(Of, LimitedAnswers,
                         testing::Values(std::tuple(Kind::plates, Semiring::max_plus, Dtype::float64),
                                         std::tuple(Kind::plates, Semiring::max_plus, Dtype::float32),
                                         std::tuple(Kind::plates, Semiring::min_plus, Dtype::float64),
                                         std::tuple(Kind::plates, Semiring::log, Dtype::float64),
                                         std::tuple(Kind::plates, Semiring::log, Dtype::float32),
                                         std::tuple(Kind::chains, Semiring::log, Dtype::float64),
                                         std::tuple(Kind::chains, Semiring::log, Dtype::float32),
                                         std::tuple(Kind::chains, Semiring::real, Dtype::float64),
                                         std::tuple(Kind::chains, Semiring::max_plus, Dtype::float64),
                                         std::tuple(Kind::chains_in_chains, Semiring::log, Dtype::float64),
                                         std::tuple(Kind::chains_in_chains, Semiring::max_plus, Dtype::float64)));

TEST(Choices, RunInAFractionOfTheirMemory) {
  const std::int64_t n = slow_build ? 20000 : 100000;
  const BlockedFrom sooner(1 << 18);
  const Model model("iab,ibc,icd->", {{n, 8, 8}, {n, 8, 8}, {n, 8, 8}}, "i", Dtype::float32, Semiring::log);
  const Plan plan = compile(model.graph);
  // What cannot be cut: all states, and once more those of variables that others depend on.
  const std::int64_t answers = n * (4 * 8 + 2 * 4);
  const auto needed = [&](const auto& ask) -> std::int64_t {
    try {
      ask(RunOptions{.threads = 2, .memory_limit = 1});
    } catch (const MemoryLimitError& error) {
      return error.bytes_needed();
    }
    return 0;
  };
  const auto best = [&](const RunOptions& options) { return map(plan, model.operands, options); };
  const MapResult want = best({.threads = 2});
  const std::int64_t whole = plan.cost({.kind = plated::Question::Kind::map}, {}, Dtype::float32).run_bytes - answers;
  const std::int64_t least = needed(best) - answers;
  EXPECT_LT(least, whole / 4) << whole;
  const MapResult got = best({.threads = 2, .memory_limit = least + answers});
  EXPECT_EQ(got.assignment, want.assignment);
  EXPECT_EQ(got.score.values(), want.score.values());
  const auto draw = [&](const RunOptions& options) { return sample(plan, model.operands, {.count = 3}, options); };
  EXPECT_EQ(draw({.threads = 2, .memory_limit = needed(draw)}), draw({.threads = 2}));
}

}  // namespace
}  // namespace plated::test
