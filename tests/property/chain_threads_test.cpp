// The same bits of every answer about chains at any number of threads.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/bits.hpp"
#include "property/random_tensor.hpp"

namespace plated::test {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr std::int64_t shrink = 10;  // instrumented runs are slow
#else
constexpr std::int64_t shrink = 1;
#endif

struct LongModel {
  LongModel(std::string_view equation, std::vector<Tensor::Shape> shapes, const EquationOptions& options, Dtype dtype)
      : plan(compile(FactorGraph::from_equation(equation, shapes, options))) {
    Random random(shapes.size());
    for (const Tensor::Shape& shape : shapes) operands.push_back(random_tensor(dtype, shape, random, Semiring::log));
  }
  Plan plan;
  std::vector<Tensor> operands;
  Lengths lengths;
};

void expect_all_same(const LongModel& model) {
  const auto options = [&](int threads, Semiring semiring = Semiring::log) {
    return RunOptions{.semiring = semiring, .threads = threads, .lengths = model.lengths};
  };
  for (const Semiring semiring : {Semiring::log, Semiring::max_plus}) {
    expect_same_bits("value", [&](int threads) {
      Bits bits;
      bits.add(model.plan.run(model.operands, options(threads, semiring)));
      return bits;
    });
  }
  expect_same_bits("gradient", [&](int threads) {
    Bits bits;
    const ValueAndGradient got = value_and_gradient(model.plan, model.operands, options(threads));
    bits.add(got.values);
    bits.add(got.gradients);
    return bits;
  });
  expect_same_bits("marginals", [&](int threads) {
    Bits bits;
    const Marginals got = marginals(model.plan, model.operands, options(threads), {.factors = true, .ends = true});
    bits.add(got.log_partition);
    bits.add(got.variables);
    bits.add(got.factors);
    return bits;
  });
  expect_same_bits("filtered", [&](int threads) {
    Bits bits;
    bits.add(marginals(model.plan, model.operands, options(threads), {.filtered = true}).variables);
    return bits;
  });
  expect_same_bits("entropy", [&](int threads) {
    Bits bits;
    bits.add(entropy(model.plan, model.operands, options(threads)));
    bits.add(expectation(model.plan, model.operands, model.operands, options(threads)));
    return bits;
  });
  expect_same_bits("map", [&](int threads) {
    Bits bits;
    const MapResult got = map(model.plan, model.operands, options(threads));
    bits.add(got.score);
    bits.add(got.assignment);
    return bits;
  });
  expect_same_bits("samples", [&](int threads) {
    Bits bits;
    bits.add(sample(model.plan, model.operands, {.count = 5, .seed = 4}, options(threads)));
    return bits;
  });
}

TEST(ChainThreads, GiveTheSameBitsOnOneLongChain) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    for (const std::int64_t states : {2, 5}) {
      const std::int64_t slices = 30000 / shrink;
      expect_all_same(LongModel("a, (t) a b, t b ->", {{states}, {states, states}, {slices, states}},
                                {.chains = {{"t", {"a->b"}}}}, dtype));
    }
  }
}

TEST(ChainThreads, GiveTheSameBitsOnManyRaggedChains) {
  const std::int64_t sequences = 40, slices = 120 / shrink, states = 6;
  LongModel model("(n) a, (n t) a b, n t b ->", {{states}, {states, states}, {sequences, slices, states}},
                  {.plates = "n", .chains = {{"t", {"a->b"}}}}, Dtype::float32);
  expect_all_same(model);
  Integers lengths({sequences}, 0);
  for (std::size_t n = 0; n < lengths.values.size(); ++n)
    lengths.values[n] = static_cast<std::int64_t>(7 * n) % (slices + 1);
  model.lengths = {{"t", lengths}};
  expect_all_same(model);
}

TEST(ChainThreads, GiveTheSameBitsOnAFactorialChainWithNotes) {
  const std::int64_t slices = 300 / shrink, notes = 20, k = 4;
  expect_all_same(LongModel("(t) a b, (t) c d, t p b d e, (t p) e ->", {{k, k}, {k, k}, {slices, notes, k, k, 2}, {2}},
                            {.plates = "p", .chains = {{"t", {"a->b", "c->d"}}}}, Dtype::float32));
}

TEST(ChainThreads, GiveTheSameBitsOnWideStates) {
  const std::int64_t slices = 30, states = 96;
  expect_all_same(LongModel("a, (t) a b, t b ->", {{states}, {states, states}, {slices, states}},
                            {.chains = {{"t", {"a->b"}}}}, Dtype::float32));
}

}  // namespace
}  // namespace plated::test
