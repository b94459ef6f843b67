// Threads: the same bits at any thread count, many runs at once, forks, cancellation, progress, nested use.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "plated/einsum.hpp"
#include "property/drawn_model.hpp"
#include "property/random_tensor.hpp"
#include "property/shrink.hpp"

namespace plated::test {
namespace {

/// NaN equals NaN here, and 0 is not −0.
bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t o = 0; o < a.size(); ++o) {
    const auto bytes = static_cast<std::size_t>(a[o].elements()) * size_of(a[o].dtype());
    if (a[o].shape() != b[o].shape() || a[o].dtype() != b[o].dtype()) return false;
    if (bytes > 0 && std::memcmp(a[o].data(), b[o].data(), bytes) != 0) return false;
  }
  return true;
}

void expect_same_bits(const Model& model) {
  const Plan plan = compile(model.graph);
  // Products of so many slices may overflow in the real semiring, to the same infinities.
  RunOptions options{.semiring = model.semiring, .threads = 1, .check = Check::none};
  const std::vector<Tensor> one = plan.run(model.operands, options);
  for (const int threads : {2, 3, 8, 0}) {
    options.threads = threads;
    for (int repeat = 0; repeat < 3; ++repeat) {
      EXPECT_TRUE(same_bits(one, plan.run(model.operands, options)))
          << threads << " threads, " << name(model.semiring) << "\n"
          << plan.print();
    }
  }
}

constexpr Semiring rings[] = {Semiring::real, Semiring::log, Semiring::max_plus};

TEST(Threads, GiveTheSameBitsOnRandomModels) {
  const auto check = [](const Case& c) -> testing::AssertionResult {
    const FactorGraph graph = c.build();
    const std::optional<Plan> plan = compile_if_tractable(graph);
    if (!plan) return testing::AssertionSuccess();
    Random random(c.seed);
    RunOptions options{.semiring = random.pick(rings), .threads = 1, .lengths = c.lengths};
    const Operands operands(
        graph, random,
        {.semiring = options.semiring, .dtypes = {Dtype::float32, Dtype::float64}, .strided = true, .zero_percent = 5});
    const std::vector<Tensor> one = plan->run(operands.tensors(), options);
    for (const int threads : {2, 3, 8}) {
      options.threads = threads;
      if (!same_bits(one, plan->run(operands.tensors(), options))) {
        return testing::AssertionFailure()
               << c.print() << "\n  " << name(options.semiring) << ", " << threads << " threads";
      }
    }
    return testing::AssertionSuccess();
  };
  for_each_seed(1500, [&](std::uint64_t seed) { return check(random_case(seed)); });
  for_each_seed(300, [&](std::uint64_t seed) { return check(random_chain(seed, {.nested = seed % 4 == 0})); });
}

TEST(Threads, GiveTheSameBitsOnThePapersModel) {
  for (const Semiring semiring : rings) {
    for (const char* output : {"", "ijc", "a,ib"}) {
      expect_same_bits(paper_model(8, 40 / (shrink > 1 ? 4 : 1), Dtype::float32, semiring, output));
    }
  }
  expect_same_bits(paper_model(8, 10, Dtype::float64, Semiring::log));
}

TEST(Threads, GiveTheSameBitsOnLargePlates) {
  const std::int64_t slices = 100000 / shrink;
  for (const Semiring semiring : rings) {
    expect_same_bits(Model("a,abi->", {{4}, {4, 3, slices}}, "i", Dtype::float32, semiring));
    expect_same_bits(Model("iab,ib->", {{slices, 4, 3}, {slices, 3}}, "i", Dtype::float64, semiring));
    expect_same_bits(Model("ix->ix", {{slices, 3}}, "i", Dtype::float32, semiring));
  }
}

TEST(Threads, GiveTheSameBitsOnMatrixProducts) {
  const std::int64_t n = shrink > 1 ? 60 : 200;
  for (const Semiring semiring : rings) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      expect_same_bits(Model("ab,bc->ac", {{n, n}, {n, n}}, "", dtype, semiring));
      expect_same_bits(Model("ab,bc->ac", {{3, n * n}, {n * n, 5}}, "", dtype, semiring));
      expect_same_bits(Model("iab,ibc->", {{50, 20, 21}, {50, 21, 22}}, "i", dtype, semiring));
      expect_same_bits(Model("ab->", {{n, 5 * n}}, "", dtype, semiring));
    }
  }
}

