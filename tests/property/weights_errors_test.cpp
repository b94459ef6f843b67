// Weights and lengths of plates that are refused, and what the errors say.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "plated/einsum.hpp"
#include "plated/error.hpp"
#include "plated/gradient.hpp"
#include "plated/marginals.hpp"

namespace plated {
namespace {

const Tensor table(Dtype::float64, {3, 2});

template <class Kind>
void expect_error(const std::function<void()>& ask, const std::string& says) {
  try {
    ask();
    ADD_FAILURE() << "nothing was thrown, not: " << says;
  } catch (const Kind& error) {
    EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
  }
}

EinsumOptions with_weights(const std::string& plate, const Tensor& weights) {
  return {.plates = "i", .weights = {{plate, weights}}};
}

EinsumOptions with_lengths(const std::string& plate, const Integers& lengths) {
  return {.plates = "ij", .sizes = {{"j", 4}}, .lengths = {{plate, lengths}}};
}

TEST(BadWeights, AreNamed) {
  const auto ask = [](const EinsumOptions& options) { return [options] { (void)einsum("ix->", {table}, options); }; };
  expect_error<UnknownNameError>(ask(with_weights("k", Tensor::scalar(1.0))), "'k'");
  expect_error<UnknownNameError>(ask(with_weights("x", Tensor::scalar(1.0))), "'x'");
  expect_error<SizeError>(ask(with_weights("i", Tensor::of<double>({2}, {1, 1}))), "plate 'i'");
  expect_error<SizeError>(ask(with_weights("i", Tensor::of<double>({3, 1}, {1, 1, 1}))), "(3, 1)");
  expect_error<ValueError>(ask(with_weights("i", Tensor::of<double>({3}, {1, -1, 1}))), "at index (1)");
  expect_error<ValueError>(ask(with_weights("i", Tensor::of<double>({3}, {1, 1, std::nan("")}))), "at index (2)");
  expect_error<ValueError>(ask(with_weights("i", Tensor::scalar(-0.5))), "plate 'i'");
  expect_error<NullDataError>(ask(with_weights("i", Tensor::view(static_cast<double*>(nullptr), {3}))), "plate 'i'");
}

TEST(BadLengths, OfPlatesAreNamed) {
  const auto ask = [](const std::string& equation, const std::vector<Tensor>& operands, const EinsumOptions& options) {
    return [=] { (void)einsum(equation, operands, options); };
  };
  const Tensor wide(Dtype::float64, {4, 3, 2});
  expect_error<UnknownNameError>(ask("ix->", {table}, with_lengths("k", Integers({}, {1}))), "'k'");
  expect_error<ShapeError>(ask("ix->", {table}, with_lengths("i", Integers({3}, {1, 1, 1}))), "plate 'i'");
  expect_error<ValueError>(ask("ix->", {table}, with_lengths("i", Integers({}, {4}))), "0 … 3");
  expect_error<ValueError>(ask("jix->", {wide}, with_lengths("i", Integers({4}, {1, -1, 2, 3}))), "index (1)");
  // Everything in i is in j, too, until y is in i alone.
  EXPECT_NO_THROW(ask("jix->", {wide}, with_lengths("i", Integers({4}, {1, 0, 2, 3})))());
  expect_error<PlateError>(ask("jix,iy->", {wide, table}, with_lengths("i", Integers({4}, {1, 0, 2, 3}))), "'j'");
}

TEST(BadWeights, OfAChainAreRefused) {
  const Tensor step(Dtype::float64, {3, 5, 2, 2});
  EinsumOptions options{.plates = "i", .chains = {{"t", {"a->b"}}}};
  options.weights = {{"i", Tensor::scalar(2.0)}};
  EXPECT_NO_THROW((void)einsum("itab->", {step}, options));
  options.weights = {{"t", Tensor::scalar(2.0)}};
  expect_error<UnknownNameError>([&] { (void)einsum("itab->", {step}, options); }, "'t'");
}

TEST(RaggedPlate, IsCopiedWithinTheMemoryLimit) {
  const Tensor large(Dtype::float64, {1000, 2});
  EinsumOptions options{.plates = "i", .memory_limit = 12000, .lengths = {{"i", Integers({}, {2})}}};
  expect_error<MemoryLimitError>([&] { (void)einsum("ix->", {large}, options); }, "limit");
}

TEST(BadDirections, AreRefusedWithLengthsToo) {
  const RunOptions options{.lengths = {{"i", Integers({}, {2})}}};
  const Plan plan = compile("ix->", {table}, {.plates = "i"});
  const std::vector<Tensor> short_one{Tensor(Dtype::float64, {2, 2})};
  EXPECT_THROW((void)hessian_vector_product(plan, std::vector{table}, short_one, options), SizeError);
  EXPECT_THROW((void)expectation(plan, std::vector{table}, short_one, options), SizeError);
}

}  // namespace
}  // namespace plated
