// EM steps of programs: tables by fit(), the rest by gradients.
#include "plated/torch/fit.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "plated/error.hpp"

namespace plated::torch {
namespace {

const auto real = at::kDouble;

at::Tensor numbers(std::initializer_list<double> entries) { return at::tensor(std::vector<double>(entries), real); }

struct Sequences {
  at::Tensor notes, y, lengths;
};

Sequences sequences() {
  at::manual_seed(4);
  const at::Tensor state = (at::arange(24).floor_divide(4) % 2).to(real).expand({6, 24});
  return {.notes = (at::rand({6, 24, 3}, real) < 0.2 + 0.5 * state.unsqueeze(2)).to(at::kLong),
          .y = state * 3 + at::randn({6, 24}, real),
          .lengths = at::randint(10, 25, {6}, at::kLong)};
}

Parameters parameters() {
  Parameters p;
  p.simplex("initial", numbers({0.4, 0.6}));
  p.simplex("transition", numbers({0.6, 0.4, 0.3, 0.7}).reshape({2, 2}));
  p.unit_interval("notes", numbers({0.3, 0.4, 0.35, 0.5, 0.45, 0.6}).reshape({2, 3}));
  p.real("means", numbers({0.5, 2}));
  return p;
}

Program hidden_markov(const Parameters& p, const Sequences& data) {
  Program model;
  const Plate n = model.plate("n", data.y.size(0)), k = model.plate("k", 3);
  const auto scope = model.within({n});
  const Plate t = model.chain("t", data.y.size(1), {.lengths = {Value(data.lengths, {n})}});
  const Value start = model.sample("start", Categorical(p["initial"]));
  model.markov(t, {start}, [&](const std::vector<Value>& before) {
    const Value x = model.sample("x", Categorical(Value(p["transition"])[before[0]]));
    const Value play = Value(p["notes"].t(), {k})[x];
    model.observe("note", Bernoulli(play), data.notes, {k});
    model.observe("y", Normal(Value(p["means"])[x], 1), data.y);
    return std::vector{x};
  });
  return model;
}

const std::map<std::string, std::vector<std::string>> tables{{"initial", {"start"}}, {"transition", {"x"}}};

TEST(TorchFit, EmClimbsToAStationaryPoint) {
  const Sequences data = sequences();
  Parameters p = parameters();
  const double before = hidden_markov(p, data).log_likelihood().item<double>();
  const at::Tensor means = p["means"].clone();
  const Fit learnt = fit(p, hidden_markov(p, data), tables, {.iterations = 2000, .tolerance = 1e-14});
  EXPECT_NEAR(learnt.history.front(), before, 1e-9);
  for (std::size_t k = 1; k < learnt.history.size(); ++k) EXPECT_GE(learnt.history[k], learnt.history[k - 1] - 1e-9);
  at::Tensor after = hidden_markov(p, data).log_likelihood();
  EXPECT_NEAR(learnt.log_likelihood, after.item<double>(), 1e-9);
  after.backward();
  for (const at::Tensor& free : p.free({"initial", "transition"}))
    EXPECT_LT(free.grad().abs().max().item<double>(), 1e-4);
  EXPECT_TRUE(at::equal(p["means"], means));
}

TEST(TorchFit, StepsTakeTurnsWithGradients) {
  const Sequences data = sequences();
  Parameters p = parameters();
  ::torch::optim::SGD optimizer(p.free({"means", "notes"}), ::torch::optim::SGDOptions(0.002));
  double last = hidden_markov(p, data).log_likelihood().item<double>();
  for (int round = 0; round < 20; ++round) {
    (void)fit(p, hidden_markov(p, data), tables, {.iterations = 1, .accelerate = false});
    const double stepped = hidden_markov(p, data).log_likelihood().item<double>();
    EXPECT_GE(stepped, last - 1e-9);
    (void)train(p, optimizer, [&](std::int64_t) { return -hidden_markov(p, data).log_likelihood(); }, {.steps = 1});
    last = hidden_markov(p, data).log_likelihood().item<double>();
    EXPECT_GE(last, stepped);
  }
}

TEST(TorchFit, ProbabilitiesOfBernoullisAreTables) {
  const at::Tensor z = at::tensor({1, 0, 1, 1, -1, 0, 1, 1}, at::kLong).reshape({4, 2});
  Parameters p;
  p.unit_interval("rate", numbers({0.5, 0.5}));
  Program model;
  const Plate rows = model.plate("rows", 4), columns = model.plate("columns", 2);
  model.observe("z", Bernoulli(Value(p["rate"], {columns})), z, {rows, columns});
  (void)fit(p, model, {{"rate", {"z"}}});
  EXPECT_TRUE(at::allclose(p["rate"], numbers({1, 0.5}))) << p["rate"];
}

TEST(TorchFit, SitesShareATable) {
  const at::Tensor a = at::tensor({0, 1, 2, 2}, at::kLong);
  const at::Tensor b = at::tensor({2, 2, 1, 2, 2, 2}, at::kLong);
  Parameters p;
  p.simplex("shares", numbers({0.2, 0.3, 0.5}));
  const auto model = [&] {
    Program program;
    program.observe("a", Categorical(p["shares"]), a, {program.plate("i", 4)});
    program.observe("b", Categorical(p["shares"]), b, {program.plate("j", 6)});
    return program;
  };
  (void)fit(p, model(), {{"shares", {"a", "b"}}});
  EXPECT_TRUE(at::allclose(p["shares"], numbers({0.1, 0.2, 0.7}))) << p["shares"];
  (void)fit(p, model(), {{"shares", {"a", "b"}}}, {.pseudo_count = 1});
  EXPECT_TRUE(at::allclose(p["shares"], numbers({2, 3, 8}) / 13)) << p["shares"];
}

TEST(TorchFit, RefusesWhatIsNoTable) {
  Parameters p = parameters();
  const Program model = hidden_markov(p, sequences());
  EXPECT_THROW((void)fit(p, model, {{"initial", {"x"}}}), OptionError);
  EXPECT_THROW((void)fit(p, model, {{"means", {"y"}}}), OptionError);
  EXPECT_THROW((void)fit(p, model, {{"initial", {"nowhere"}}}), UnknownNameError);
  EXPECT_THROW((void)fit(p, model, {{"nothing", {"x"}}}), UnknownNameError);
}

}  // namespace
}  // namespace plated::torch
