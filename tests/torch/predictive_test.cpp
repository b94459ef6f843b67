// Draws of data: from the prior and from the posterior; states that are given.
#include <torch/torch.h>

#include <gtest/gtest.h>
#include "plated/error.hpp"
#include "plated/torch/program.hpp"

namespace plated::torch {
namespace {

const auto real = at::kDouble;

at::Tensor numbers(std::initializer_list<double> entries) { return at::tensor(std::vector<double>(entries), real); }

double average(const at::Tensor& tensor) { return tensor.to(real).mean().item<double>(); }

/// A hidden Markov model of ragged sequences, and a site behind them that reads the last state.
Program hidden_markov(const at::Tensor& y, const at::Tensor& lengths, const at::Tensor& seen) {
  Program model;
  const Plate n = model.plate("n", y.size(0));
  const auto scope = model.within({n});
  const Plate t = model.chain("t", y.size(1), {.lengths = {Value(lengths, {n})}});
  const Value transition = numbers({0.9, 0.1, 0.3, 0.7}).reshape({2, 2});
  const Value start = model.sample("start", Categorical(numbers({0.25, 0.75})));
  const auto last = model.markov(t, {start}, [&](const std::vector<Value>& before) {
    const Value x = model.sample("x", Categorical(transition[before[0]]));
    model.observe("y", Normal(10 * x, 0.5), y);
    return std::vector{x};
  });
  model.observe("seen", Bernoulli(0.1 + 0.8 * last[0]), seen);
  return model;
}

Program small() {
  return hidden_markov(numbers({0.2, 9.8, 0.1, 10, 4, 4}).reshape({2, 3}), at::tensor({3, 1}, at::kLong),
                       at::tensor({0, 1}, at::kLong));
}

TEST(TorchPredictive, ThePriorIsThatOfTheProgram) {
  const auto drawn = small().simulate({.count = 4000, .seed = 1});
  EXPECT_EQ(drawn.at("y").sizes(), at::IntArrayRef({4000, 2, 3}));
  EXPECT_EQ(drawn.at("seen").sizes(), at::IntArrayRef({4000, 2}));
  EXPECT_NEAR(average(drawn.at("start")), 0.75, 0.02);
  const at::Tensor x = drawn.at("x").to(real);
  const double first = 0.25 * 0.1 + 0.75 * 0.7;
  const double second = (1 - first) * 0.1 + first * 0.7;
  EXPECT_NEAR(average(x.select(1, 0).select(1, 0)), first, 0.03);
  EXPECT_NEAR(average(x.select(1, 0).select(1, 1)), second, 0.03);
  // Data follow their states, slice by slice, and what does not exist is missing.
  const at::Tensor residuals = drawn.at("y").select(1, 0) - 10 * x.select(1, 0);
  EXPECT_NEAR(residuals.mean().item<double>(), 0, 0.02);
  EXPECT_NEAR(residuals.std().item<double>(), 0.5, 0.02);
  EXPECT_TRUE(drawn.at("y").select(1, 1).narrow(1, 1, 2).isnan().all().item<bool>());
  EXPECT_FALSE(drawn.at("y").select(1, 1).select(1, 0).isnan().any().item<bool>());
  // The last state of the short row is its first slice's.
  const at::Tensor last = x.select(1, 1).select(1, 0);
  EXPECT_NEAR(average(drawn.at("seen").select(1, 1).to(real) - (0.1 + 0.8 * last)), 0, 0.02);
}

TEST(TorchPredictive, ThePosteriorPredictsData) {
  const Program model = small();
  const auto drawn = model.posterior_predictive({.count = 2000, .seed = 3});
  const auto marginals = model.marginals();
  EXPECT_NEAR(average(drawn.at("y").select(1, 0).select(1, 1)), 10, 0.05);  // around the observed 9.8
  EXPECT_NEAR(average(drawn.at("x").select(1, 1).select(1, 0)), marginals.at("x")[1][0][1].item<double>(), 0.03);
  const auto samples = model.posterior_samples({.count = 2000, .seed = 3});
  EXPECT_TRUE(at::equal(drawn.at("x"), samples.at("x")));
}

TEST(TorchPredictive, DrawsDoNotDependOnWhichAreAskedForTogether) {
  const Program model = small();
  const auto all = model.simulate({.count = 10, .seed = 5});
  const auto rest = model.simulate({.count = 4, .seed = 5, .first = 6});
  for (const char* name : {"x", "start", "seen"}) {
    EXPECT_TRUE(at::equal(all.at(name).narrow(0, 6, 4), rest.at(name))) << name;
  }
  EXPECT_TRUE(at::equal(all.at("y").narrow(0, 6, 4).nan_to_num(-1), rest.at("y").nan_to_num(-1)));
}

TEST(TorchPredictive, EveryDistributionHasItsMoments) {
  Program model;
  const Plate n = model.plate("n", 40000);
  const at::Tensor none = at::zeros({40000}, real);
  model.observe("binomial", Binomial(5, 0.3), none.to(at::kLong), {n});
  model.observe("poisson", Poisson(2.5), none.to(at::kLong), {n});
  model.observe("normal", Normal(-1.0, 2.0), none, {n});
  model.observe("gamma", Gamma(3.0, 2.0), none + 1, {n});
  model.observe("beta", Beta(2.0, 6.0), none + 0.5, {n});
  model.observe("angle", VonMises(3.0, 4.0), none, {n});
  model.observe("uniform", VonMises(0.0, 0.0), none, {n});
  model.observe("zeros", ZeroInflated(0.4, Gamma(3.0, 2.0)), none, {n});
  model.observe("counts", ZeroInflated(0.4, Poisson(2.0)), none.to(at::kLong), {n});
  model.observe("simplex", Dirichlet(numbers({1, 2, 5})), at::full({40000, 3}, 1.0 / 3, real), {n});
  const auto drawn = model.simulate({.seed = 2});
  const auto of = [&](const char* name) { return drawn.at(name)[0].to(real); };
  EXPECT_NEAR(average(of("binomial")), 1.5, 0.03);
  EXPECT_NEAR(average(of("poisson")), 2.5, 0.04);
  EXPECT_NEAR(average(of("normal")), -1, 0.05);
  EXPECT_NEAR(of("normal").std().item<double>(), 2, 0.05);
  EXPECT_NEAR(average(of("gamma")), 1.5, 0.03);
  EXPECT_NEAR(average(of("beta")), 0.25, 0.01);
  // I₁(4) / I₀(4), the length of the mean direction.
  EXPECT_NEAR(average((of("angle") - 3).cos()), 0.863523, 0.005);
  EXPECT_NEAR(average((of("angle") - 3).sin()), 0, 0.01);
  EXPECT_LE(of("angle").abs().max().item<double>(), M_PI);
  EXPECT_NEAR(average(of("uniform").cos()), 0, 0.02);
  EXPECT_NEAR(average(of("zeros") == 0), 0.4, 0.01);
  EXPECT_NEAR(average(of("counts")), 1.2, 0.04);
  EXPECT_NEAR(average(of("simplex").select(1, 2)), 0.625, 0.01);
  EXPECT_EQ(drawn.at("poisson").scalar_type(), at::kLong);
}

TEST(TorchPredictive, DataThatAreDrawnCanBeObserved) {
  const auto drawn = small().simulate({.seed = 9});
  const Program again = hidden_markov(drawn.at("y")[0], at::tensor({3, 1}, at::kLong), drawn.at("seen")[0]);
  EXPECT_TRUE(std::isfinite(again.log_likelihood().item<double>()));
}

TEST(TorchPredictive, AProgramIsReplayedOnStates) {
  const MapAssignment best = small().map();
  Program replayed = small();
  replayed.replay(best.states);
  EXPECT_NEAR(replayed.log_likelihood().item<double>(), best.score.item<double>(), 1e-12);
  EXPECT_TRUE(at::equal(replayed.simulate({.count = 2}).at("x")[1], best.states.at("x")));
  EXPECT_THROW(replayed.replay({{"unknown", at::zeros({}, at::kLong)}}), UnknownNameError);
}

TEST(TorchPredictive, TheStateBeforeAChainCanBeGiven) {
  // log p(data) is the sum over all starts of log p(start, data).
  std::vector<at::Tensor> terms;
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 2; ++b) {
      Program model = small();
      model.condition("start", at::tensor({a, b}, at::kLong));
      terms.push_back(model.log_likelihood());
      EXPECT_EQ(model.marginals().at("start")[0][a].item<double>(), 1);
    }
  }
  EXPECT_NEAR(at::stack(terms).logsumexp(0).item<double>(), small().log_likelihood().item<double>(), 1e-12);
  Program model = small();
  EXPECT_THROW(model.condition("start", at::tensor({0, 1, 1}, at::kLong)), SizeError);
}

}  // namespace
}  // namespace plated::torch
