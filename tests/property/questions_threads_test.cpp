// The same bits of every answer at any number of threads, on models large enough to be split into tasks.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/bits.hpp"
#include "property/random_tensor.hpp"
#include "property/shrink.hpp"

namespace plated::test {
namespace {

constexpr std::int64_t shrink_plates = shrink > 1 ? 4 : 1;

/// Values and derivatives.
void expect_same_derivatives(const Model& model, const Plan& plan, const std::vector<Tensor>& direction,
                             const RunOptions& run) {
  for (const Semiring semiring : {Semiring::log, Semiring::max_plus}) {
    expect_same_bits("value", run, [&](RunOptions options) {
      options.semiring = semiring;
      Bits bits;
      bits.add(plan.run(model.operands, options));
      return bits;
    });
  }
  expect_same_bits("gradient", run, [&](const RunOptions& options) {
    Bits bits;
    const ValueAndGradient got = value_and_gradient(plan, model.operands, options);
    bits.add(got.values);
    bits.add(got.gradients);
    return bits;
  });
  expect_same_bits("hessian", run, [&](const RunOptions& options) {
    Bits bits;
    const HessianVectorProduct got = hessian_vector_product(plan, model.operands, direction, options);
    bits.add(got.tangents);
    bits.add(got.products);
    return bits;
  });
}

void expect_same_posteriors(const Model& model, const Plan& plan, const std::vector<Tensor>& statistics,
                            const RunOptions& run) {
  const bool chained = !model.graph.chains().empty();
  expect_same_bits("marginals", run, [&](const RunOptions& options) {
    Bits bits;
    const Marginals got = marginals(plan, model.operands, options, {.factors = true, .ends = chained});
    bits.add(got.log_partition);
    bits.add(got.variables);
    bits.add(got.factors);
    return bits;
  });
  expect_same_bits("log marginals", run, [&](const RunOptions& options) {
    Bits bits;
    bits.add(marginals(plan, model.operands, options, {.log = true}).variables);
    if (chained) bits.add(marginals(plan, model.operands, options, {.filtered = true}).variables);
    return bits;
  });
  expect_same_bits("entropy, expectation, leave_one_out", run, [&](const RunOptions& options) {
    Bits bits;
    bits.add(entropy(plan, model.operands, options));
    bits.add(expectation(plan, model.operands, statistics, options));
    for (const Dim& dim : model.graph.dims()) {
      if (dim.kind == DimKind::plate) bits.add(leave_one_out(plan, model.operands, dim.name, options));
    }
    return bits;
  });
}

void expect_same_choices(const Model& model, const Plan& plan, std::int64_t samples, const RunOptions& run) {
  expect_same_bits("map", run, [&](const RunOptions& options) {
    Bits bits;
    const MapResult got = map(plan, model.operands, options);
    bits.add(got.score);
    bits.add(got.assignment);
    return bits;
  });
  expect_same_bits("max_marginals", run, [&](const RunOptions& options) {
    Bits bits;
    bits.add(max_marginals(plan, model.operands, options));
    return bits;
  });
  expect_same_bits("samples", run, [&](const RunOptions& options) {
    Bits bits;
    bits.add(sample(plan, model.operands, {.count = samples, .seed = 4}, options));
    return bits;
  });
}

void expect_all_same(const Model& model, const Lengths& lengths = {}) {
  const Plan plan = compile(model.graph);
  Random random(5);
  std::vector<Tensor> direction;
  for (const Tensor& t : model.operands) {
    direction.push_back(random_tensor(t.dtype(), t.shape(), random, Semiring::real));
  }
  const RunOptions run{.semiring = model.semiring, .lengths = lengths};
  expect_same_derivatives(model, plan, direction, run);
  expect_same_posteriors(model, plan, direction, run);
  expect_same_choices(model, plan, model.graph.chains().empty() ? 20 : 5, run);
}

TEST(QuestionsThreads, GiveTheSameBitsOnThePapersModel) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    expect_all_same(paper_model(8, 32 / shrink_plates, dtype, Semiring::log));
  }
  expect_all_same(paper_model(8, 16 / shrink_plates, Dtype::float32, Semiring::log, "ijc"));
}

TEST(QuestionsThreads, GiveTheSameBitsOnLargePlates) {
  const std::int64_t slices = 60000 / shrink_plates;
  expect_all_same(Model("x,ixy->", {{3}, {slices, 3, 4}}, "i", Dtype::float32, Semiring::log));
  expect_all_same(Model("ixy,ix->", {{slices, 4, 3}, {slices, 4}}, "i", Dtype::float64, Semiring::log));
}

TEST(QuestionsThreads, GiveTheSameBitsOnMatrixProducts) {
  const std::int64_t n = 160 / shrink_plates;
  Model model("ab,bc,cd->", {{n, n}, {n, n}, {n, n}}, "", Dtype::float32, Semiring::log);
  const Plan plan = compile(model.graph);
  expect_same_bits("gradient of matrix products", {}, [&](const RunOptions& options) {
    Bits bits;
    bits.add(value_and_gradient(plan, model.operands, options).gradients);
    bits.add(marginals(plan, model.operands, options, {.factors = true}).factors);
    bits.add(map(plan, model.operands, options).assignment);
    return bits;
  });
}

const EquationOptions hmm{.chains = {{"t", {"a->b"}}}};

TEST(QuestionsThreads, GiveTheSameBitsOnOneLongChain) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    for (const std::int64_t states : {2, 5}) {
      const std::int64_t slices = 30000 / shrink;
      expect_all_same(
          Model("a, (t) a b, t b ->", {{states}, {states, states}, {slices, states}}, hmm, dtype, Semiring::log));
    }
  }
}

TEST(QuestionsThreads, GiveTheSameBitsOnManyRaggedChains) {
  const std::int64_t sequences = 40, slices = 120 / shrink, states = 6;
  const Model model("(n) a, (n t) a b, n t b ->", {{states}, {states, states}, {sequences, slices, states}},
                    {.plates = "n", .chains = {{"t", {"a->b"}}}}, Dtype::float32, Semiring::log);
  expect_all_same(model);
  Integers lengths({sequences}, 0);
  for (std::size_t n = 0; n < lengths.values.size(); ++n)
    lengths.values[n] = static_cast<std::int64_t>(7 * n) % (slices + 1);
  expect_all_same(model, {{"t", lengths}});
}

TEST(QuestionsThreads, GiveTheSameBitsOnAFactorialChainWithNotes) {
  const std::int64_t slices = 300 / shrink, notes = 20, k = 4;
  expect_all_same(Model("(t) a b, (t) c d, t p b d e, (t p) e ->", {{k, k}, {k, k}, {slices, notes, k, k, 2}, {2}},
                        {.plates = "p", .chains = {{"t", {"a->b", "c->d"}}}}, Dtype::float32, Semiring::log));
}

TEST(QuestionsThreads, GiveTheSameBitsOnWideStates) {
  const std::int64_t slices = 30, states = 96;
  expect_all_same(
      Model("a, (t) a b, t b ->", {{states}, {states, states}, {slices, states}}, hmm, Dtype::float32, Semiring::log));
}

}  // namespace
}  // namespace plated::test
