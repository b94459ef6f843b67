// Log-probabilities of distributions against SciPy's, and their gradients; parameters and training.
#include "plated/torch/distributions.hpp"

#include <torch/torch.h>

#include <cstdio>
#include <filesystem>

#include "gradcheck.hpp"
#include "plated/error.hpp"
#include "plated/torch/parameters.hpp"
#include "plated/torch/program.hpp"

namespace plated::torch {
namespace {

at::Tensor numbers(std::initializer_list<double> entries) {
  return at::tensor(std::vector<double>(entries), at::kDouble);
}
at::Tensor number(double entry) { return at::scalar_tensor(entry, at::kDouble); }

void expect_log_prob(const Distribution& distribution, const Value& at, double expected) {
  const double found = distribution.log_prob(at).tensor().item<double>();
  EXPECT_NEAR(found, expected, 1e-12 * std::max(1.0, std::abs(expected))) << distribution.name();
}

TEST(TorchDistributions, HaveTheLogProbabilitiesOfSciPy) {
  expect_log_prob(Normal(0.4, 2.5), 1.3, -1.9000292650788277);
  expect_log_prob(Poisson(3.2), 7.0, -3.583105692425648);
  expect_log_prob(Poisson(900.5), 0.0, -900.5);
  expect_log_prob(Binomial(10, 0.35), 3.0, -1.3774550433611665);
  expect_log_prob(Binomial(1000, 0.51), 500.0, -3.8799590027633144);
  expect_log_prob(Gamma(1.8, 0.6), 2.7, -1.6738008314561845);
  expect_log_prob(Gamma(0.4, 25.0), 0.01, 3.003974623838351);
  expect_log_prob(Beta(2.2, 0.8), 0.37, -0.65655560072386);
  expect_log_prob(Beta(50.0, 120.0), 1e-5, -460.2879141655953);
  expect_log_prob(VonMises(-0.3, 4.5), 0.9, -3.0683915790392184);
  expect_log_prob(VonMises(0.8, 900.0), 0.9, -2.0141313674581696);
  expect_log_prob(Dirichlet(numbers({1.5, 2.5, 0.7})), numbers({0.2, 0.5, 0.3}), 0.8283893811870395);
  expect_log_prob(Bernoulli(0.3), 1.0, -1.2039728043259361);
  expect_log_prob(Bernoulli::logits(number(0.3).logit()), 1.0, -1.2039728043259361);
  expect_log_prob(Categorical(numbers({1, 2, 3})), 2.0, std::log(0.5));
  expect_log_prob(Categorical::logits(numbers({1, 2, 3}).log()), 2.0, std::log(0.5));
  expect_log_prob(ZeroInflated(0.25, Poisson(3.2)), 7.0, std::log(0.75) - 3.583105692425648);
  expect_log_prob(ZeroInflated(0.25, Poisson(3.2)), 0.0, std::log(0.25 + 0.75 * std::exp(-3.2)));
  expect_log_prob(ZeroInflated(0.25, Gamma(1.8, 0.6)), 2.7, std::log(0.75) - 1.6738008314561845);
  expect_log_prob(ZeroInflated(0.25, Gamma(0.4, 25.0)), 0.0, std::log(0.25));
}

TEST(TorchDistributions, StatesHaveTheLogProbabilitiesOfNumbers) {
  const at::Tensor states = Binomial(4, 0.35).log_states().tensor();
  for (int k = 0; k <= 4; ++k) {
    EXPECT_NEAR(states[k].item<double>(), Binomial(4, 0.35).log_prob(k).tensor().item<double>(), 1e-14);
  }
  EXPECT_NEAR(states.logsumexp(0).item<double>(), 0, 1e-14);
}

TEST(TorchDistributions, HaveGradients) {
  const auto check = [](const std::function<Value(const Inputs&)>& f, const Inputs& inputs) {
    expect_gradients([&](const Inputs& p) { return f(p).tensor(); }, inputs);
  };
  const Value at(numbers({0.2, 0.7}));
  const Inputs two{number(1.4), number(0.8)};
  check([](const Inputs& p) { return Normal(p[0], p[1]).log_prob(1.3); }, two);
  check([](const Inputs& p) { return Poisson(p[0]).log_prob(3.0); }, two);
  check([](const Inputs& p) { return Gamma(p[0], p[1]).log_prob(1.3); }, two);
  check([](const Inputs& p) { return Beta(p[0], p[1]).log_prob(0.3); }, two);
  check([](const Inputs& p) { return VonMises(p[0], p[1]).log_prob(0.3); }, two);
  check([](const Inputs& p) { return Binomial(5, p[0]).log_prob(3.0); }, {number(0.3)});
  check([](const Inputs& p) { return Bernoulli(p[0]).log_states(); }, {number(0.3)});
  check([](const Inputs& p) { return Categorical(p[0]).log_states(); }, {numbers({0.2, 0.7})});
  check([](const Inputs& p) { return Dirichlet(p[0]).log_prob(numbers({0.2, 0.8})); }, {numbers({1.2, 0.7})});
  check([](const Inputs& p) { return ZeroInflated(p[1], Poisson(p[0])).log_prob(0.0); }, two);
}

TEST(TorchDistributions, ProbabilitiesOfZeroPassNothingBack) {
  const at::Tensor p = numbers({0, 1}).requires_grad_();
  Program model;
  const Value x = model.sample("x", Categorical(p));
  model.observe("y", Normal(x, 1), number(0.3));
  model.log_likelihood().backward();
  EXPECT_TRUE(p.grad().isfinite().all().item<bool>());
}

std::shared_ptr<Parameters> some_parameters() {
  auto p = std::make_shared<Parameters>();
  p->simplex("weights", numbers({0.5, 0.5}));
  p->real("means", numbers({-1, 1}));
  p->positive("deviation", number(1));
  p->unit_interval("share", number(0.25));
  return p;
}

TEST(TorchParameters, HaveTheirConstraints) {
  const auto p = some_parameters();
  EXPECT_EQ(p->parameters().size(), 4U);
  EXPECT_TRUE(at::allclose((*p)["weights"], numbers({0.5, 0.5})));
  EXPECT_TRUE(at::allclose((*p)["share"], number(0.25)));
  EXPECT_TRUE((*p)["deviation"].requires_grad());
  EXPECT_THROW((void)(*p)["nothing"], UnknownNameError);
  EXPECT_THROW(p->real("means", numbers({1})), DuplicateNameError);
  EXPECT_THROW(p->positive("negative", numbers({-1})), ValueError);
  EXPECT_THROW(p->simplex("sums", numbers({0.5, 0.6})), ValueError);
  EXPECT_THROW(p->unit_interval("beyond", numbers({1})), ValueError);
}

at::Tensor mixture_loss(const Parameters& p, std::int64_t step) {
  const at::Tensor data = numbers({-2.1, -1.7, -2.4, 1.9, 2.2, 2.6, 1.4, 2.0});
  const at::Tensor batch = at::randperm(8, at::kLong).slice(0, 0, step % 2 == 0 ? 4 : 8);
  Program model;
  const Plate n = model.plate("n", 8, {.batch = batch});
  const Value k = model.sample("k", Categorical(p["weights"]), {n});
  model.observe("x", Normal(Value(p["means"])[k], p["deviation"]), data, {n});
  model.observe("prior", Beta(2.0, 2.0), p["share"]);
  return -model.log_likelihood();
}

TEST(TorchParameters, TrainingResumesToTheSameBits) {
  const std::string path = ::testing::TempDir() + "plated_torch_checkpoint.pt";
  const auto run = [&](const std::vector<std::int64_t>& parts, const std::string& checkpoint) {
    std::filesystem::remove(path);
    at::manual_seed(7);
    at::Tensor result;
    for (const std::int64_t steps : parts) {
      const auto p = some_parameters();
      ::torch::optim::Adam optimizer(p->parameters(), ::torch::optim::AdamOptions(0.05));
      const auto losses = train(*p, optimizer, [&](std::int64_t step) { return mixture_loss(*p, step); },
                                {.steps = steps, .checkpoint = checkpoint});
      EXPECT_FALSE(losses.empty());
      result = at::cat({(*p)["weights"], (*p)["means"], (*p)["deviation"].reshape({1}), (*p)["share"].reshape({1})});
    }
    return result.detach();
  };
  const at::Tensor whole = run({60}, "");
  EXPECT_TRUE(at::equal(whole, run({25, 60}, path)));
  EXPECT_LT(whole[2].item<double>(), -1.5);
  EXPECT_GT(whole[3].item<double>(), 1.5);
  std::filesystem::remove(path);
}

TEST(TorchParameters, TrainingRefusesLossesThatAreNotFinite) {
  const auto p = some_parameters();
  ::torch::optim::SGD optimizer(p->parameters(), ::torch::optim::SGDOptions(0.1));
  EXPECT_THROW((void)train(*p, optimizer, [&](std::int64_t) { return (*p)["share"] * NAN; }), ValueError);
  std::int64_t told = 0;
  const auto losses = train(*p, optimizer, [&](std::int64_t) { return (*p)["share"]; },
                            {.progress = [&](std::int64_t step, double) { return (told = step) < 2; }});
  EXPECT_EQ(losses.size(), 3U);
  EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace plated::torch
