// Models that can be written in two ways: both give the same answers.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "property/chain_forward_backward.hpp"
#include "property/random_tensor.hpp"

namespace plated::test {
namespace {

constexpr double none = -std::numeric_limits<double>::infinity();

Tensor logs(const Tensor::Shape& shape, Random& random) {
  return random_tensor(Dtype::float64, shape, random, Semiring::log);
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want, double within, const char* what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t k = 0; k < got.size(); ++k) {
    ASSERT_NEAR(got[k], want[k], within) << what << " entry " << k;
  }
}

TEST(ChainModels, AHiddenMarkovModelIsItsForwardAndBackwardRecursions) {
  Random random(1);
  const std::int64_t slices = 300;
  for (const std::int64_t states : {1, 2, 7, 16}) {
    const std::vector<Tensor> operands = {logs({states}, random), logs({states, states}, random),
                                          logs({slices, states}, random)};
    const HandPosterior want = forward_backward(
        {static_cast<std::size_t>(states), operands[0].values(), operands[1].values(), operands[2].values()});
    const EinsumOptions options{.chains = {{"t", {"a->b"}}}};
    const char* equation = "a, (t) a b, t b ->";
    const Marginals got = marginals(equation, operands, options, {.ends = true});
    EXPECT_NEAR(einsum(equation, operands, options).item(), want.log_partition, 1e-9);
    EXPECT_NEAR(got.log_partition.item(), want.log_partition, 1e-9);
    expect_near(got.variables.at("a").values(), want.before, 1e-11, "a");
    expect_near(got.variables.at("b").values(), want.after, 1e-11, "b");
    const auto k = static_cast<std::ptrdiff_t>(states);
    expect_near(got.variables.at("b$").values(), {want.after.end() - k, want.after.end()}, 1e-11, "b$");
    expect_near(got.variables.at("^a").values(), {want.before.begin(), want.before.begin() + k}, 1e-11, "^a");
    expect_near(marginals(equation, operands, options, {.filtered = true}).variables.at("b").values(), want.filtered,
                1e-11, "filtered b");
    // The gradient of log Z by the emissions is the marginal of what they emit from.
    expect_near(value_and_gradient(equation, operands, options).gradients[2].values(), want.after, 1e-11, "gradient");
  }
}

/// Pairs (a, b) as one state of k² values: a pair follows another where they agree on what they share.
TEST(ChainModels, OfOrderTwoAreChainsOfPairs) {
  Random random(2);
  const std::int64_t k = 3, slices = 25, pairs = k * k;
  const Tensor prior = logs({k, k}, random), transition = logs({k, k, k}, random), emission = logs({slices, k}, random);
  std::vector<double> paired(static_cast<std::size_t>(pairs * pairs), none), emitted;
  for (std::int64_t a = 0; a < k; ++a) {
    for (std::int64_t b = 0; b < k; ++b) {
      for (std::int64_t c = 0; c < k; ++c) {
        paired[static_cast<std::size_t>((a * k + b) * pairs + b * k + c)] = transition.at({a, b, c});
      }
    }
  }
  for (std::int64_t t = 0; t < slices; ++t) {
    for (std::int64_t pair = 0; pair < pairs; ++pair) emitted.push_back(emission.at({t, pair % k}));
  }
  const std::vector<Tensor> two = {prior, transition, emission};
  const std::vector<Tensor> one = {Tensor::of<double>({pairs}, prior.values()),
                                   Tensor::of<double>({pairs, pairs}, paired),
                                   Tensor::of<double>({slices, pairs}, emitted)};
  const EinsumOptions of_two{.chains = {{"t", {"a->b", "b->c"}}}}, of_one{.chains = {{"t", {"x->y"}}}};
  const char *second = "a ^b, (t) a b c, t c ->", *first_order = "x, (t) x y, t y ->";
  EXPECT_NEAR(einsum(second, two, of_two).item(), einsum(first_order, one, of_one).item(), 1e-10);
  const Marginals p = marginals(second, two, of_two, {.sets = {{"b", "c"}}, .ends = true});
  const Marginals q = marginals(first_order, one, of_one, {.ends = true});
  expect_near(p.sets[0].values(), q.variables.at("y").values(), 1e-12, "pairs");
  for (std::int64_t c = 0; c < k; ++c) {
    double last_state = 0, first_state = 0;
    for (std::int64_t b = 0; b < k; ++b) {
      last_state += q.variables.at("y$").at({b * k + c});
      first_state += q.variables.at("^x").at({c * k + b});
    }
    EXPECT_NEAR(p.variables.at("c$").at({c}), last_state, 1e-12);
    EXPECT_NEAR(p.variables.at("^a").at({c}), first_state, 1e-12);
  }
  EXPECT_NEAR(entropy(second, two, of_two).item(), entropy(first_order, one, of_one).item(), 1e-9);
  const MapResult best_two = map(second, two, of_two), best_one = map(first_order, one, of_one);
  EXPECT_NEAR(best_two.score.item(), best_one.score.item(), 1e-10);
  for (std::size_t t = 0; t < static_cast<std::size_t>(slices); ++t) {
    EXPECT_EQ(best_two.assignment.at("c").values[t], best_one.assignment.at("y").values[t] % k);
  }
}

/// Three chains of k states that share their emissions, and one chain of k³ states.
TEST(ChainModels, OfSeveralLinksAreChainsOfTuples) {
  Random random(3);
  const std::int64_t k = 3, slices = 20, all = k * k * k;
  const Tensor f = logs({k, k}, random), g = logs({k, k}, random), h = logs({k, k}, random);
  const Tensor emission = logs({slices, k, k, k}, random), start = logs({k, k, k}, random);
  std::vector<double> joint;
  for (std::int64_t s = 0; s < all; ++s) {
    for (std::int64_t r = 0; r < all; ++r) {
      joint.push_back(f.at({s / k / k, r / k / k}) + g.at({s / k % k, r / k % k}) + h.at({s % k, r % k}));
    }
  }
  const std::vector<Tensor> apart = {start, f, g, h, emission};
  const std::vector<Tensor> together = {Tensor::of<double>({all}, start.values()),
                                        Tensor::of<double>({all, all}, joint),
                                        Tensor::of<double>({slices, all}, emission.values())};
  const EinsumOptions several{.chains = {{"t", {"a->b", "c->d", "e->f"}}}}, single{.chains = {{"t", {"x->y"}}}};
  const char *factorial = "a c e, (t) a b, (t) c d, (t) e f, t b d f ->", *flat = "x, (t) x y, t y ->";
  EXPECT_NEAR(einsum(factorial, apart, several).item(), einsum(flat, together, single).item(), 1e-10);
  const Marginals p = marginals(factorial, apart, several, {.sets = {{"b", "d", "f"}}});
  const Marginals q = marginals(flat, together, single);
  expect_near(p.sets[0].values(), q.variables.at("y").values(), 1e-12, "tuples");
  const MapResult best_apart = map(factorial, apart, several), best = map(flat, together, single);
  EXPECT_NEAR(best_apart.score.item(), best.score.item(), 1e-10);
  for (std::size_t t = 0; t < static_cast<std::size_t>(slices); ++t) {
    const auto state = [&](const char* v) { return best_apart.assignment.at(v).values[t]; };
    EXPECT_EQ((state("b") * k + state("d")) * k + state("f"), best.assignment.at("y").values[t]);
  }
}

TEST(ChainModels, RaggedSequencesAreOneRunForEach) {
  Random random(4);
  const std::int64_t k = 4, slices = 12;
  const std::vector<std::int64_t> lengths = {5, 12, 0, 1, 7};
  const std::int64_t sequences = std::ssize(lengths);
  const Tensor prior = logs({k}, random), transition = logs({k, k}, random);
  const Tensor emission = logs({sequences, slices, k}, random);
  const EinsumOptions one{.chains = {{"t", {"a->b"}}}};
  for (const bool batch : {true, false}) {
    EinsumOptions many = one;
    (batch ? many.batch : many.plates) = "n";
    many.lengths = {{"t", Integers({sequences}, lengths)}};
    const char* equation = batch ? "a, (t) a b, n t b ->" : "(n) a, (n t) a b, n t b ->";
    const std::vector<Tensor> operands = {prior, transition, emission};
    const Tensor value = einsum(equation, operands, many);
    const Marginals p = marginals(equation, operands, many, {.ends = true});
    const MapResult best = map(equation, operands, many);
    double total = 0, score = 0;
    for (std::int64_t n = 0; n < sequences; ++n) {
      const std::int64_t length = lengths[static_cast<std::size_t>(n)];
      const std::vector<double> rows = emission.select(0, n).values();
      const Tensor own = Tensor::of<double>({length, k}, std::vector<double>(rows.begin(), rows.begin() + length * k));
      const std::vector<Tensor> alone = {prior, transition, own};
      const Marginals q = marginals("a, (t) a b, t b ->", alone, one, {.ends = true});
      const MapResult path = map("a, (t) a b, t b ->", alone, one);
      total += q.log_partition.item();
      score += path.score.item();
      if (batch) {
        EXPECT_NEAR(value.at({n}), q.log_partition.item(), 1e-12) << "sequence " << n;
      }
      for (const char* v : {"a", "b"}) {
        std::vector<double> want = q.variables.at(v).values();
        want.resize(static_cast<std::size_t>(slices * k), 0);
        expect_near(p.variables.at(v).select(0, n).values(), want, 1e-13, v);
        for (std::int64_t t = 0; t < slices; ++t) {
          EXPECT_EQ(best.assignment.at(v).at({n, t}), t < length ? path.assignment.at(v).at({t}) : -1) << v << t;
        }
      }
      for (const char* v : {"^a", "b$"}) {
        expect_near(p.variables.at(v).select(0, n).values(), q.variables.at(v).values(), 1e-13, v);
      }
    }
    if (!batch) {
      EXPECT_NEAR(value.item(), total, 1e-11);
      EXPECT_NEAR(best.score.item(), score, 1e-11);
    }
  }
}

/// A random effect of each group enters every transition of its individuals ([TVE] Table 2).
TEST(ChainModels, AMixedEffectIsASumOverItsStates) {
  Random random(5);
  const std::int64_t groups = 2, individuals = 3, slices = 6, k = 3, effects = 2;
  const Tensor effect = logs({effects}, random), prior = logs({k}, random);
  const Tensor transition = logs({effects, k, k}, random), emission = logs({groups, individuals, slices, k}, random);
  const double got = einsum("(g) e, (g i) a, (g i t) e a b, g i t b ->", {effect, prior, transition, emission},
                            {.plates = "g i", .chains = {{"t", {"a->b"}}}})
                         .item();
  double want = 0;
  for (std::int64_t g = 0; g < groups; ++g) {
    std::vector<double> of_effect;
    for (std::int64_t e = 0; e < effects; ++e) {
      of_effect.push_back(effect.at({e}));
      for (std::int64_t i = 0; i < individuals; ++i) {
        of_effect.back() +=
            forward_backward({static_cast<std::size_t>(k), prior.values(), transition.select(0, e).values(),
                              emission.select(0, g).select(0, i).values()})
                .log_partition;
      }
    }
    const double most = *std::max_element(of_effect.begin(), of_effect.end());
    double sum = 0;
    for (const double x : of_effect) sum += std::exp(x - most);
    want += most + std::log(sum);
  }
  EXPECT_NEAR(got, want, 1e-10);
}

/// Whatever order dims are declared in: batch dims, plates, chains, states.
/// Sums over all axes but some of a gradient by a factor of [slices, states, states].
std::vector<double> summed_to(const Tensor& gradient, std::size_t axis) {
  const std::int64_t slices = gradient.shape()[0], rows = gradient.shape()[1], columns = gradient.shape()[2];
  std::vector<double> sums(static_cast<std::size_t>(slices * gradient.shape()[axis]), 0.0);
  const std::vector<double> values = gradient.values();
  for (std::int64_t k = 0; k < gradient.elements(); ++k) {
    const std::int64_t slice = k / rows / columns, row = k / columns % rows, column = k % columns;
    sums[static_cast<std::size_t>(slice * gradient.shape()[axis] + (axis == 1 ? row : column))] +=
        values[static_cast<std::size_t>(k)];
  }
  return sums;
}

TEST(ChainModels, OfLargeSlicesHaveTheMarginalsOfTheirGradients) {
  Random random(6);
  for (const std::int64_t states : {3, 48}) {
    const std::vector<Tensor> operands = {logs({5, states, states}, random), logs({5, states, states}, random)};
    const EinsumOptions options{.chains = {{"t", {"a->b"}}}};
    const Marginals got = marginals("t a w, t w b ->", operands, options);
    const std::vector<Tensor> gradients = value_and_gradient("t a w, t w b ->", operands, options).gradients;
    expect_near(got.variables.at("a").values(), summed_to(gradients[0], 1), 1e-11, "a");
    expect_near(got.variables.at("w").values(), summed_to(gradients[0], 2), 1e-11, "w");
    expect_near(got.variables.at("b").values(), summed_to(gradients[1], 2), 1e-11, "b");
  }
  for (const std::int64_t states : {3, 16}) {
    const std::vector<Tensor> operands = {logs({states, states}, random), logs({states, states}, random),
                                          logs({20, states, states}, random)};
    const EinsumOptions options{.chains = {{"t", {"a->b", "c->d"}}}};
    const char* equation = "(t) a b, (t) c d, t b d ->";
    const Marginals got = marginals(equation, operands, options);
    const Tensor gradient = value_and_gradient(equation, operands, options).gradients[2];
    const std::vector<double> b = summed_to(gradient, 1), d = summed_to(gradient, 2);
    expect_near(got.variables.at("b").values(), b, 1e-11, "b");
    expect_near(got.variables.at("d").values(), d, 1e-11, "d");
    const std::vector<double> a = got.variables.at("a").values(), c = got.variables.at("c").values();
    expect_near({a.begin() + states, a.end()}, {b.begin(), b.end() - states}, 1e-11, "a");
    expect_near({c.begin() + states, c.end()}, {d.begin(), d.end() - states}, 1e-11, "c");
  }
}

TEST(ChainModels, AnswersHavePlatesBeforeChains) {
  Random random(6);
  const Tensor transition = logs({2, 2}, random), emission = logs({4, 3, 5, 2}, random);
  const Marginals p = marginals("(t n) a b, t n k b ->", {transition, emission},
                                {.plates = "n", .batch = "k", .chains = {{"t", {"a->b"}}}}, {.ends = true});
  EXPECT_EQ(p.variables.at("b").shape(), (Tensor::Shape{5, 3, 4, 2}));
  EXPECT_EQ(p.variables.at("a").shape(), (Tensor::Shape{5, 3, 4, 2}));
  EXPECT_EQ(p.variables.at("b$").shape(), (Tensor::Shape{5, 3, 2}));
  EXPECT_EQ(p.log_partition.shape(), (Tensor::Shape{5}));
}

}  // namespace
}  // namespace plated::test
