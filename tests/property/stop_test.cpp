// Cancellation and progress inside of long work: every question, plated and of chains, at one thread and several.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>

#include "plated/error.hpp"
#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/random_case.hpp"

namespace plated::test {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr double slack = 10;  // instrumented code is slow
#else
constexpr double slack = 1;
#endif
// Seconds of this thread's own time: what other programs do meanwhile does not count.
constexpr double longest_gap = 0.2 * slack;
constexpr double stop_after = 0.3 * slack;

double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Callbacks that note how long a run goes on without a question, and stop it in the end.
class Observer {
 public:
  explicit Observer(bool stops = true) : stops_(stops) {}

  [[nodiscard]] RunOptions options(int threads, Semiring semiring = Semiring::log) {
    return {.semiring = semiring, .threads = threads, .cancelled = cancelled(), .progress = [this](double share) {
              EXPECT_GE(share, shares_.empty() ? 0.0 : shares_.back()) << "progress falls";
              EXPECT_LE(share, 1.0);
              shares_.push_back(share);
            }};
  }
  [[nodiscard]] std::function<bool()> cancelled() {
    return [this] {
      const double now = seconds();
      widest_ = std::max(widest_, now - last_);
      last_ = now;
      return stops_ && now - begin_ > stop_after;
    };
  }

  /// The longest time between two questions.
  [[nodiscard]] double widest() const { return std::max(widest_, seconds() - last_); }

  /// Runs what takes longer than it may, or else to its end where it may end.
  void expect_stopped(const std::string& what, const std::function<void()>& run, bool may_end = false) {
    begin_ = last_ = seconds();
    bool stopped = false;
    try {
      run();
    } catch (const CancelledError&) {
      stopped = true;
    }
    EXPECT_LT(widest(), longest_gap) << what;
    EXPECT_TRUE(stopped || may_end) << what << " was too short to be stopped: " << seconds() - begin_ << " s";
    EXPECT_TRUE(!stopped || shares_.empty() || shares_.back() < 1) << what << " was told to be done";
  }

 private:
  bool stops_;
  double begin_ = seconds();
  double last_ = begin_;
  double widest_ = 0;
  std::vector<double> shares_;
};

using Ask = std::function<void(const RunOptions&)>;

void expect_stopped(const std::string& what, const Ask& ask, Semiring semiring = Semiring::log, bool may_end = false) {
  for (const int threads : {1, 2}) {
    Observer observer;
    const RunOptions options = observer.options(threads, semiring);
    observer.expect_stopped(
        what + ", " + std::to_string(threads) + " threads", [&] { ask(options); }, may_end);
  }
}

struct Long {
  Plan plan;
  std::vector<Tensor> operands;
};

Long compiled(std::string_view equation, const std::vector<Tensor>& operands, const EquationOptions& options = {}) {
  std::vector<Tensor::Shape> shapes;
  for (const Tensor& operand : operands) shapes.push_back(operand.shape());
  return {compile(FactorGraph::from_equation(equation, shapes, options)), operands};
}

Tensor random_logs(const Tensor::Shape& shape, Dtype dtype = Dtype::float32) {
  Random random(shape.size());
  Tensor tensor(dtype, shape);
  for (std::int64_t k = 0; k < tensor.elements(); ++k) {
    const double value = random.uniform(-2, 0);
    if (dtype == Dtype::float32) {
      static_cast<float*>(tensor.mutable_data())[k] = static_cast<float>(value);
    } else {
      static_cast<double*>(tensor.mutable_data())[k] = value;
    }
  }
  return tensor;
}

/// A sum over three large variables: some 10^11 operations in one step.
const Long& triangle() {
  static const Long model = [] {
    const Tensor square = random_logs({4000, 4000});
    return compiled("ab,bc,ca->", {square, square, square});
  }();
  return model;
}

/// 10^15 slices of which no operand holds more than 10^5: each carries a plate of its own.
Long many_slices() {
  const std::int64_t n = 100'000;
  const Tensor own = random_logs({n, 2});
  const auto carrying = [&](std::size_t plate) {
    std::vector<std::size_t> axes{0, 1};
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(plate), 2);
    axes.push_back(3);
    return own.broadcast({n, n}).permuted(axes);
  };
  return compiled("ijkx,ijkx,ijkx->", {carrying(0), carrying(1), carrying(2)}, {.plates = "ijk"});
}

