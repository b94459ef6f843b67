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

TEST(TorchEinsum, TakesSizesFromEvidence) {
  const at::Tensor prior = random({3});
  const at::Tensor seen = at::tensor({0, 2, 2, -1, 1}, at::kLong);
  const EinsumOptions options{.plates = "i", .evidence = {{"x", integers(seen)}}};
  const at::Tensor expected = prior[0] + 2 * prior[2] + prior[1] + prior.logsumexp(0);
  EXPECT_NEAR(log_partition("(i)x->", {prior}, options).item<double>(), expected.item<double>(), 1e-12);
  expect_gradients([&](const Inputs& inputs) { return log_partition("(i)x->", inputs, options); }, {prior});
}

/// A coin, and throws of it that a model has observed.
Model coin(Space space) {
  FactorGraph graph;
  graph.plate("i", 3);
  graph.variable("bias", 2);
  graph.variable("side", 2, {"i"});
  graph.factor("prior", {"bias"}, {.distribution_of = "bias"});
  graph.factor("throw", {"bias", "side"}, {.tied = {"i"}, .distribution_of = "side"});
  const Tensor prior = Tensor::of<double>({2}, {0.25, 0.75});
  const Tensor sides = Tensor::of<double>({2, 2}, {0.5, 0.5, 0.9, 0.1});
  const Model model = make_model(graph, {{"prior", prior}, {"throw", sides}},
                                 {.space = Space::real, .evidence = {{"side", Integers({3}, {0, 0, 1})}}});
  return in_space(model, space);
}

TEST(TorchEinsum, TakesModels) {
  const double expected = std::log(0.25 * 0.125 + 0.75 * 0.081);
  for (const Space space : {Space::real, Space::log}) {
    EXPECT_NEAR(log_partition(coin(space)).item<double>(), expected, 1e-12);
    EXPECT_NEAR(einsum(coin(space), {}, {.semiring = Semiring::real}).item<double>(), std::exp(expected), 1e-12);
  }
  // Tensors stand for factors by name, and are differentiated by.
  const at::Tensor log_prior = random({2}).log_softmax(0);
  const auto total = [](const Inputs& inputs) { return log_partition(coin(Space::real), {{"prior", inputs[0]}}); };
  EXPECT_NEAR(total({log_prior}).exp().item<double>(),
              (log_prior.exp()[0] * 0.125 + log_prior.exp()[1] * 0.081).item<double>(), 1e-12);
  expect_gradients(total, {log_prior});
  const at::Tensor other = at::tensor({1, 1, 1}, at::kLong);  // in place of what the model has observed
  EXPECT_NEAR(log_partition(coin(Space::log), {}, {.evidence = {{"side", integers(other)}}}).exp().item<double>(),
              0.25 * 0.125 + 0.75 * 0.001, 1e-12);
  EXPECT_THROW((void)log_partition(coin(Space::log), {{"nothing", log_prior}}), UnknownNameError);
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
