// Schedules of questions: their steps are in order, and wide contractions go through matrix products.
#include "adjoint/reverse.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "adjoint/questions.hpp"
#include "base/random.hpp"
#include "engine/run.hpp"
#include "planner/passes.hpp"

namespace plated {
namespace {

using planner::Schedule;
using planner::Step;
using planner::Value;

/// A triangle: m[a, b] = Σ_c g[b, c] h[c, a] is a matrix product, in each slice of plate i if there is one.
struct Triangle {
  Semiring semiring = Semiring::log;
  bool tied = false;         // g and h are the same in every slice
  std::int64_t batches = 0;  // 0: no batch dim
  std::int64_t slices = 2;
  std::int64_t states = 12;

  [[nodiscard]] FactorGraph graph() const {
    const std::string n = batches > 0 ? "n" : "", i = tied ? "(i)" : "i";
    std::vector<std::vector<std::int64_t>> shapes(3, {states, states});
    for (std::size_t k = 0; k < 3; ++k) {
      if (!tied && k > 0) shapes[k].insert(shapes[k].begin(), slices);
      if (batches > 0) shapes[k].insert(shapes[k].begin(), batches);
    }
    return FactorGraph::from_equation(n + "ab," + n + i + "bc," + n + i + "ca->", shapes,
                                      {.plates = "i", .batch = n, .sizes = {{"i", slices}}});
  }
  [[nodiscard]] Schedule schedule(bool nonnegative = true) const {
    return adjoint::gradient_schedule(adjoint::forward(graph(), {}), 1,
                                      {.semiring = semiring, .nonnegative = nonnegative, .wanted = {true, true, true}});
  }
};

template <class Kind>
bool has_kind(const Schedule& schedule) {
  return std::any_of(schedule.steps.begin(), schedule.steps.end(), [](const Step& s) { return s.is<Kind>(); });
}

/// Whether a mass over what was summed goes into a contraction in log space.
bool has_log_matrix_product(const Schedule& schedule) {
  return std::any_of(schedule.steps.begin(), schedule.steps.end(), [](const Step& s) {
    return s.is<planner::LogMass>() && s.inputs.size() == 2;  // with a normaliser
  });
}

/// Every input is an operand or written before; only what accumulates writes a value again.
void expect_in_order(const Schedule& schedule) {
  std::vector<bool> written(schedule.values.size(), false);
  for (planner::ValueId v = 0; v < written.size(); ++v) written[v] = schedule.values[v].kind == Value::Kind::operand;
  for (const Step& step : schedule.steps) {
    for (const planner::ValueId v : step.inputs)
      EXPECT_TRUE(written[v]) << "value " << v << " is read before it is written";
    EXPECT_EQ(written[step.output], accumulates(step)) << "value " << step.output;
    written[step.output] = true;
  }
  EXPECT_NO_THROW(planner::verify(schedule));
}

TEST(QuestionSchedules, AreInOrder) {
  for (const bool tied : {false, true}) {
    for (const std::int64_t batches : {0, 3}) {
      const Triangle triangle{.tied = tied, .batches = batches};
      const FactorGraph graph = triangle.graph();
      const Schedule total = adjoint::forward(graph::total_graph(graph), {});
      for (const Semiring semiring : {Semiring::log, Semiring::real}) {
        Triangle in_ring = triangle;
        in_ring.semiring = semiring;
        expect_in_order(in_ring.schedule());
        expect_in_order(in_ring.schedule(false));
        expect_in_order(adjoint::hessian_schedule(adjoint::forward(graph, {}), semiring));
      }
      expect_in_order(adjoint::marginal_schedule(total, 0, true, true));
      expect_in_order(adjoint::entropy_schedule(total, 0));
      expect_in_order(adjoint::expectation_schedule(total, 0, {true, false, true}));
      expect_in_order(planner::plan(graph, {.keep_sums = true, .left_out = planner::LeftOut{.of = *graph.find("i")}}));
    }
  }
}

TEST(QuestionSchedules, BringTheirOperandsAndAnswersAfterTheGraphs) {
  const Triangle triangle{.batches = 3};
  const Schedule gradient =
      adjoint::gradient_schedule(adjoint::forward(triangle.graph(), {}), 1, {.wanted = {true, false, true}});
  EXPECT_EQ(gradient.operands.size(), 3U + 1U);
  EXPECT_EQ(gradient.outputs.size(), 1U + 2U);
  const Schedule hessian = adjoint::hessian_schedule(adjoint::forward(triangle.graph(), {}), Semiring::log);
  EXPECT_EQ(hessian.operands.size(), 3U + 1U + 3U);
  EXPECT_EQ(hessian.outputs.size(), 1U + 1U + 3U);
  const Schedule marginal =
      adjoint::marginal_schedule(adjoint::forward(graph::total_graph(triangle.graph()), {}), 0, true, true);
  EXPECT_EQ(marginal.operands.size(), 3U + 1U);
  EXPECT_EQ(marginal.outputs.size(), 1U + 3U + 3U);
}

TEST(Reverse, TakesTheMatrixProductWhereLoopsOutnumberElements) {
  EXPECT_TRUE(has_log_matrix_product(Triangle{}.schedule()));
  EXPECT_FALSE(has_log_matrix_product(Triangle{.states = 3}.schedule())) << "small: weighed term by term";
  EXPECT_FALSE(has_kind<planner::LogMass>(Triangle{}.schedule(false))) << "a negative mass has no logarithm";
  EXPECT_FALSE(has_log_matrix_product(Triangle{.semiring = Semiring::real}.schedule()));
  const Schedule real = Triangle{.semiring = Semiring::real}.schedule();
  const auto sums_in_reals = [&](const Step& s) {
    return s.is<planner::Contract>() && s.as<planner::Contract>()->semiring == Semiring::real && !summed(s).empty();
  };
  EXPECT_TRUE(std::any_of(real.steps.begin(), real.steps.end(), sums_in_reals));
}

TEST(Reverse, ComputesNothingForGradientsThatNobodyWants) {
  const FactorGraph graph = Triangle{}.graph();
  const Schedule all = Triangle{}.schedule();
  const Schedule some = adjoint::gradient_schedule(adjoint::forward(graph, {}), 1, {.wanted = {true, false, false}});
  const Schedule no = adjoint::gradient_schedule(adjoint::forward(graph, {}), 1, {.wanted = {false, false, false}});
  EXPECT_LT(some.steps.size(), all.steps.size());
  EXPECT_LT(no.steps.size(), some.steps.size());
  EXPECT_FALSE(has_kind<planner::Weigh>(no));
}

/// Values and gradients by loops, from weights: one batch of Z = Σ_ab f ∏_i Σ_c g h.
class ByLoops {
 public:
  ByLoops(const Triangle& t, std::vector<std::vector<double>> weights)
      : slices_(t.slices), n_(static_cast<std::size_t>(t.states)), w_(std::move(weights)), tied_(t.tied) {
    for (const auto& w : w_) gradient.emplace_back(w.size(), 0.0L);
    std::vector<long double> m(static_cast<std::size_t>(slices_) * n_ * n_, 0);
    each([&](std::size_t i, std::size_t a, std::size_t b, std::size_t c) {
      m[(i * n_ + a) * n_ + b] += w_[1][g(i, b, c)] * w_[2][h(i, c, a)];
    });
    const auto product_but = [&](std::size_t left_out, std::size_t a, std::size_t b) {
      long double product = w_[0][a * n_ + b];
      for (std::size_t i = 0; i < static_cast<std::size_t>(slices_); ++i) {
        if (i != left_out) product *= m[(i * n_ + a) * n_ + b];
      }
      return product;
    };
    const auto all = static_cast<std::size_t>(slices_);
    for (std::size_t a = 0; a < n_; ++a) {
      for (std::size_t b = 0; b < n_; ++b) {
        z += product_but(all, a, b);
        gradient[0][a * n_ + b] = product_but(all, a, b) / w_[0][a * n_ + b];
      }
    }
    each([&](std::size_t i, std::size_t a, std::size_t b, std::size_t c) {
      const long double others = product_but(i, a, b);
      gradient[1][g(i, b, c)] += others * w_[2][h(i, c, a)];
      gradient[2][h(i, c, a)] += others * w_[1][g(i, b, c)];
    });
  }

