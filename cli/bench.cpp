// `plated bench`: the runtime figure of [TVE] Sec. 6 on this machine, every answer checked before it is timed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <thread>

#include "chart.hpp"
#include "commands.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "json.hpp"
#include "paper_model.hpp"
#include "plated/plated.hpp"
#include "progress.hpp"
#include "quantities.hpp"
#include "version.hpp"

namespace plated::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t most_checked = 8;  // the largest size at which answers are also computed by hand

/// One size of the model with a call for each question, which keeps its answer.
struct Questions {
  Questions(std::int64_t size, int threads)
      : factors(paper_factors(size)), plan(compile(paper_equation, factors, {.plates = "ij"})) {
    options.threads = threads;
    for (const Tensor& factor : factors) into.gradients.emplace_back(factor.dtype(), factor.shape());
    calls = {{"value", [this] { value = plan.run(factors, options).front(); }},
             {"gradient", [this] { gradient = value_and_gradient(plan, factors, options, into); }},
             {"marginals", [this] { posterior = marginals(plan, factors, options); }},
             {"MAP", [this] { found = map(plan, factors, options); }},
             {"sample", [this] { drawn = sample(plan, factors, {.count = 1}, options); }}};
  }

  std::vector<Tensor> factors;
  Plan plan;
  RunOptions options;
  GradientOptions into;  // memory that is there before: else its allocation would be timed
  std::vector<std::pair<std::string, std::function<void()>>> calls;
  Tensor value;
  ValueAndGradient gradient;
  Marginals posterior;
  MapResult found;
  std::map<std::string, Integers> drawn;
};

void require_close(const std::string& what, double found, double expected, double tolerance) {
  if (std::abs(found - expected) <= tolerance * std::max(1.0, std::abs(expected))) return;  // false for NaN
  throw std::runtime_error(fmt::format("wrong {}: {}, where {} is right", what, found, expected));
}

/// Holds the answers against those by hand, and samples against the marginal of a.
void check(const Questions& asked) {
  const PaperAnswers right = paper_answers(asked.factors);
  require_close("value", asked.value.item(), right.ln_z, 1e-5);
  require_close("value beside the gradient", asked.gradient.values.front().item(), right.ln_z, 1e-5);
  require_close("score", asked.found.score.item(), right.ln_best, 1e-5);
  constexpr std::int64_t draws = 2000;
  const auto many = sample(asked.plan, asked.factors, {.count = draws, .seed = 1}, asked.options).at("a").values;
  for (std::int64_t a = 0; a < paper_domain; ++a) {
    const double p = right.marginal[static_cast<std::size_t>(a)];
    require_close("marginal", asked.posterior.variables.at("a").at({a}), p, 1e-4);
    require_close("gradient", asked.into.gradients.front().at({a}), p, 1e-4);
    const double share = static_cast<double>(std::count(many.begin(), many.end(), a)) / draws;
    require_close("share of samples", share, p, 6 * std::sqrt(p * (1 - p) / draws) + 1e-3);
  }
}

double seconds_of(const std::function<void()>& call) {
  const auto begin = Clock::now();
  call();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The best time of each call: they take turns, so that what disturbs the machine disturbs all of them.
std::vector<double> best_times(const Questions& asked, double budget) {
  std::vector<double> best(asked.calls.size(), std::numeric_limits<double>::infinity());
  const auto begin = Clock::now();
  for (int turn = 0; turn < 3 || std::chrono::duration<double>(Clock::now() - begin).count() < budget; ++turn) {
    for (std::size_t k = 0; k < best.size(); ++k) best[k] = std::min(best[k], seconds_of(asked.calls[k].second));
  }
  return best;
}

std::string times_json(const std::vector<Curve>& curves, int threads) {
  std::string text = fmt::format("{{\"plated\": {}, \"equation\": {}, \"domain\": {}, \"threads\": {}, \"seconds\": {{",
                                 json::text(version), json::text(paper_equation), paper_domain, threads);
  for (const Curve& curve : curves) {
    text += (&curve == curves.data() ? "\n  " : ",\n  ") + json::text(curve.name) + ": {";
    for (const auto& point : curve.points) {
      text += fmt::format("{}\"{:.0f}\": {}", &point == curve.points.data() ? "" : ", ", point.first,
                          json::number(point.second));
    }
    text += "}";
  }
  return text + "}}\n";
}

}  // namespace

int bench(const Bench& wanted, const Common& common) {
  const std::int64_t largest = wanted.largest.value_or(wanted.quick ? 16 : 128);
  const double budget = wanted.quick ? 0.02 : 1.0;
  const int threads = common.threads > 0 ? common.threads : static_cast<int>(std::thread::hardware_concurrency());
  const std::string about = fmt::format("{} with plates i, j; {} states per variable; log space, float32; {}",
                                        paper_equation, paper_domain, counted(threads, "thread"));
  deliver(about + "\nAnswers are checked by hand up to I = J = " + std::to_string(most_checked) + ". Best times:\n\n",
          "");

  std::vector<Curve> curves;
  for (std::int64_t size = 1; size <= largest; size *= 2) {
    auto progress = std::make_unique<Progress>(fmt::format("timing I = J = {}", size), common.quiet);
    const Questions asked(size, threads);
    for (const auto& [name, call] : asked.calls) call();  // plans the question, and warms up
    if (size <= most_checked) check(asked);
    const std::vector<double> times = best_times(asked, budget);
    progress.reset();
    std::string row = size == 1 ? fmt::format("{:>7}", "I = J") : "";
    if (size == 1) {
      for (const auto& [name, call] : asked.calls) row += fmt::format("{:>12}", name);
      row += "\n";
    }
    row += fmt::format("{:>7}", size);
    curves.resize(times.size());
    for (std::size_t k = 0; k < times.size(); ++k) {
      curves[k].name = asked.calls[k].first;
      curves[k].points.emplace_back(static_cast<double>(size), times[k]);
      row += fmt::format("{:>12}", seconds(times[k]));
    }
    deliver(row + "\n", "");
  }
  if (!wanted.json.empty()) deliver(times_json(curves, threads), wanted.json);
  if (!wanted.figure.empty()) {
    deliver(chart_svg({.title = "Runtimes of the model of [TVE] Fig. 4",
                       .subtitle = about,
                       .across = "plate sizes I = J",
                       .curves = curves}),
            wanted.figure);
  }
  return answered;
}

}  // namespace plated::cli
