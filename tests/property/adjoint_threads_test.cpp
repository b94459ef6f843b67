// The same bits of every answer at any number of threads, on models large enough to be split into tasks.
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
constexpr std::int64_t shrink = 4;  // instrumented runs are slow
#else
constexpr std::int64_t shrink = 1;
#endif

void expect_all_same(const Model& model, const char* plate) {
  const Plan plan = compile(model.graph);
  Random random(5);
  std::vector<Tensor> direction;
  for (const Tensor& t : model.operands)
    direction.push_back(random_tensor(t.dtype(), t.shape(), random, Semiring::real));
  const auto options = [&](int threads) { return RunOptions{.semiring = model.semiring, .threads = threads}; };
  expect_same_bits("gradient", [&](int threads) {
    Bits bits;
    const ValueAndGradient got = value_and_gradient(plan, model.operands, options(threads));
    bits.add(got.values);
    bits.add(got.gradients);
    return bits;
  });
  expect_same_bits("hessian", [&](int threads) {
    Bits bits;
    const HessianVectorProduct got = hessian_vector_product(plan, model.operands, direction, options(threads));
    bits.add(got.tangents);
    bits.add(got.products);
    return bits;
  });
  expect_same_bits("marginals", [&](int threads) {
    Bits bits;
    const Marginals got = marginals(plan, model.operands, options(threads), {.factors = true});
    bits.add(got.log_partition);
    bits.add(got.variables);
    bits.add(got.factors);
    return bits;
  });
  expect_same_bits("log marginals", [&](int threads) {
    Bits bits;
    bits.add(marginals(plan, model.operands, options(threads), {.log = true}).variables);
    return bits;
  });
  expect_same_bits("entropy, expectation, leave_one_out", [&](int threads) {
    Bits bits;
    bits.add(entropy(plan, model.operands, options(threads)));
    bits.add(expectation(plan, model.operands, direction, options(threads)));
    bits.add(leave_one_out(plan, model.operands, plate, options(threads)));
    return bits;
  });
  expect_same_bits("map", [&](int threads) {
    Bits bits;
    const MapResult got = map(plan, model.operands, options(threads));
    bits.add(got.score);
    bits.add(got.assignment);
    return bits;
  });
  expect_same_bits("max_marginals", [&](int threads) {
    Bits bits;
    bits.add(max_marginals(plan, model.operands, options(threads)));
    return bits;
  });
  expect_same_bits("samples", [&](int threads) {
    Bits bits;
    bits.add(sample(plan, model.operands, {.count = 20, .seed = 4}, options(threads)));
    return bits;
  });
}

TEST(AdjointThreads, GiveTheSameBitsOnThePapersModel) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    expect_all_same(paper_model(8, 32 / shrink, dtype, Semiring::log), "i");
  }
  expect_all_same(paper_model(8, 16 / shrink, Dtype::float32, Semiring::log, "ijc"), "j");
}

TEST(AdjointThreads, GiveTheSameBitsOnLargePlates) {
  const std::int64_t slices = 60000 / shrink;
  expect_all_same(Model("x,ixy->", {{3}, {slices, 3, 4}}, "i", Dtype::float32, Semiring::log), "i");
  expect_all_same(Model("ixy,ix->", {{slices, 4, 3}, {slices, 4}}, "i", Dtype::float64, Semiring::log), "i");
}

TEST(AdjointThreads, GiveTheSameBitsOnMatrixProducts) {
  const std::int64_t n = 160 / shrink;
  Model model("ab,bc,cd->", {{n, n}, {n, n}, {n, n}}, "", Dtype::float32, Semiring::log);
  const Plan plan = compile(model.graph);
  expect_same_bits("gradient of matrix products", [&](int threads) {
    Bits bits;
    bits.add(value_and_gradient(plan, model.operands, {.threads = threads}).gradients);
    bits.add(marginals(plan, model.operands, {.threads = threads}, {.factors = true}).factors);
    bits.add(map(plan, model.operands, {.threads = threads}).assignment);
    return bits;
  });
}

}  // namespace
}  // namespace plated::test