  long double z = 0;
  std::vector<std::vector<long double>> gradient;  // by weights

 private:
  template <class F>
  void each(F visit) const {
    for (std::size_t i = 0; i < static_cast<std::size_t>(slices_); ++i) {
      for (std::size_t a = 0; a < n_; ++a) {
        for (std::size_t b = 0; b < n_; ++b) {
          for (std::size_t c = 0; c < n_; ++c) visit(i, a, b, c);
        }
      }
    }
  }
  [[nodiscard]] std::size_t g(std::size_t i, std::size_t b, std::size_t c) const {
    return ((tied_ ? 0 : i) * n_ + b) * n_ + c;
  }
  [[nodiscard]] std::size_t h(std::size_t i, std::size_t c, std::size_t a) const { return g(i, c, a); }

  std::int64_t slices_;
  std::size_t n_;
  std::vector<std::vector<double>> w_;
  bool tied_;
};

template <class T>
void expect_loops(const Triangle& triangle, bool nonnegative) {
  SCOPED_TRACE(std::string(name(triangle.semiring)) + (triangle.tied ? " tied" : "") + " batches " +
               std::to_string(triangle.batches) + " " + std::string(name(dtype_of<T>)));
  const FactorGraph graph = triangle.graph();
  const Schedule schedule = triangle.schedule(nonnegative);
  base::Random random(7);
  const std::size_t batches = triangle.batches > 0 ? static_cast<std::size_t>(triangle.batches) : 1;
  std::vector<Tensor> operands, outputs;
  std::vector<std::vector<double>> weights;
  const bool log = triangle.semiring == Semiring::log;
  std::vector<std::vector<std::int64_t>> shapes;
  for (const Factor& factor : graph.factors()) {
    std::vector<std::int64_t>& shape = shapes.emplace_back();
    std::int64_t elements = 1;
    for (const DimId d : factor.dims) {
      shape.push_back(graph.dims()[d].size);
      elements *= shape.back();
    }
    std::vector<T> entries;
    for (std::int64_t k = 0; k < elements; ++k) entries.push_back(static_cast<T>(4 * random.uniform() - 2));
    if (!log) {
      for (T& x : entries) x = std::exp(x) / 4;
    }
    operands.push_back(Tensor::of(shape, entries));
    auto& w = weights.emplace_back();
    for (const double x : operands.back().values()) w.push_back(log ? std::exp(x) : x);
  }
  const Tensor one = Tensor::scalar(1.0);
  const Tensor::Shape total = triangle.batches > 0 ? Tensor::Shape{triangle.batches} : Tensor::Shape{};
  operands.push_back(one.broadcast(total));
  outputs.emplace_back(dtype_of<T>, total);
  for (const auto& shape : shapes) outputs.emplace_back(dtype_of<T>, shape);
  engine::Workspace workspace;
  engine::run(schedule, outputs, operands, workspace, {.semiring = triangle.semiring});

  const double tolerance = std::is_same_v<T, float> ? 2e-5 : 1e-11;
  for (std::size_t n = 0; n < batches; ++n) {
    std::vector<std::vector<double>> mine;
    for (const auto& w : weights) {
      const std::size_t each = w.size() / batches;
      mine.emplace_back(w.begin() + static_cast<std::ptrdiff_t>(n * each),
                        w.begin() + static_cast<std::ptrdiff_t>((n + 1) * each));
    }
    const ByLoops loops(triangle, mine);
    const auto z = static_cast<double>(log ? std::log(loops.z) : loops.z);
    EXPECT_NEAR(outputs[0].values()[n], z, tolerance * std::abs(z));
    for (std::size_t f = 0; f < 3; ++f) {
      const std::vector<double> got = outputs[1 + f].values();
      double largest = 0, worst = 0;
      for (std::size_t k = 0; k < mine[f].size(); ++k) {
        // d log Z / d log w = w / Z · dZ / dw
        const auto want = static_cast<double>(log ? loops.gradient[f][k] * mine[f][k] / loops.z : loops.gradient[f][k]);
        largest = std::max(largest, std::abs(want));
        worst = std::max(worst, std::abs(got[n * mine[f].size() + k] - want));
      }
      EXPECT_LE(worst, tolerance * largest) << "gradient " << f << ", batch " << n;
    }
  }
}

TEST(Reverse, GradientsOfWideMatrixProductsAreThoseOfLoops) {
  for (const Semiring semiring : {Semiring::log, Semiring::real}) {
    for (const bool tied : {false, true}) {
      for (const std::int64_t batches : {0, 1, 3}) {
        for (const std::int64_t states : {3, 12, 17}) {
          const Triangle triangle{.semiring = semiring, .tied = tied, .batches = batches, .states = states};
          expect_loops<double>(triangle, true);
          expect_loops<float>(triangle, true);
          expect_loops<double>(triangle, false);
        }
      }
    }
  }
}

TEST(Reverse, GradientsOfASingleSliceAndOfMany) {
  for (const Semiring semiring : {Semiring::log, Semiring::real}) {
    for (const std::int64_t slices : {1, 5}) {
      expect_loops<double>({.semiring = semiring, .tied = false, .slices = slices}, true);
      expect_loops<double>({.semiring = semiring, .tied = true, .slices = slices}, true);
    }
  }
}

}  // namespace
}  // namespace plated
