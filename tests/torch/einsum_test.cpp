// Einsum and log partition functions of tensors: values, first and second derivatives, and what is refused.
#include "plated/torch/einsum.hpp"

#include <torch/torch.h>

#include "gradcheck.hpp"
#include "plated/error.hpp"
#include "plated/evaluation.hpp"

namespace plated::torch {
namespace {

at::Tensor random(std::vector<std::int64_t> shape, std::uint64_t seed = 1) {
  auto generator = at::detail::createCPUGenerator(seed);
  return at::randn(shape, generator, at::kDouble);
}

Differentiable function(std::string equation, EinsumOptions options) {
  return [=](const Inputs& inputs) { return einsum(equation, inputs, options); };
}

TEST(TorchEinsum, HasTheValueOfPlated) {
  const at::Tensor f = random({2});
  const at::Tensor g = random({3, 4}, 2);
  const at::Tensor h = random({4, 3, 5, 2}, 3).permute({1, 2, 3, 0});  // read in its strides
  const at::Tensor value = einsum("x,iy,ijxy->", {f, g, h}, {.plates = "ij"});
  const at::Tensor by_hand = (f + at::logsumexp(g.unsqueeze(1) + h.sum(1), 2).sum(0)).logsumexp(0);
  EXPECT_NEAR(value.item<double>(), by_hand.item<double>(), 1e-12);
  EXPECT_EQ(value.scalar_type(), at::kDouble);
  EXPECT_EQ(
      einsum("x,iy,ijxy->", {f.to(at::kFloat), g.to(at::kFloat), h.to(at::kFloat)}, {.plates = "ij"}).scalar_type(),
      at::kFloat);
}

TEST(TorchEinsum, ViewsShareTheMemoryOfTensors) {
  const at::Tensor f = random({3, 2}).t();
  const Tensor seen = view(f);
  EXPECT_EQ(seen.data(), f.data_ptr());
  EXPECT_EQ(seen.strides(), (Tensor::Shape{1, 2}));
  EXPECT_EQ(tensor(seen).data_ptr(), f.data_ptr());
}

TEST(TorchEinsum, DifferentiatesTotals) {
  const Inputs inputs{random({2}), random({3, 4}, 2), random({3, 5, 2, 4}, 3)};
  expect_gradients(function("x,iy,ijxy->", {.plates = "ij"}), inputs);
  expect_second_gradients(function("x,iy,ijxy->", {.plates = "ij"}), inputs);
}

TEST(TorchEinsum, DifferentiatesOutputs) {
  const Inputs inputs{random({2, 3}), random({3, 4}, 2)};
  expect_gradients(function("xy,yz->xz", {}), inputs);
  expect_second_gradients(function("xy,yz->xz", {}), inputs);
  const Inputs weights{random({2, 3}).exp(), random({3, 4}, 2).exp()};
  expect_gradients(function("xy,yz->xz", {.semiring = Semiring::real}), weights);
  expect_second_gradients(function("xy,yz->xz", {.semiring = Semiring::real}), weights);
}

TEST(TorchEinsum, DifferentiatesBatches) {
  const Inputs inputs{random({3, 4, 2}), random({2, 3, 4}, 2)};
  expect_gradients(function("bcx,xbc->cb", {.batch = "bc"}), inputs);
  expect_second_gradients(function("bcx,xbc->cb", {.batch = "bc"}), inputs);
  expect_gradients(function("bx,x->b", {.batch = "b"}), {random({3, 2}), random({2}, 2)});  // one without the batch
}

TEST(TorchEinsum, DifferentiatesChainsOfUnequalLengths) {
  const at::Tensor lengths = at::tensor({0, 3, 5}, at::kLong);
  const EinsumOptions options{.plates = "n", .chains = {{"t", {"a->b"}}}, .lengths = {{"t", integers(lengths)}}};
  const Inputs inputs{random({2}), random({2, 2}, 2), random({3, 5, 2}, 3)};
  expect_gradients(function("(n) a, (n t) a b, n t b ->", options), inputs);
  expect_second_gradients(function("(n) a, (n t) a b, n t b ->", options), inputs);
}

TEST(TorchEinsum, DifferentiatesWhatIsGivenEvidence) {
  const at::Tensor seen = at::tensor({1, -1, 0}, at::kInt);
  const EinsumOptions options{.plates = "i", .sizes = {{"i", 3}}, .evidence = {{"y", integers(seen)}}};
  const Inputs inputs{random({2}), random({2, 2}, 2)};
  expect_gradients(function("x,(i)xy->", options), inputs);
  expect_second_gradients(function("x,(i)xy->", options), inputs);
}

TEST(TorchEinsum, TakesSeveralOutputs) {
  const Inputs inputs = leaves({random({2, 3}), random({3, 4}, 2)});
  const auto outputs = einsum_all("xy,yz->x,z", inputs);
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_TRUE(at::allclose(outputs[0].logsumexp(0), outputs[1].logsumexp(0)));
  // Only the second has a cotangent.
  expect_gradients([](const Inputs& given) { return einsum_all("xy,yz->x,z", given)[1]; }, inputs);
  EXPECT_THROW((void)plated::torch::einsum("xy,yz->x,z", inputs), OptionError);
}

TEST(TorchEinsum, TakesPlansAndGraphs) {
  FactorGraph graph;
  graph.plate("i", 3);
  graph.variable("x", 2);
  graph.variable("y", 2);
  graph.factor("prior", {"x"});
  graph.factor("seen", {"i", "x", "y"});
  const Inputs inputs{random({2}), random({3, 2, 2}, 2)};
  const at::Tensor states = at::tensor({1, 0, 1}, at::kLong);
  const RunOptions options{.evidence = {{"y", integers(states)}}};
  const at::Tensor expected = log_partition("x,ixy", inputs, {.plates = "i", .evidence = {{"y", integers(states)}}});
  EXPECT_NEAR(log_partition(graph, inputs, options).item<double>(), expected.item<double>(), 1e-12);
  const Plan plan = compile(graph, {.observable = {"y"}});
  expect_gradients([&](const Inputs& given) { return log_partition(plan, given, options); }, inputs);
  expect_second_gradients([&](const Inputs& given) { return log_partition(plan, given, options); }, inputs);
}

TEST(TorchEinsum, GradientsOfTheLogPartitionArePosteriors) {
  const Inputs inputs = leaves({random({2}), random({3, 2}, 2)});
  log_partition("x,ix", inputs, {.plates = "i"}).backward();
  EXPECT_NEAR(inputs[0].grad().sum().item<double>(), 1, 1e-12);
  EXPECT_TRUE(at::allclose(inputs[1].grad(), inputs[0].grad().expand({3, 2})));
}

TEST(TorchEinsum, SumsNothingIntoAnEmptyPlate) {
  const Inputs inputs = leaves({random({2}), random({0, 2}, 2)});
  const at::Tensor value = log_partition("x,ix", inputs, {.plates = "i"});
  value.backward();
  EXPECT_NEAR(value.item<double>(), inputs[0].logsumexp(0).item<double>(), 1e-12);
  EXPECT_EQ(inputs[1].grad().numel(), 0);
}

TEST(TorchEinsum, ComputesNoGradientsUnasked) {
  const Inputs inputs = leaves({random({2}), random({2, 3}, 2)});
  const c10::NoGradGuard no_grad;
  EXPECT_FALSE(plated::torch::einsum("x,xy->y", inputs).requires_grad());
  EXPECT_FALSE(einsum("x,xy->y", inputs, {.semiring = Semiring::max_plus}).requires_grad());
}

TEST(TorchEinsum, RefusesWhatItCannotRead) {
  EXPECT_THROW((void)einsum("x->", {at::ones({2}, at::kLong)}), ValueError);
  EXPECT_THROW((void)einsum("x->", {at::ones({2}, at::kHalf)}), ValueError);
  EXPECT_THROW((void)einsum("x->", {at::Tensor()}), NullDataError);
  EXPECT_THROW((void)integers(at::ones({2})), ValueError);
  EXPECT_THROW((void)log_partition("xy->x", {random({2, 3})}), OptionError);
  EXPECT_THROW((void)log_partition("x->", {random({2})}, {.semiring = Semiring::real}), OptionError);
  EXPECT_THROW((void)einsum("x,y->", {random({2})}), OperandCountError);
}

TEST(TorchEinsum, RefusesThirdDerivatives) {
  const Inputs inputs = leaves({random({3})});
  const at::Tensor value = log_partition("x", inputs);
  const at::Tensor first = ::torch::autograd::grad({value}, inputs, {}, true, true)[0];
  const at::Tensor second = ::torch::autograd::grad({first.pow(2).sum()}, inputs, {}, true, true)[0];
  EXPECT_THROW((void)::torch::autograd::grad({second.sum()}, inputs), std::exception);
}

}  // namespace
}  // namespace plated::torch
