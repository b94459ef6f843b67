// Chains under memory limits: runs that are cut along a chain give the bits of those that are not, and keep to the
// limit.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/bits.hpp"
#include "property/blocked_from.hpp"
#include "property/chain_case.hpp"
#include "property/random_tensor.hpp"
#include "property/seeds.hpp"

namespace plated::test {
namespace {

using Ask = std::function<Bits(const RunOptions&)>;

/// What a question says it needs where nothing is enough.
std::int64_t needed(const Ask& ask, RunOptions options) {
  options.memory_limit = 1;
  try {
    (void)ask(options);
  } catch (const MemoryLimitError& error) {
    return error.bytes_needed();
  }
  return 1;
}

/// Asks without a limit, with the least one and some between, on one thread and on two.
testing::AssertionResult same_under_limits(const Ask& ask, RunOptions options, int& cut) {
  const BlockedFrom all(0);
  options.threads = 1;
  const Bits want = ask(options);
  for (const int threads : {1, 2}) {
    options.threads = threads;
    options.memory_limit = 0;
    if (!(ask(options) == want)) return testing::AssertionFailure() << "other bits on " << threads << " threads";
    const std::int64_t least = needed(ask, options);
    std::int64_t whole = least;
    {
      const BlockedFrom none(never_blocked);  // nothing is cut
      whole = needed(ask, options);
    }
    for (std::int64_t limit = least; limit < whole; limit += 1 + (whole - least) / 3) {
      ++cut;
      options.memory_limit = limit;
      try {
        if (!(ask(options) == want)) {
          return testing::AssertionFailure()
                 << "other bits with " << limit << " of " << whole << " bytes on " << threads << " threads";
        }
      } catch (const MemoryLimitError& error) {
        return testing::AssertionFailure() << "needs " << error.what() << ", though " << least << " were said to do";
      }
    }
  }
  return testing::AssertionSuccess();
}

/// A random chain that is long enough to be cut, with operands. Lengths of chains inside chains are not drawn.
struct LongChain {
  FactorGraph graph;  // compiled for each question: blocks are chosen when a plan is first run
  std::vector<Tensor> operands;
  RunOptions options;
  std::string text;
};

LongChain long_chain(std::uint64_t seed, Semiring semiring, Dtype dtype, bool nested) {
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
  return {std::move(graph), std::move(operands), std::move(options), c.print() + "\n"};
}

testing::AssertionResult check(const LongChain& drawn, int& cut) {
  const std::vector<Tensor>& operands = drawn.operands;
  const bool chooses = drawn.options.semiring == Semiring::max_plus;
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
  const auto draws = [&](const RunOptions& options) {
    Bits bits;
    bits.add(sample(compile(drawn.graph), operands, {.count = 5, .seed = 3}, options));
    return bits;
  };
  const std::vector<std::pair<std::string, Ask>> questions =
      chooses ? std::vector<std::pair<std::string, Ask>>{{"value", value}, {"map", best}}
              : std::vector<std::pair<std::string, Ask>>{{"value", value},
                                                         {"gradient", gradient},
                                                         {"marginals", posterior},
                                                         {"entropy", information},
                                                         {"sample", draws}};
  for (const auto& [name, ask] : questions) {
    try {
      const testing::AssertionResult same = same_under_limits(ask, drawn.options, cut);
      if (!same) return testing::AssertionFailure() << name << ": " << same.message();
    } catch (const ImpossibleError&) {
    }
  }
  return testing::AssertionSuccess();
}

class ChainLoops : public testing::TestWithParam<std::tuple<Semiring, Dtype, bool>> {};

TEST_P(ChainLoops, GiveTheSameBitsUnderAnyLimit) {
  const auto [semiring, dtype, nested] = GetParam();
  int cut = 0;
  for_each_seed(60, [&, semiring = semiring, dtype = dtype, nested = nested](std::uint64_t seed) {
    const LongChain drawn = long_chain(seed, semiring, dtype, nested);
    const testing::AssertionResult good = check(drawn, cut);
    return good ? good : testing::AssertionFailure() << drawn.text << good.message();
  });
  EXPECT_GT(cut, quota(10)) << "too few runs were cut";
}

INSTANTIATE_TEST_SUITE_P(Semirings, ChainLoops,
                         testing::Values(std::tuple(Semiring::log, Dtype::float64, false),
                                         std::tuple(Semiring::log, Dtype::float32, false),
                                         std::tuple(Semiring::log, Dtype::float64, true),
                                         std::tuple(Semiring::real, Dtype::float64, false),
                                         std::tuple(Semiring::max_plus, Dtype::float64, false),
                                         std::tuple(Semiring::max_plus, Dtype::float64, true)));

}  // namespace
}  // namespace plated::test
