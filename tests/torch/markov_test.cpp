// Programs with markov: chains of any order, in plates, of unequal lengths, against sums by hand.
#include <torch/torch.h>

#include "gradcheck.hpp"
#include "plated/error.hpp"
#include "plated/torch/program.hpp"

namespace plated::torch {
namespace {

using Values = std::vector<Value>;
const auto real = at::kDouble;

at::Tensor random(std::vector<std::int64_t> shape, std::uint64_t seed) {
  auto generator = at::detail::createCPUGenerator(seed);
  return at::randn(shape, generator, real);
}

/// log p(y) of a hidden Markov model by the forward algorithm; the rows of y are sequences.
at::Tensor forward(const Inputs& p, const at::Tensor& y, const std::vector<std::int64_t>& lengths) {
  at::Tensor total = at::zeros({}, real);
  for (std::size_t n = 0; n < lengths.size(); ++n) {
    at::Tensor message = p[0].log_softmax(0);
    for (std::int64_t t = 0; t < lengths[n]; ++t) {
      const at::Tensor seen = -0.5 * (y[static_cast<std::int64_t>(n)][t] - p[2]).pow(2) - 0.5 * std::log(2 * M_PI);
      message = (message.unsqueeze(1) + p[1].log_softmax(1)).logsumexp(0) + seen;
    }
    total = total + message.logsumexp(0);
  }
  return total;
}

struct Sequences {
  at::Tensor y;
  std::vector<std::int64_t> lengths;
  at::Tensor batch = {};
};

Program hidden_markov(const Inputs& p, const Sequences& data) {
  Program model;
  const Plate n = model.plate("n", data.y.size(0), {.batch = data.batch});
  const auto scope = model.within({n});
  const Value start = model.sample("start", Categorical::logits(p[0]));
  const Plate t = model.chain("t", data.y.size(1), {.lengths = {Value(at::tensor(data.lengths, at::kLong), {n})}});
  model.markov(t, {start}, [&](const Values& before) {
    const Value x = model.sample("x", Categorical::logits(Value(p[1])[before[0]]));
    model.observe("y", Normal(Value(p[2])[x], 1), data.y);
    return Values{x};
  });
  return model;
}

const Inputs& parameters() {
  static const Inputs p{random({3}, 1), random({3, 3}, 2), random({3}, 3)};
  return p;
}

TEST(TorchMarkov, HiddenMarkovModelsOfUnequalLengths) {
  const Sequences data{random({4, 6}, 4), {6, 1, 3, 6}};
  EXPECT_NEAR(hidden_markov(parameters(), data).log_likelihood().item<double>(),
              forward(parameters(), data.y, data.lengths).item<double>(), 1e-11);
  expect_gradients([&](const Inputs& p) { return hidden_markov(p, data).log_likelihood(); }, parameters());
  const auto posterior = hidden_markov(parameters(), data).marginals();
  EXPECT_EQ(posterior.at("start").sizes(), (std::vector<std::int64_t>{4, 3}));
  EXPECT_EQ(posterior.at("x").sizes(), (std::vector<std::int64_t>{4, 6, 3}));
  EXPECT_EQ(posterior.size(), 2U);
  const auto best = hidden_markov(parameters(), data).map().states;
  EXPECT_EQ(best.at("start").sizes(), (std::vector<std::int64_t>{4}));
  EXPECT_EQ(best.at("x").sizes(), (std::vector<std::int64_t>{4, 6}));
  EXPECT_EQ(best.at("x")[1][1].item<std::int64_t>(), -1);  // beyond its length
}

TEST(TorchMarkov, AnswersFurtherQuestionsAlongChains) {
  const Sequences data{random({4, 6}, 4), {6, 1, 3, 6}};
  const Program model = hidden_markov(parameters(), data);
  const auto scores = model.max_marginals();
  const double best = model.map().score.item<double>();
  EXPECT_TRUE(at::allclose(std::get<0>(scores.at("start").max(1)), at::full({4}, best, real)));
  EXPECT_EQ(scores.at("x").sizes(), (std::vector<std::int64_t>{4, 6, 3}));
  EXPECT_GT(model.entropy().item<double>(), 0);
  // log p(y[3, 2] | all else) is what the missing number costs.
  at::Tensor missing = data.y.clone();
  missing[3][2] = NAN;
  const at::Tensor left = model.leave_one_out("t", {}, {"y"});
  EXPECT_NEAR(
      left[3][2].item<double>(),
      (model.log_likelihood() - hidden_markov(parameters(), {missing, data.lengths}).log_likelihood()).item<double>(),
      1e-11);
}

TEST(TorchMarkov, SubsampledSequencesAreScaled) {
  const Sequences all{random({4, 6}, 4), {6, 6, 6, 6}};
  Sequences some = all;
  some.batch = at::tensor({2, 0}, at::kLong);
  const at::Tensor kept = all.y.index_select(0, some.batch);
  EXPECT_NEAR(hidden_markov(parameters(), some).log_likelihood().item<double>(),
              2 * forward(parameters(), kept, {6, 6}).item<double>(), 1e-11);
  expect_gradients([&](const Inputs& p) { return hidden_markov(p, some).log_likelihood(); }, parameters());
}

TEST(TorchMarkov, OrderTwoAndLastStates) {
  const at::Tensor initial = random({2, 2}, 5), moves = random({2, 2, 2}, 6), end = random({2}, 7);
  const at::Tensor y = at::tensor({1, 0, 1}, at::kLong);
  Program model;
  const Value a = model.sample("a", Categorical::logits(initial[0]));
  const Value b = model.sample("b", Categorical::logits(Value(initial)[a]));
  const Value emit(at::tensor({0.2, 0.9}, real));
  const Values last = model.markov(model.chain("t", 3), {a, b}, [&](const Values& before) {
    const Value c = model.sample("c", Categorical::logits(Value(moves)[{before[0], before[1]}]));
    model.observe("y", Bernoulli(emit[c]), y);
    return Values{before[1], c};
  });
  model.observe("end", Normal(Value(end)[last[1]], 1), at::scalar_tensor(0.3, real));
  double total = 0;
  for (int states = 0; states < 32; ++states) {
    const auto s = [&](int k) { return (states >> k) & 1; };
    at::Tensor weight = initial[0].log_softmax(0)[s(0)] + initial[s(0)].log_softmax(0)[s(1)];
    for (int t = 0; t < 3; ++t) {
      weight = weight + moves[s(t)][s(t + 1)].log_softmax(0)[s(t + 2)];
      const double p = s(t + 2) == 1 ? 0.9 : 0.2;
      weight = weight + std::log(y[t].item<std::int64_t>() == 1 ? p : 1 - p);
    }
    weight = weight - 0.5 * (0.3 - end[s(4)]).pow(2) - 0.5 * std::log(2 * M_PI);
    total += weight.exp().item<double>();
  }
  EXPECT_NEAR(model.log_likelihood().item<double>(), std::log(total), 1e-12);
  EXPECT_EQ(model.marginals().at("a").sizes(), (std::vector<std::int64_t>{2}));
}

TEST(TorchMarkov, FactorialChainsAndPlatesInside) {
  const at::Tensor moves = random({2, 2}, 8), more = random({3, 3}, 9), tones = random({4, 2, 3}, 10);
  const at::Tensor notes = at::tensor({1, 0, 0, 1, 1, 1, 0, 1}, at::kLong).reshape({2, 4});
  Program model;
  const Value w0 = model.sample("w0", Categorical::logits(moves[0])),
              x0 = model.sample("x0", Categorical::logits(more[0]));
  const Plate tone = model.plate("tone", 4);
  model.markov(model.chain("t", 2), {w0, x0}, [&](const Values& before) {
    const Value w = model.sample("w", Categorical::logits(Value(moves)[before[0]]));
    const Value x = model.sample("x", Categorical::logits(Value(more)[before[1]]));
    model.observe("note", Bernoulli::logits(Value(tones, {tone})[{w, x}]), notes, {tone});
    return Values{w, x};
  });
  at::Tensor message = moves[0].log_softmax(0).unsqueeze(1) + more[0].log_softmax(0);
  for (int t = 0; t < 2; ++t) {
    message = at::logsumexp(message.reshape({2, 3, 1, 1}) + moves.log_softmax(1).reshape({2, 1, 2, 1}) +
                                more.log_softmax(1).reshape({1, 3, 1, 3}),
                            {0, 1});
    const at::Tensor on = notes[t].reshape({4, 1, 1}) == 1;
    message = message + at::where(on, at::log_sigmoid(tones), at::log_sigmoid(-tones)).sum(0);
  }
  EXPECT_NEAR(model.log_likelihood().item<double>(), message.flatten().logsumexp(0).item<double>(), 1e-12);
}

TEST(TorchMarkov, RefusesByName) {
  Program model;
  const Plate n = model.plate("n", 2), t = model.chain("t", 3);
  const Value a = model.sample("a", Bernoulli(0.5)), b = model.sample("b", Bernoulli(0.5), {n});
  const auto same = [&](const Values& before) { return before; };
  EXPECT_THROW((void)model.markov(n, {a}, same), OptionError);
  EXPECT_THROW((void)model.markov(t, {b}, same), PlateError);
  EXPECT_THROW((void)model.markov(t, {0.5 * a}, same), OptionError);
  EXPECT_THROW((void)model.markov(t, {a}, [&](const Values&) { return Values{}; }), OptionError);
  EXPECT_THROW((void)model.chain("u", 3, {.batch = at::tensor({0})}), OptionError);
  Program other;
  const Value s = other.sample("s", Bernoulli(0.5));
  EXPECT_THROW((void)other.markov(other.chain("t", 3), {s},
                                  [&](const Values&) { return Values{other.sample("x", Bernoulli(0.5 * s))}; }),
               PlateError);
}

}  // namespace
}  // namespace plated::torch