TEST(Stop, IsSeenInEveryQuestionOfOneLongStep) {
  const Long& m = triangle();
  const std::span<const Tensor> operands = m.operands;
  for (const Semiring semiring : {Semiring::log, Semiring::max_plus, Semiring::real}) {
    expect_stopped(
        "value", [&](const RunOptions& o) { (void)m.plan.run(operands, o); }, semiring);
  }
  expect_stopped("gradient", [&](const RunOptions& o) { (void)value_and_gradient(m.plan, operands, o); });
  expect_stopped(
      "real gradient", [&](const RunOptions& o) { (void)value_and_gradient(m.plan, operands, o); }, Semiring::real);
  expect_stopped("products", [&](const RunOptions& o) { (void)hessian_vector_product(m.plan, operands, operands, o); });
  expect_stopped("marginals", [&](const RunOptions& o) { (void)marginals(m.plan, operands, o); });
  expect_stopped("logarithms", [&](const RunOptions& o) { (void)marginals(m.plan, operands, o, {.log = true}); });
  expect_stopped("best marginals", [&](const RunOptions& o) { (void)max_marginals(m.plan, operands, o); });
  expect_stopped("entropy", [&](const RunOptions& o) { (void)entropy(m.plan, operands, o); });
  expect_stopped("expectation", [&](const RunOptions& o) { (void)expectation(m.plan, operands, operands, o); });
  expect_stopped("map", [&](const RunOptions& o) { (void)map(m.plan, operands, o); });
  expect_stopped("sample", [&](const RunOptions& o) { (void)sample(m.plan, operands, {.count = 10}, o); });
}

TEST(Stop, IsSeenAmongSlicesThatWouldNeverEnd) {
  const Long m = many_slices();
  for (const Semiring semiring : {Semiring::log, Semiring::max_plus, Semiring::real, Semiring::boolean}) {
    expect_stopped(
        std::string(name(semiring)), [&](const RunOptions& o) { (void)m.plan.run(m.operands, o); }, semiring);
  }
}

TEST(Stop, IsNotNeededWhereSlicesMerelyRepeat) {
  const std::int64_t n = 1'000'000'000'000'000;
  const Tensor once = Tensor::of<double>({2}, {-1.0, -2.0});
  const Long m = compiled("ix,ix->", {once.broadcast({n}), once.broadcast({n})}, {.plates = "i"});
  const double slice = std::log(std::exp(-2.0) + std::exp(-4.0));
  EXPECT_DOUBLE_EQ(m.plan.run(m.operands)[0].item(), slice * static_cast<double>(n));
}

TEST(Stop, IsSeenInASumOverAVariableThatNothingTellsApart) {
  const Tensor once = Tensor::of<double>({2}, {-1.0, -2.0});
  const Long m = compiled("ax,ax->", {once.broadcast({1'000'000'000'000}), once.broadcast({1'000'000'000'000})});
  expect_stopped("value", [&](const RunOptions& o) { (void)m.plan.run(m.operands, o); });
}

TEST(Stop, IsSeenInLeaveOneOutProducts) {
  // Each of 4·10^7 slices is left out once, with and without derivatives.
  const Long m = compiled("ix->", {random_logs({2}, Dtype::float64).broadcast({40'000'000})}, {.plates = "i"});
  expect_stopped("leave one out", [&](const RunOptions& o) { (void)leave_one_out(m.plan, m.operands, "i", o); });
  expect_stopped(
      "gradient", [&](const RunOptions& o) { (void)value_and_gradient(m.plan, m.operands, o); }, Semiring::real);
}