TEST(Threads, MayRunOnePlanAtOnce) {
  const Model model = paper_model(4, 12, Dtype::float32, Semiring::log, "a,ijc");
  const Plan plan = compile(model.graph);
  const std::vector<Tensor> expected = plan.run(model.operands, {.threads = 1});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int repeat = 0; repeat < 40; ++repeat) {
        if (!same_bits(expected, plan.run(model.operands, {.threads = 1 + (t + repeat) % 3}))) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, MayCallEinsumAtOnce) {
  const Tensor matrix = Tensor::of<double>({2, 2}, {0, 1, 2, 3});
  const double expected = einsum("ab,bc->", {matrix, matrix}).item();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        // Names that were not seen before plan anew, the others come from the cache.
        const std::string b = "b" + std::to_string(repeat / 2);
        if (einsum("a " + b + ", " + b + " c ->", {matrix, matrix}).item() != expected) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

#ifndef __SANITIZE_THREAD__  // ThreadSanitizer does not support threads that start after a fork
TEST(Threads, WorkInAForkedChild) {
  const Model model = paper_model(8, 20, Dtype::float32, Semiring::log);
  const Plan plan = compile(model.graph);
  const std::vector<Tensor> expected = plan.run(model.operands, {.threads = 2});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // a child that hangs is a failure, not a test that hangs
    bool good = true;
    for (const int threads : {2, 3, 1})
      good = good && same_bits(expected, plan.run(model.operands, {.threads = threads}));
    _exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  EXPECT_TRUE(same_bits(expected, plan.run(model.operands, {.threads = 2})));
}
#endif

TEST(Threads, AreToldToStop) {
  const Model model = paper_model(4, 5, Dtype::float64, Semiring::log);
  const Plan plan = compile(model.graph);
  ASSERT_GE(plan.steps(), 2U);
  int asked = 0;
  RunOptions options{.threads = 2, .cancelled = [&] { return ++asked == 2; }};
  EXPECT_THROW((void)plan.run(model.operands, options), CancelledError);
  EXPECT_EQ(asked, 2);
  const std::vector<Tensor> after = plan.run(model.operands, {.threads = 2});
  EXPECT_TRUE(same_bits(after, compile(model.graph).run(model.operands, {.threads = 1})));
}

TEST(Threads, AreToldToStopInsideAStep) {
  const Tensor square(Dtype::float32, {700, 700});
  FactorGraph graph;
  for (const char* const v : {"x", "y", "z"}) graph.variable(v, 700);
  graph.factor("f", {"x", "y"});
  graph.factor("g", {"y", "z"});
  graph.output({"x", "z"});
  const Plan plan = compile(graph);
  ASSERT_EQ(plan.steps(), 1U);
  const std::vector<Tensor> operands{square, square};
  // One thread: with two, the other might take all the tasks between which the caller's is asked.
  int asked = 0;
  const RunOptions stopped{.threads = 1, .cancelled = [&] { return ++asked == 2; }};
  EXPECT_THROW((void)plan.run(operands, stopped), CancelledError) << "the second question comes among its tasks";
  EXPECT_EQ(asked, 2);
  asked = 0;
  const RunOptions thrown{
      .threads = 1, .cancelled = [&] { return ++asked == 2 ? throw std::domain_error("the callback's own") : false; }};
  EXPECT_THROW((void)plan.run(operands, thrown), std::domain_error);
  EXPECT_TRUE(same_bits(plan.run(operands), compile(graph).run(operands, {.threads = 1})));
}

TEST(Threads, ReportProgressUpToOne) {
  const Model model = paper_model(4, 5, Dtype::float64, Semiring::log);
  const Plan plan = compile(model.graph);
  std::vector<double> shares;
  (void)plan.run(model.operands, {.threads = 2, .progress = [&](double share) { shares.push_back(share); }});
  EXPECT_GE(shares.size(), plan.steps());
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  ASSERT_FALSE(shares.empty());
  EXPECT_GT(shares.front(), 0.0);
  EXPECT_NEAR(shares.back(), 1.0, 1e-12);
}

TEST(Threads, MayRunAPlanFromInsideARun) {
  const Model model = paper_model(4, 12, Dtype::float32, Semiring::log);
  const Plan plan = compile(model.graph);
  const std::vector<Tensor> expected = plan.run(model.operands, {.threads = 1});
  std::vector<std::vector<Tensor>> inner;
  const auto nested = [&](double) { inner.push_back(plan.run(model.operands, {.threads = 2})); };
  EXPECT_TRUE(same_bits(expected, plan.run(model.operands, {.threads = 2, .progress = nested})));
  ASSERT_GE(inner.size(), plan.steps());
  for (const auto& result : inner) EXPECT_TRUE(same_bits(expected, result));
}

}  // namespace
}  // namespace plated::test
