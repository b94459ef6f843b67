// Bad operands and too little memory: refused, and the same plan and workspace still work.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plated/plated.hpp"
#include "unit/graph/message_of.hpp"

namespace plated {
namespace {

using test::message_of;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const Tensor matrix = Tensor::of<double>({2, 2}, {1, 2, 3, 4});

Plan plan_of(const char* equation, const std::vector<Tensor::Shape>& shapes, const std::string& plates = "",
             const PlanOptions& options = {}) {
  return compile(FactorGraph::from_equation(equation, shapes, {.plates = plates}), options);
}

TEST(NullData, IsRefusedByNameAndLosesNothing) {
  const Plan plan = plan_of("ab,b->a", {{2, 2}, {2}});
  const Tensor vector = Tensor::of<double>({2}, {1, 1});
  const Tensor nothing = Tensor::view(static_cast<const double*>(nullptr), {2});
  EXPECT_SAYS(message_of<NullDataError>([&] { (void)plan.run({matrix, nothing}); }), "operand 1 ('f1')");
  Workspace workspace(plan);
  EXPECT_SAYS(message_of<NullDataError>([&] {
                plan.run_into(std::vector{Tensor::view(static_cast<double*>(nullptr), {2})},
                              std::vector{matrix, vector}, workspace);
              }),
              "output 0");
  const Tensor result(Dtype::float64, {2});
  plan.run_into(std::vector{result}, std::vector{matrix, vector}, workspace, {.semiring = Semiring::real});
  EXPECT_EQ(result.values(), (std::vector<double>{3, 7}));
  EXPECT_THROW((void)Tensor().values(), NullDataError);
}

TEST(NullData, IsFineWhereThereIsNothingToRead) {
  const Tensor empty = Tensor::view(static_cast<const double*>(nullptr), {0});
  EXPECT_EQ(einsum("a->", {empty}, {.semiring = Semiring::real}).item(), 0.0);
}

TEST(ReadOnly, ViewsOfConstMemoryAreNotWritten) {
  const Plan plan = plan_of("ab->a", {{2, 2}});
  Workspace workspace(plan);
  const std::vector<double> constant{8, 9};
  const Tensor view = Tensor::view(constant.data(), {2});
  EXPECT_FALSE(view.writable());
  EXPECT_THROW((void)view.mutable_data(), Error);
  EXPECT_SAYS(message_of<ShapeError>([&] { plan.run_into(std::vector{view}, std::vector{matrix}, workspace); }),
              "read-only");
  EXPECT_EQ(constant, (std::vector<double>{8, 9}));
  // The same for memory that would be written twice.
  double once = 0;
  EXPECT_SAYS(message_of<OverlapError>(
                  [&] { plan.run_into(std::vector{Tensor::view(&once, {2}, {0})}, std::vector{matrix}, workspace); }),
              "stride 0");
}

TEST(Overlap, OfOutputsIsRefused) {
  const Plan plan = plan_of("ab,a->ab,a", {{2, 2}, {2}});
  Workspace workspace(plan);
  std::vector<double> memory(16, 0.25);
  const Tensor a = Tensor::view(memory.data(), {2, 2});
  const Tensor b = Tensor::view(memory.data() + 4, {2});
  const Tensor apart = Tensor::view(memory.data() + 8, {2, 2});
  const Tensor vector = Tensor::view(memory.data() + 12, {2});
  const auto run = [&](const Tensor& first, const Tensor& second) {
    plan.run_into(std::vector{first, second}, std::vector{a, b}, workspace);
  };
  EXPECT_NO_THROW(run(apart, vector));
  // With itself, also without a stride of 0; with an operand; with another output.
  EXPECT_SAYS(message_of<OverlapError>([&] {
                run(Tensor::view(memory.data() + 8, {2, 2}, {1, 1}), vector);
              }),
              "may overlap itself");
  EXPECT_SAYS(message_of<OverlapError>([&] { run(a, vector); }), "output 0 overlaps operand 0");
  EXPECT_SAYS(message_of<OverlapError>([&] { run(apart, Tensor::view(memory.data() + 5, {2}, {-1})); }),
              "output 1 overlaps operand 1");
  EXPECT_SAYS(message_of<OverlapError>([&] { run(apart, Tensor::view(memory.data() + 11, {2})); }),
              "output 1 overlaps output 0");
  // Axes in any order and direction are fine as long as they lead to different elements.
  EXPECT_NO_THROW(run(Tensor::view(memory.data() + 11, {2, 2}, {-1, -2}), vector));
}

TEST(BadValues, AreNamedWithTheirOperandAndIndex) {
  const struct {
    Semiring semiring;
    std::vector<double> bad;
    std::vector<double> good;
  } table[] = {
      {Semiring::real, {nan, infinity, -infinity}, {0, -1}},
      {Semiring::log, {nan, infinity}, {-infinity, 0}},
      {Semiring::max_plus, {nan, infinity}, {-infinity, -1}},
      {Semiring::min_plus, {nan, -infinity}, {infinity, -1}},
      {Semiring::max_product, {nan, infinity, -1, -infinity}, {0, 2}},
      {Semiring::boolean, {nan}, {0, -1}},
  };
  const Plan plan = plan_of("a,bc->", {{2}, {2, 2}});
  const Tensor fine = Tensor::of<double>({2}, {1, 1});
  for (const auto& row : table) {
    const auto run = [&](double entry, bool single) {
      const Tensor g = single ? Tensor::of<float>({2, 2}, {1, 1, static_cast<float>(entry), 1})
                              : Tensor::of<double>({2, 2}, {1, 1, entry, 1});
      return plan.run({fine, g}, {.semiring = row.semiring})[0].item();
    };
    for (const bool single : {false, true}) {
      for (const double entry : row.bad) {
        const std::string message = message_of<ValueError>([&] { (void)run(entry, single); });
        EXPECT_SAYS(message, "operand 1 ('f1')");
        EXPECT_SAYS(message, "(1, 0)");
        EXPECT_SAYS(message, std::string(name(row.semiring)));
      }
      for (const double entry : row.good)
        EXPECT_FALSE(std::isnan(run(entry, single))) << name(row.semiring) << " " << entry;
    }
  }
}

TEST(BadValues, AreSearchedForInTheTensorAndNotInItsMemory) {
  // The view skips every other entry; the bad ones lie between.
  std::vector<double> memory{1, nan, 2, nan, 3, nan};
  const Tensor view = Tensor::view(memory.data(), {3}, {2});
  EXPECT_EQ(einsum("a->", {view}, {.semiring = Semiring::real}).item(), 6.0);
  const Tensor reversed = Tensor::view(memory.data() + 5, {3}, {-2});
  EXPECT_SAYS(message_of<ValueError>([&] { (void)einsum("a->", {reversed}, {.semiring = Semiring::real}); }), "(0)");
}

TEST(BadValues, AreSearchedForInOperandsOfAnySizeUnlessAskedOtherwise) {
  for (const std::int64_t size : {65537, 1000000}) {
    const auto bad = static_cast<std::size_t>(size - 537);
    std::vector<float> large(static_cast<std::size_t>(size), 1.0F);
    large[bad] = large[bad + 500] = std::numeric_limits<float>::quiet_NaN();
    const Plan plan = plan_of("a->", {{size}});
    const std::vector<Tensor> operands{Tensor::view(static_cast<const float*>(large.data()), {size})};
    for (const int threads : {1, 2, 5}) {
      EXPECT_SAYS(message_of<ValueError>([&] { (void)plan.run(operands, {.threads = threads}); }),
                  "(" + std::to_string(bad) + ")");
    }
    for (const Semiring semiring : {Semiring::real, Semiring::log}) {
      // Not looked at, it goes through the sum; maxima of several tasks may pass it by.
      if (size > 65537 && semiring == Semiring::log) continue;
      EXPECT_TRUE(std::isnan(plan.run(operands, {.semiring = semiring, .check = Check::none})[0].item()))
          << name(semiring);
    }
    large[bad] = large[bad + 500] = 1.0F;
    EXPECT_EQ(plan.run(operands, {.semiring = Semiring::real})[0].item(), static_cast<double>(size));
  }
}

TEST(BadValues, AreAnErrorOfEveryVerbWhateverTheSize) {
  constexpr std::int64_t slices = 40000;
  std::vector<double> f(static_cast<std::size_t>(4 * slices), -0.5);
  f[150001] = nan;
  const std::vector<Tensor> operands{Tensor::of<double>({2}, {0, 1}), Tensor::of<double>({slices, 2, 2}, f)};
  const EinsumOptions options{.plates = "i"};
  const char* const equation = "m,imx->";
  const auto refused = [](const auto& ask) {
    const std::string message = message_of<ValueError>(ask);
    EXPECT_SAYS(message, "operand 1 ('f1')");
    EXPECT_SAYS(message, "(37500, 0, 1)");
  };
  refused([&] { (void)einsum(equation, operands, options); });
  refused([&] { (void)einsum_all(equation, operands, options); });
  refused([&] { (void)marginals(equation, operands, options); });
  refused([&] { (void)max_marginals(equation, operands, options); });
  refused([&] { (void)map(equation, operands, options); });
  refused([&] { (void)sample(equation, operands, {}, options); });
  refused([&] { (void)entropy(equation, operands, options); });
  refused([&] { (void)expectation(equation, operands, {operands[0], {}}, options); });
  refused([&] { (void)leave_one_out(equation, operands, "i", options); });
  refused([&] { (void)value_and_gradient(equation, operands, options); });
  refused([&] { (void)hessian_vector_product(equation, operands, operands, options); });
}

// Large operands are looked at while they are summed, where that is possible: whatever hides their entries from the
// results, errors are as if they had been looked at before.
TEST(BadValues, InLargeOperandsAreNamedEvenWhereZerosHideThem) {
  struct Model {
    const char* equation;
    std::string plates;
    std::vector<Tensor::Shape> shapes;
  };
  const Model models[] = {
      {"a,aib->", "i", {{3}, {3, 40, 60}}},               // a sum, then a product over a plate
      {"a,iba->", "i", {{3}, {40, 60, 3}}},               //
      {"ab,bc->", "", {{70, 80}, {80, 90}}},              // sums before a product
      {"ab,bc->ac", "", {{70, 80}, {80, 90}}},            // a matrix product
      {"zab,zbc->zac", "", {{9, 30, 40}, {9, 40, 50}}},   // many
      {"aa,ab->", "", {{80, 80}, {80, 60}}},              // a diagonal
      {"a,iab,ib->", "i", {{3}, {40, 3, 60}, {40, 60}}},  // two inputs in one sum
  };
  for (const Model& model : models) {
    const Plan plan = plan_of(model.equation, model.shapes, model.plates);
    Workspace workspace(plan);
    for (const Semiring semiring : {Semiring::real, Semiring::log, Semiring::max_plus}) {
      const double zero = semiring == Semiring::real ? 0 : -infinity;
      for (std::size_t f = 0; f < model.shapes.size(); ++f) {
        std::vector<Tensor> operands;
        for (const Tensor::Shape& shape : model.shapes) {
          operands.emplace_back(Dtype::float64, shape);
          auto* data = static_cast<double*>(operands.back().mutable_data());
          std::fill(data, data + operands.back().elements(), zero);
        }
        const auto last = static_cast<std::size_t>(operands[f].elements() - 2);
        std::vector<Tensor> outputs;
        for (const Tensor& output : plan.run(operands, {.semiring = semiring})) outputs.push_back(output);
        plan.run_into(outputs, operands, workspace, {.semiring = semiring});
        const std::string named = "operand " + std::to_string(f);
        for (const int threads : {1, 2}) {
          for (const double bad : {infinity, nan}) {
            static_cast<double*>(operands[f].mutable_data())[last] = bad;
            const RunOptions options{.semiring = semiring, .threads = threads};
            EXPECT_SAYS(message_of<ValueError>([&] { (void)plan.run(operands, options); }), named);
            EXPECT_SAYS(message_of<ValueError>([&] { plan.run_into(outputs, operands, workspace, options); }), named);
          }
        }
        // The first of two is named, whichever is looked at before.
        static_cast<double*>(operands[0].mutable_data())[0] = nan;
        EXPECT_SAYS(message_of<ValueError>([&] { (void)plan.run(operands, {.semiring = semiring}); }), "operand 0");
        operands[0] = Tensor(Dtype::float64, model.shapes[0]);
        operands[f] = Tensor(Dtype::float64, model.shapes[f]);
        EXPECT_NO_THROW((void)plan.run(operands, {.semiring = semiring})) << "the same plan still works";
      }
    }
  }
}

TEST(BadValues, OverflowsOfLargeOperandsAreNotTakenForThem) {
  const Plan plan = plan_of("a,ab->", {{100}, {100, 100}});
  std::vector<double> large(10000, 0.0);
  large[0] = large[1] = 1e308;
  std::vector<double> hidden(100, 1.0);
  hidden[0] = 0;
  const Tensor table = Tensor::of<double>({100, 100}, large);
  const RunOptions real{.semiring = Semiring::real};
  EXPECT_EQ(plan.run({Tensor::of<double>({100}, hidden), table}, real)[0].item(), 0.0) << "zero times an overflow";
  hidden[0] = 1;
  EXPECT_SAYS(message_of<ValueError>([&] {
                (void)plan.run({Tensor::of<double>({100}, hidden), table}, real);
              }),
              "overflows");
}

TEST(BadValues, UncheckedOnesCrashNothing) {
  const Plan plan = plan_of("a,abi,bcij,adj,deij->,bi", {{3}, {3, 4, 2}, {4, 5, 2, 3}, {3, 4, 3}, {4, 5, 2, 3}}, "ij");
  for (const Semiring semiring : {Semiring::real, Semiring::log, Semiring::max_plus, Semiring::min_plus,
                                  Semiring::max_product, Semiring::boolean}) {
    for (const double entry : {nan, infinity, -infinity, -1.0, 1e308, 5e-324}) {
      std::vector<Tensor> operands;
      for (const Factor& factor : plan.graph().factors()) {
        Tensor::Shape shape;
        for (const DimId d : factor.dims) shape.push_back(plan.graph().dims()[d].size);
        operands.emplace_back(Dtype::float64, shape);
        auto* data = static_cast<double*>(operands.back().mutable_data());
        for (std::int64_t k = 0; k < operands.back().elements(); ++k) data[k] = k % 3 == 0 ? entry : 0.5;
      }
      EXPECT_EQ(plan.run(operands, {.semiring = semiring, .check = Check::none}).size(), 2U);
    }
  }
}

TEST(OverflowingSizes, AreRefusedInViewsTensorsAndOutputs) {
  const std::int64_t big = std::int64_t{1} << 32;
  double value = 1;
  EXPECT_SAYS(message_of<SizeOverflowError>([&] { (void)Tensor::view(&value, {big, big}, {0, 0}); }), "63 bits");
  EXPECT_THROW((void)Tensor(Dtype::float64, {big, big}), SizeOverflowError);
  EXPECT_THROW((void)Tensor(Dtype::float64, {big, big / 8}), SizeOverflowError);  // elements fit, bytes do not
  const Tensor wide = Tensor::view(&value, {big}, {0});
  EXPECT_THROW((void)einsum("a,b->ab", {wide, wide}, {.semiring = Semiring::real}), SizeOverflowError);
  // A zero anywhere makes the product zero, whatever the others are.
  EXPECT_EQ(Tensor::view(&value, {0, big, big}, {0, 0, 0}).elements(), 0);
}

TEST(OverflowingSizes, AreRefusedInIntermediatesBeforeAnythingRuns) {
  const std::int64_t big = std::int64_t{1} << 31;
  // All pairs of four variables: whichever goes first, its message holds the other three.
  const std::vector<Tensor::Shape> shapes(6, {big, big});
  const std::string message =
      message_of<SizeOverflowError>([&] { (void)plan_of("ab,ac,ad,bc,bd,cd->", shapes).cost(); });
  EXPECT_SAYS(message, "intermediate");
  EXPECT_SAYS(message, std::to_string(big));
}

TEST(MemoryLimit, IsRefusedWithTheBytesNeededAndTheSamePlanRunsAgain) {
  const Plan plan = plan_of("ab,bc,cd,da->", {{40, 40}, {40, 40}, {40, 40}, {40, 40}});
  const std::vector<Tensor> operands(4, Tensor::of<double>({40, 40}, std::vector<double>(1600, 0.5)));
  Workspace workspace(plan);
  const Tensor result(Dtype::float64, {});
  std::int64_t needed = 0;
  try {
    plan.run_into(std::vector{result}, operands, workspace,
                  {.semiring = Semiring::real, .threads = 1, .memory_limit = 64});
    FAIL() << "ran";
  } catch (const MemoryLimitError& error) {
    needed = error.bytes_needed();
    EXPECT_EQ(error.limit(), 64);
    EXPECT_GE(needed, plan.cost({.semiring = Semiring::real}, {}, Dtype::float64).peak_bytes);
    EXPECT_SAYS(error.what(), std::to_string(needed));
    EXPECT_SAYS(error.what(), "64");
  }
  EXPECT_EQ(workspace.bytes(), 0);  // nothing was allocated
  RunOptions options{.semiring = Semiring::real, .threads = 1, .memory_limit = needed - 1};
  EXPECT_THROW((void)plan.run(operands, options), MemoryLimitError);
  options.memory_limit = needed;
  const double expected = std::pow(40.0 * 0.5, 4);
  EXPECT_THROW((void)plan.run(operands, options), MemoryLimitError);  // the output that it allocates counts, too
  options.memory_limit = needed + 8;
  EXPECT_NEAR(plan.run(operands, options)[0].item(), expected, 1e-9 * expected);
  options.memory_limit = needed;
  plan.run_into(std::vector{result}, operands, workspace, options);
  EXPECT_NEAR(result.item(), expected, 1e-9 * expected);
  EXPECT_LE(workspace.bytes(), needed);
}

TEST(MemoryLimit, WhatTheMachineRefusesIsAnErrorToo) {
  // Petabytes: an output, and an intermediate.
  const std::int64_t big = std::int64_t{1} << 25;
  float value = 1;
  const Tensor row = Tensor::view(&value, {big}, {0});
  try {
    (void)einsum("a,b->ab", {row, row}, {.check = Check::none});
    FAIL() << "ran";
  } catch (const MemoryLimitError& error) {
    EXPECT_EQ(error.bytes_needed(), big * big * 4);
  }
  const Tensor square = Tensor::view(&value, {big, big}, {0, 0});
  try {
    // Whichever variable goes first, its message is over the other two.
    (void)einsum("ab,bc,ca->", {square, square, square}, {.check = Check::none});
    FAIL() << "ran";
  } catch (const MemoryLimitError& error) {
    EXPECT_GE(error.bytes_needed(), big * big * 4);
  }
}

TEST(Cancellation, LosesNothing) {
  const Plan plan = plan_of("ab,bc,cd->", {{2, 2}, {2, 2}, {2, 2}});
  const std::vector<Tensor> operands(3, matrix);
  Workspace workspace(plan);
  const Tensor result(Dtype::float64, {});
  const RunOptions stopped{.semiring = Semiring::real, .cancelled = [] { return true; }};
  EXPECT_SAYS(message_of<CancelledError>([&] { (void)plan.run(operands, stopped); }), "cancelled");
  EXPECT_THROW(plan.run_into(std::vector{result}, operands, workspace, stopped), CancelledError);
  plan.run_into(std::vector{result}, operands, workspace, {.semiring = Semiring::real});
  EXPECT_EQ(result.item(), plan.run(operands, {.semiring = Semiring::real})[0].item());
}

}  // namespace
}  // namespace plated