TEST(Stop, IsSeenWhileSamplesAreDrawn) {
  // Row by row: each draw weighs 3,000 states, given one of 3,000.
  const Long rows = compiled("ab,bc->", {random_logs({3000, 3000}), random_logs({3000, 3000})});
  expect_stopped("rows", [&](const RunOptions& o) { (void)sample(rows.plan, rows.operands, {.count = 400'000}, o); });
  // One row that does not fit into a tile.
  const Long long_row = compiled("a->", {Tensor::scalar(0.5).broadcast({2'000'000'000})});
  expect_stopped("a long row", [&](const RunOptions& o) { (void)sample(long_row.plan, long_row.operands, {}, o); });
  // Tables that all samples share.
  const Long tables = compiled("ia,iab->", {random_logs({8, 8}), random_logs({8, 8, 8})}, {.plates = "i"});
  expect_stopped("tables", [&](const RunOptions& o) {
    for (;;)
      (void)sample(tables.plan, tables.operands, {.count = 2'000'000},
                   {.threads = o.threads, .cancelled = o.cancelled});
  });
}

/// A hidden Markov model; all slices observe the same, which takes no memory.
Long hidden_markov_model(std::int64_t slices, std::int64_t states) {
  const Tensor seen = random_logs({states}).broadcast({slices});
  return compiled("a, (t) a b, t b ->", {random_logs({states}), random_logs({states, states}), seen},
                  {.chains = {{"t", {"a->b"}}}});
}

/// Slices that are no hidden Markov model's: the matrix varies, and a plate lies inside.
Long unlike_slices(std::int64_t slices, std::int64_t states) {
  const Tensor moves = random_logs({states, states}).broadcast({slices});
  const Tensor seen = random_logs({3, states}).broadcast({slices});
  return compiled("a, t a b, t j b ->", {random_logs({states}), moves, seen},
                  {.plates = "j", .chains = {{"t", {"a->b"}}}});
}

TEST(Stop, IsSeenInAScanThatWouldNeverEnd) {
  for (const std::int64_t states : {2, 4, 5, 40}) {
    const Long m = hidden_markov_model(1'000'000'000'000, states);
    for (const Semiring semiring : {Semiring::log, Semiring::max_plus, Semiring::real}) {
      expect_stopped(
          std::to_string(states) + " states, " + std::string(name(semiring)),
          [&](const RunOptions& o) { (void)m.plan.run(m.operands, o); }, semiring);
    }
  }
}

using Questions = std::vector<std::pair<std::string, Ask>>;

/// All that can be asked of a model; its third factor is left out of slices of t, or else whole slices of i.
Questions questions_of(const Long& m) {
  const std::span<const Tensor> operands = m.operands;
  const bool chain = !m.plan.graph().chains().empty();
  const std::vector<std::string> left_out{m.plan.graph().factors()[2].name};
  return {
      {"value", [&, operands](const RunOptions& o) { (void)m.plan.run(operands, o); }},
      {"gradient", [&, operands](const RunOptions& o) { (void)value_and_gradient(m.plan, operands, o); }},
      {"marginals", [&, operands](const RunOptions& o) { (void)marginals(m.plan, operands, o, {.factors = true}); }},
      {"logarithms", [&, operands](const RunOptions& o) { (void)marginals(m.plan, operands, o, {.log = true}); }},
      {"best marginals", [&, operands](const RunOptions& o) { (void)max_marginals(m.plan, operands, o); }},
      {"entropy", [&, operands](const RunOptions& o) { (void)entropy(m.plan, operands, o); }},
      {"expectation", [&, operands](const RunOptions& o) { (void)expectation(m.plan, operands, operands, o); }},
      {"predictive",
       [&, operands, chain, left_out](const RunOptions& o) {
         (void)leave_one_out(m.plan, operands, chain ? "t" : "i", o, chain ? left_out : std::vector<std::string>());
       }},
      {"map", [&, operands](const RunOptions& o) { (void)map(m.plan, operands, o); }},
      {"sample", [&, operands](const RunOptions& o) { (void)sample(m.plan, operands, {.count = 30}, o); }},
  };
}

void expect_every_question_stopped(const Long& m) {
  for (const auto& [what, ask] : questions_of(m)) expect_stopped(what, ask, Semiring::log, true);
  expect_stopped(
      "filtered", [&](const RunOptions& o) { (void)marginals(m.plan, m.operands, o, {.filtered = true}); },
      Semiring::log, true);
}

TEST(Stop, IsSeenInEveryQuestionAboutAChain) { expect_every_question_stopped(hidden_markov_model(1'200'000, 60)); }

TEST(Stop, IsSeenInEveryQuestionAboutSlicesOfAnyForm) { expect_every_question_stopped(unlike_slices(400'000, 20)); }

Long plated_model(std::int64_t slices, std::int64_t states) {
  return compiled("x,ixy,iy->",
                  {random_logs({states}), random_logs({slices, states, states}), random_logs({slices, states})},
                  {.plates = "i"});
}

TEST(Stop, IsAskedForThroughoutAllPhasesOfAQuestion) {
  const Long models[] = {plated_model(60'000, 20), hidden_markov_model(200'000, 24), unlike_slices(30'000, 12)};
  for (const Long& m : models) {
    for (const auto& [what, ask] : questions_of(m)) {
      for (const int threads : {1, 2}) {
        Observer observer(false);
        ask(observer.options(threads));
        EXPECT_LT(observer.widest(), longest_gap)
            << what << " of " << m.plan.graph().equation() << ", " << threads << " threads";
      }
    }
  }
}

TEST(Progress, RisesToOneInEveryQuestion) {
  const Long models[] = {plated_model(300, 40), hidden_markov_model(3000, 20), unlike_slices(300, 8)};
  for (const Long& m : models) {
    for (const auto& [what, ask] : questions_of(m)) {
      for (const int threads : {1, 2}) {
        std::vector<double> shares;
        ask({.threads = threads, .progress = [&](double share) { shares.push_back(share); }});
        ASSERT_FALSE(shares.empty()) << what;
        EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end())) << what;
        EXPECT_EQ(shares.back(), 1.0) << what;
        EXPECT_GT(shares.front(), 0.0) << what;
        EXPECT_EQ(std::count(shares.begin(), shares.end(), 1.0), 1) << what;
      }
    }
  }
}

TEST(Progress, IsToldInsideOfALongStep) {
  const Long& m = triangle();
  ASSERT_LE(m.plan.steps(), 2U);
  for (const int threads : {1, 2}) {
    std::vector<double> shares;
    const double begin = seconds();
    // A loaded machine may be slow to begin, so that the clock is only to stop a run that tells nothing.
    const RunOptions options{.threads = threads,
                             .cancelled = [&] { return shares.size() >= 3 || seconds() - begin > 40 * stop_after; },
                             .progress = [&](double share) { shares.push_back(share); }};
    EXPECT_THROW((void)m.plan.run(m.operands, options), CancelledError);
    EXPECT_GE(shares.size(), 3U) << threads << " threads";
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_LT(shares.empty() ? 0.0 : shares.back(), 1.0);
  }
}

TEST(Stop, IsSeenWhileAnOrderIsSearchedFor) {
  FactorGraph graph;
  Random random(5);
  constexpr int variables = 2000;
  for (int v = 0; v < variables; ++v) graph.variable("v" + std::to_string(v), 2);
  for (int f = 0; f < 2 * variables; ++f) {
    const auto a = random.below(variables), b = random.below(variables);
    if (a != b) graph.factor("f" + std::to_string(f), {"v" + std::to_string(a), "v" + std::to_string(b)});
  }
  graph.output({});
  for (const Search search : {Search::automatic, Search::randomised}) {
    Observer observer;
    const PlanOptions options{
        .search = search, .trials = 100'000, .questions = {{}}, .cancelled = observer.cancelled()};
    observer.expect_stopped("compile", [&] { (void)compile(graph, options); });
  }
}

}  // namespace
}  // namespace plated::test
