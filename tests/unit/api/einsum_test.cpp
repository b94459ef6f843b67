// einsum and einsum_all: the same values, one output or several, in the operands' widest type.
#include "plated/einsum.hpp"

#include <gtest/gtest.h>

#include "plated/error.hpp"

namespace plated {
namespace {

const Tensor matrix = Tensor::of<double>({2, 3}, {1, 2, 3, 4, 5, 6});
const Tensor vector = Tensor::of<double>({3}, {1, 10, 100});
using Values = std::vector<double>;
EinsumOptions real(const char* plates = "", const char* batch = "") {
  return {.plates = plates, .batch = batch, .semiring = Semiring::real};
}

TEST(Einsum, GivesTheOneOutput) {
  EXPECT_EQ(einsum("ab,b->a", {matrix, vector}, real()).values(), (Values{321, 654}));
  EXPECT_EQ(einsum("ab->ba", {matrix}, real()).shape(), (Tensor::Shape{3, 2}));
  EXPECT_EQ(einsum("ab->ba", {matrix}, real()).values(), (Values{1, 4, 2, 5, 3, 6}));
}

TEST(Einsum, TakesTheLogSemiringByDefault) {
  EXPECT_EQ(EinsumOptions{}.semiring, Semiring::log);
  EXPECT_NEAR(einsum("b->", {vector}).item(), 100, 1e-12);
}

TEST(Einsum, RefusesSeveralOutputs) {
  EXPECT_THROW((void)einsum("ab->a,b", {matrix}, real()), OptionError);
  const std::vector<Tensor> both = einsum_all("ab->a,b", {matrix}, real());
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].values(), (Values{6, 15}));
  EXPECT_EQ(both[1].values(), (Values{5, 7, 9}));
}

TEST(Einsum, HasAPlanThatCanBeAskedItself) {
  const Plan plan = compile("ab,b->a", {matrix, vector}, real());
  EXPECT_EQ(&plan.graph(), &compile("ab,b->a", {matrix, vector}).graph()) << "kept, whatever the run's options";
  std::vector<double> memory(4, -1);
  const std::vector<Tensor> operands{matrix, vector}, outputs{Tensor::view(memory.data(), {2}, {2})};
  plan.run_into(outputs, operands, {.semiring = Semiring::real});
  EXPECT_EQ(memory, (Values{321, -1, 654, -1}));
  const std::vector<Tensor> overlapping{Tensor::view(memory.data(), {2}, {0})};
  EXPECT_THROW(plan.run_into(overlapping, operands, {.semiring = Semiring::real}), OverlapError);
}

TEST(Einsum, AgreesWithEinsumAll) {
  for (const char* equation : {"ab,b->", "ab,b->a", "ab,b->ba", "ab,b->b"}) {
    const Tensor one = einsum(equation, {matrix, vector}, real());
    const std::vector<Tensor> all = einsum_all(equation, {matrix, vector}, real());
    ASSERT_EQ(all.size(), 1U) << equation;
    EXPECT_EQ(one.values(), all[0].values()) << equation;
    EXPECT_EQ(one.shape(), all[0].shape()) << equation;
  }
}

TEST(Einsum, KeepsPlatesAndBatchDimsApart) {
  EXPECT_EQ(einsum("ab->", {matrix}, real("a")).item(), 90);
  EXPECT_EQ(einsum("ab->a", {matrix}, real("a")).values(), (Values{90, 90}));
  EXPECT_EQ(einsum("ab->", {matrix}, real("", "a")).values(), (Values{6, 15}));
  EXPECT_EQ(einsum("ab->b", {matrix}, real("", "a")).values(), matrix.values());
  EXPECT_EQ(einsum("ab->ab", {matrix}, real("a")).values(), (Values{15, 30, 45, 24, 30, 36}));
}

TEST(Einsum, GivesTheWidestTypeOfItsOperands) {
  const Tensor narrow = Tensor::of<float>({3}, {1, 2, 3});
  EXPECT_EQ(einsum("b->", {narrow}, real()).dtype(), Dtype::float32);
  EXPECT_EQ(einsum("ab,b->a", {matrix, narrow}, real()).dtype(), Dtype::float64);
  EXPECT_EQ(einsum("ab,b->a", {matrix, narrow}, real()).values(), (Values{14, 32}));
}

TEST(Einsum, PassesErrorsOn) {
  EXPECT_THROW((void)einsum("ab,b->a", {matrix}, real()), OperandCountError);
  EXPECT_THROW((void)einsum("a,b->a", {matrix, vector}, real()), RankError);
  EXPECT_THROW((void)einsum("ab,a->a", {matrix, vector}, real()), SizeError);
  EXPECT_THROW((void)einsum("ab->c", {matrix}, real()), Error);
  EXPECT_THROW((void)einsum("ab->a", {Tensor()}, real()), Error);
  EXPECT_THROW((void)einsum("xi,yj,ijxy->", {matrix, matrix, Tensor(Dtype::float64, {3, 3, 2, 2})}, real("ij")),
               IntractableError);
}

TEST(Einsum, CountsTheOutputsItAllocatesAgainstTheLimit) {
  const Tensor line(Dtype::float32, {1000});
  EinsumOptions options;
  options.memory_limit = 2000000;  // the output alone takes four million bytes
  try {
    (void)einsum("a,b->ab", {line, line}, options);
    FAIL() << "not refused";
  } catch (const MemoryLimitError& error) {
    EXPECT_GE(error.bytes_needed(), 4000000);
    EXPECT_EQ(error.limit(), 2000000);
  }
  options.memory_limit = 8000000;
  EXPECT_EQ(einsum("a,b->ab", {line, line}, options).elements(), 1000000);
}

TEST(Einsum, KeepsItsMemoryLimit) {
  const Tensor large(Dtype::float64, {60, 60});
  EinsumOptions options = real();
  options.memory_limit = 64;
  EXPECT_THROW((void)einsum("ab,bc,cd->ad", {large, large, large}, options), MemoryLimitError);
  options.memory_limit = 1 << 30;
  EXPECT_EQ(einsum("ab,bc,cd->ad", {large, large, large}, options).values(), Values(3600, 0.0));
}

}  // namespace
}  // namespace plated
