// Posteriors of a chain agree with naive loops in double, for any shape, layout and SIMD target.
#include "kernels/chain_posterior.hpp"

#include <gtest/gtest.h>

#include "hwy/highway.h"
#include "unit/kernels/chain_posterior_case.hpp"

namespace plated::kernels {
namespace {

using testing::Messages;
using testing::PosteriorCase;
using testing::Posteriors;
using testing::Question;
using testing::TermData;

constexpr double infinity = std::numeric_limits<double>::infinity();

std::int64_t integer(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

template <class T>
TermData<T> random_term(std::mt19937& random, const PosteriorCase<T>& c, double centre) {
  TermData<T> term;
  term.present = integer(random, 0, 2) != 0;
  if (!term.present) return term;
  const bool apart = integer(random, 0, 1) == 0;
  term.state_stride = apart ? c.rows : 1;
  term.step_stride = c.rows * c.states;
  for (std::int64_t r = 0; r < c.rows; ++r) term.row_offset.push_back(apart ? r : r * c.states);
  term.values.resize(static_cast<std::size_t>(c.rows * c.states * std::max<std::int64_t>(c.steps, 1)));
  testing::fill_random(random, Semiring::log, {.scale = 2.0, .centre = centre}, term.values);
  for (std::int64_t t = 0; t < c.steps; ++t) {
    for (std::int64_t r = 0; r < c.rows; ++r) {
      if (c.exists(t, r)) continue;
      for (std::int64_t k = 0; k < c.states; ++k) {
        term.values[static_cast<std::size_t>(t * term.step_stride + term.row_offset[static_cast<std::size_t>(r)] +
                                             k * term.state_stride)] = std::numeric_limits<T>::quiet_NaN();
      }
    }
  }
  return term;
}

/// Fills the messages that exist, the others with NaN, and returns the posteriors.
template <class T>
Posteriors fill_messages(std::mt19937& random, PosteriorCase<T>& c, bool zeros) {
  const auto size = static_cast<std::size_t>(c.steps * c.rows * c.states);
  Posteriors expected;
  expected.before.assign(size, 0.0);
  expected.after.assign(size, 0.0);
  expected.pairs.assign(static_cast<std::size_t>(c.states * c.states), 0.0);
  // A row's messages lie apart from the other rows', or among them.
  const std::int64_t pad = integer(random, 0, 3);
  const bool apart = integer(random, 0, 1) == 0;
  c.message_step = apart ? c.states + pad : c.rows * c.states;
  for (std::int64_t r = 0; r < c.rows; ++r) {
    c.message_offset.push_back(apart ? r * (c.steps + 1) * c.message_step : r * c.states);
  }
  const auto all = static_cast<std::size_t>((c.steps + 1) * c.rows * (c.states + pad));
  c.forward.assign(all, std::numeric_limits<T>::quiet_NaN());
  c.linear = integer(random, 0, 3) != 0;
  std::normal_distribution<double> normal(0.0, 1.0);
  for (std::int64_t r = 0; r < c.rows; ++r) {
    std::vector<double> start(static_cast<std::size_t>(c.states)), end(start);
    for (double& x : start) x = zeros && integer(random, 0, 3) == 0 ? -infinity : normal(random);
    for (double& x : end) x = normal(random);
    const Messages forward = testing::naive_messages(c, r, false, start);
    const Messages backward = testing::naive_messages(c, r, true, end);
    testing::add_naive(c, r, forward, backward, expected);
    const double weight = c.weight[static_cast<std::size_t>(r)];
    const auto add_mass = [&](std::size_t t, std::vector<double>& to) {
      std::vector<double> met;
      for (std::size_t k = 0; k < start.size(); ++k) met.push_back(forward[t][k] + backward[t][k]);
      const double total = testing::log_sum(met);
      for (const double x : met) to.push_back(weight == 0 ? 0.0 : weight * std::exp(x - total));
    };
    add_mass(static_cast<std::size_t>(c.steps), c.mass);
    add_mass(0, expected.first);
    if (weight == 0 && integer(random, 0, 1) == 0) continue;
    for (std::int64_t t = 0; t < c.steps; ++t) {
      if (!c.exists(t, r)) continue;
      const std::vector<double>& from = forward[static_cast<std::size_t>(t)];
      const double top = *std::max_element(from.begin(), from.end());
      for (std::int64_t k = 0; k < c.states; ++k) {
        const double log = top == -infinity ? top : from[static_cast<std::size_t>(k)] - top;
        const bool held = !c.linear || std::exp(log) >= static_cast<double>(std::numeric_limits<T>::min());
        c.forward[c.message_at(t, r) + static_cast<std::size_t>(k)] =
            held ? static_cast<T>(c.linear ? std::exp(log) : log) : T{0};
      }
    }
  }
  return expected;
}

template <class T>
PosteriorCase<T> random_case(std::mt19937& random, Posteriors& expected) {
  PosteriorCase<T> c;
  c.rows = integer(random, 0, 1) == 0 ? 1 : integer(random, 2, integer(random, 0, 2) == 0 ? 150 : 20);
  c.states = integer(random, 0, 1) == 0 ? integer(random, 1, 9) : integer(random, 10, 45);
  c.steps = integer(random, 0, 8) == 0 ? integer(random, 100, 300) : integer(random, 0, 30);
  if (c.rows * c.steps * c.states * c.states > 1000000) c.rows = 1;
  c.direction = integer(random, 0, 2) == 0 ? -1 : 1;
  c.first_step = integer(random, 0, 2) + (c.direction < 0 ? c.steps : 0);
  const bool zeros = integer(random, 0, 2) == 0;
  c.matrix.resize(static_cast<std::size_t>(c.states * c.states));
  testing::fill_random(random, Semiring::log, {.scale = 2.0, .zeros = zeros ? 0.3 : 0.0, .centre = 5.0}, c.matrix);
  // A transition that is always there keeps all rows alive.
  for (std::int64_t k = 0; k < c.states; ++k) c.matrix[static_cast<std::size_t>(k * c.states + k)] = T{4};
  // Columns that are far apart.
  if (integer(random, 0, 3) == 0) {
    for (std::int64_t a = 0; a < c.states; ++a) c.matrix[static_cast<std::size_t>(a)] -= T{12};
  }
  for (std::int64_t r = 0; r < c.rows; ++r) {
    c.weight.push_back(integer(random, 0, 4) == 0 ? 0.0 : static_cast<double>(integer(random, 1, 9)) / 4);
  }
  if (integer(random, 0, 2) == 0) {
    for (std::int64_t r = 0; r < c.rows; ++r) c.lengths.push_back(integer(random, 0, c.steps + 3));
  }
  c.source = random_term(random, c, -30.0);
  c.target = random_term(random, c, 20.0);
  expected = fill_messages(random, c, zeros && c.states > 1);
  return c;
}

/// The worst error of answers whose sum over the states is at most `scale`.
double worst_error(const std::vector<double>& expected, const std::vector<double>& got, double scale) {
  if (expected.size() != got.size()) return infinity;
  double worst = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(expected[i] - got[i]) / scale;
    worst = std::isnan(error) ? infinity : std::max(worst, error);
    if (expected[i] == 0.0 && got[i] != 0.0) worst = infinity;
  }
  return worst;
}

template <class T>
constexpr double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-13;

/// Largest expected entry, at least 1.
double scale_of(const std::vector<double>& values) {
  return values.empty() ? 1.0 : std::max(1.0, *std::max_element(values.begin(), values.end()));
}

template <class T>
void agree_with_naive(unsigned seed, int trials) {
  std::mt19937 random(seed);
  int dead = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Posteriors expected;
    const PosteriorCase<T> c = random_case<T>(random, expected);
    Question question;
    question.before = integer(random, 0, 2) != 0;
    question.after = integer(random, 0, 2) != 0;
    question.pairs = integer(random, 0, 2) != 0;
    question.states_apart = integer(random, 0, 1) == 0;
    if (sizeof(T) == 4 && integer(random, 0, 1) == 0) question.dtype = Dtype::float32;
    bool safe = false;
    const Posteriors got = testing::run_posterior_case(c, question, {}, safe);
    if (!safe) {
      // Only a start that is all zero may be refused here.
      ASSERT_TRUE(std::any_of(expected.first.begin(), expected.first.end(), [](double x) { return std::isnan(x); }))
          << "trial " << trial << " " << c.describe();
      ++dead;
      continue;
    }
    double error = worst_error(expected.first, got.first, 2.5);
    if (question.before) error = std::max(error, worst_error(expected.before, got.before, 2.5));
    if (question.after) error = std::max(error, worst_error(expected.after, got.after, 2.5));
    if (question.pairs) error = std::max(error, worst_error(expected.pairs, got.pairs, scale_of(expected.pairs)));
    ASSERT_LE(error, tolerance<T>) << "trial " << trial << " " << c.describe();
  }
  EXPECT_LT(dead, trials / 3);
}

TEST(ChainPosterior, AgreesWithNaiveLoopsInFloat32) { agree_with_naive<float>(1, 400); }

TEST(ChainPosterior, AgreesWithNaiveLoopsInFloat64) { agree_with_naive<double>(2, 400); }

template <class T>
void same_for_any_grouping(unsigned seed, int trials) {
  std::mt19937 random(seed);
  for (int trial = 0; trial < trials; ++trial) {
    Posteriors expected;
    const PosteriorCase<T> c = random_case<T>(random, expected);
    std::vector<std::int64_t> one_by_one, some;
    for (std::int64_t r = 1; r < c.rows; ++r) one_by_one.push_back(r);
    for (std::int64_t r = integer(random, 1, 40); r < c.rows; r += integer(random, 1, 40)) some.push_back(r);
    bool safe = false;
    const Posteriors whole = testing::run_posterior_case(c, {}, {}, safe);
    if (!safe) continue;
    for (const auto& cuts : {one_by_one, some, {}}) {
      const Posteriors parts = testing::run_posterior_case(c, {}, cuts, safe);
      ASSERT_TRUE(safe);
      ASSERT_EQ(whole.before, parts.before) << "trial " << trial << " " << c.describe();
      ASSERT_EQ(whole.after, parts.after) << "trial " << trial << " " << c.describe();
      ASSERT_EQ(whole.first, parts.first) << "trial " << trial << " " << c.describe();
      if (cuts.empty()) {
        ASSERT_EQ(whole.pairs, parts.pairs) << "trial " << trial << " " << c.describe();
      }
      ASSERT_LE(worst_error(whole.pairs, parts.pairs, scale_of(whole.pairs)), tolerance<T>) << c.describe();
    }
  }
}

TEST(ChainPosterior, HasTheSameBitsForAnyGroupingOfRows) {
  same_for_any_grouping<float>(3, 100);
  same_for_any_grouping<double>(4, 100);
}

/// One step that leaves states as they are, after which the first or the last state has all of the mass.
PosteriorCase<float> one_step(std::int64_t states, bool last) {
  PosteriorCase<float> c;
  c.states = states;
  c.steps = 1;
  c.message_step = states;
  c.message_offset = {0};
  c.matrix.assign(static_cast<std::size_t>(states * states), static_cast<float>(-infinity));
  for (std::int64_t k = 0; k < states; ++k) c.matrix[static_cast<std::size_t>(k * states + k)] = 0.0f;
  c.forward.assign(static_cast<std::size_t>(states), 1.0f);
  c.mass.assign(static_cast<std::size_t>(states), 0.0);
  (last ? c.mass.back() : c.mass.front()) = 1.0;
  return c;
}

TEST(ChainPosterior, RefusesMassWhereHardlyAnyWasPredicted) {
  for (const std::int64_t states : {2, 3, 8, 9, 32, 100}) {
    for (const bool last : {false, true}) {
      PosteriorCase<float> c = one_step(states, last);
      const std::vector<double> mass = c.mass;
      float& message = last ? c.forward.back() : c.forward.front();
      bool safe = false;
      for (const float held : {1.0f, 1e-15f}) {
        message = held;
        const Posteriors got = testing::run_posterior_case(c, {}, {}, safe);
        EXPECT_TRUE(safe) << states;
        for (std::size_t k = 0; k < mass.size(); ++k) EXPECT_NEAR(got.before[k], mass[k], 1e-6) << states;
      }
      for (const float lost : {1e-25f, 0.0f}) {
        message = lost;
        (void)testing::run_posterior_case(c, {}, {}, safe);
        EXPECT_FALSE(safe) << states;
      }
      c.mass.assign(c.mass.size(), 0.0);
      const Posteriors got = testing::run_posterior_case(c, {}, {}, safe);
      EXPECT_TRUE(safe) << states;
      EXPECT_EQ(got.before, c.mass);
    }
  }
}

TEST(ChainPosterior, RefusesWhatIsNoMass) {
  for (const double wrong : {-1e-3, static_cast<double>(NAN), infinity}) {
    PosteriorCase<float> c = one_step(3, true);
    c.mass[1] = wrong;
    bool safe = true;
    (void)testing::run_posterior_case(c, {}, {}, safe);
    EXPECT_FALSE(safe) << wrong;
  }
}

/// Rounding adds up in no direction: as much mass arrives as has left.
TEST(ChainPosterior, KeepsTheMassOfALongChain) {
  for (const std::int64_t states : {2, 5, 16, 40}) {
    PosteriorCase<float> c = one_step(states, false);
    c.steps = 100000;
    c.message_step = 0;
    for (std::size_t k = 0; k < c.matrix.size(); ++k) c.matrix[k] = -0.1f * static_cast<float>(1 + k * k % 7);
    for (std::size_t k = 0; k < c.forward.size(); ++k) c.forward[k] = 1.0f / static_cast<float>(1 + k);
    bool safe = false;
    const Posteriors got = testing::run_posterior_case(c, {.before = false, .after = false}, {}, safe);
    ASSERT_TRUE(safe);
    double first = 0, pairs = 0;
    for (const double x : got.first) first += x;
    for (const double x : got.pairs) pairs += x / static_cast<double>(c.steps);
    EXPECT_NEAR(first, 1.0, 2e-6) << states;
    EXPECT_NEAR(pairs, 1.0, 2e-6) << states;
  }
}

class ChainPosteriorOnEveryTarget : public ::testing::Test {
 protected:
  static void use(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  void TearDown() override { use(0); }
};

TEST_F(ChainPosteriorOnEveryTarget, AgreesWithNaiveLoops) {
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    use(target);
    SCOPED_TRACE(hwy::TargetName(target));
    agree_with_naive<float>(5, 60);
    agree_with_naive<double>(6, 60);
    same_for_any_grouping<float>(7, 30);
  }
}

}  // namespace
}  // namespace plated::kernels
