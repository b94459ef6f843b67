// Times the questions of the reverse sweep against the size of the plates: the curves of [TVE] Fig. 5.
#include <cstdio>
#include <functional>
#include <optional>
#include <string_view>

#include "paper_model/roofline.hpp"
#include "paper_model/sections.hpp"
#include "workload/adjoint_checks.hpp"

namespace bench {
namespace {

struct Question {
  const char* name;
  double target;  // at most so many times the roofline; 0: none
};

const std::vector<Question> questions = {
    {"value", 1.25}, {"gradient", 3}, {"marginals", 2.5}, {"map", 0.9}, {"sample", 1.6}};

/// From plates of 32 on. MAP's is for one thread: it computes no exponentials, so that two wait for memory.
double target(const Question& question, std::int64_t size, int threads) {
  if (size < 32) return 0;
  return std::string_view(question.name) == "map" && threads > 1 ? 0 : question.target;
}

void push_curves(const Settings& settings, const TreeModel& model, AdjointRunner& runner, int threads, Json& rows) {
  const std::int64_t size = model.sizes().i;
  std::vector<std::function<void()>> runners = {[&] { runner.ask_value(); }, [&] { runner.ask_gradient(); },
                                                [&] { runner.ask_marginals(); }, [&] { runner.ask_map(); },
                                                [&] { runner.ask_samples(1); }};
  std::optional<Roofline> roofline;
  volatile double sink = 0;  // so that the bare loop is not dropped
  if (Roofline::fits(model.sizes())) {
    roofline.emplace(model, threads);
    runners.emplace_back([&] { sink = roofline->log_sum_exps(); });
  }
  Budget budget = settings.budget;
  budget.seconds *= 3;  // for six figures
  const std::vector<double> best = best_times(runners, budget);
  std::printf("%7d %6d ", threads, static_cast<int>(size));
  for (std::size_t q = 0; q < questions.size(); ++q) {
    Json row = Json::object();
    row.set("question", questions[q].name).set("threads", threads).set("size", size).set("seconds", best[q]);
    std::printf(" %10.4f", best[q] * 1e3);
    if (roofline) {
      const double ratio = best[q] / best.back();
      const double limit = target(questions[q], size, threads);
      row.set("roofline_seconds", best.back()).set("ratio", ratio).set("target", limit > 0 ? Json(limit) : Json());
      std::printf(" %5.2f%c", ratio, limit > 0 && ratio > limit ? '!' : ' ');
    } else {
      std::printf(" %5s ", "-");
    }
    rows.push(row);
  }
  if (roofline) std::printf(" %10.4f", best.back() * 1e3);
  std::printf("\n");
  std::fflush(stdout);
}

Json measure_curves(const Settings& settings) {
  Json rows = Json::array();
  std::printf("\ntimes in ms, ratio to the roofline; ! misses its target:");
  for (const Question& question : questions) std::printf(" %s %.2f", question.name, question.target);
  std::printf("\n%7s %6s ", "threads", "I = J");
  for (const Question& question : questions) std::printf(" %10s %5s ", question.name, "ratio");
  std::printf(" %10s\n", "roofline");
  for (std::int64_t size = 1; size <= settings.largest; size *= 2) {
    TreeModel model({settings.domain, size, size}, "bcij");
    model.fill(plated::Semiring::log);
    std::optional<Posterior> expected;
    if (size <= settings.checked) expected = posterior(model);
    const std::vector<plated::Tensor> memory = memory_for_gradients(model);
    for (const int threads : settings.threads) {
      AdjointRunner runner(model, threads, memory);
      check_adjoints(model, runner, expected, size <= 32 ? 1000 : size <= 128 ? 100 : 2);
      push_curves(settings, model, runner, threads, rows);
    }
  }
  return rows;
}

/// Many samples share the sweep that one needs.
Json measure_draws(const Settings& settings) {
  constexpr std::int64_t size = 32;
  constexpr std::int64_t count = 1000;
  constexpr double limit = 20;
  TreeModel model({settings.domain, size, size}, "bcij");
  model.fill(plated::Semiring::log);
  Json rows = Json::array();
  std::printf("\n%7s %6s %16s %16s %8s %8s\n", "threads", "I = J", "1 sample, ms", "1000, ms", "ratio", "target");
  for (const int threads : settings.threads) {
    AdjointRunner runner(model, threads, memory_for_gradients(model));
    check_adjoints(model, runner, std::nullopt, count);
    const std::vector<double> best =
        best_times({[&] { runner.ask_samples(1); }, [&] { runner.ask_samples(count); }}, settings.budget);
    const double ratio = best[1] / best[0];
    Json row = Json::object();
    row.set("threads", threads).set("size", size).set("count", count).set("one_seconds", best[0]);
    row.set("many_seconds", best[1]).set("ratio", ratio).set("target", limit);
    rows.push(row);
    std::printf("%7d %6d %16.4f %16.4f %7.2f%c %8.0f\n", threads, static_cast<int>(size), best[0] * 1e3, best[1] * 1e3,
                ratio, ratio > limit ? '!' : ' ', limit);
    std::fflush(stdout);
  }
  return rows;
}

}  // namespace

Json measure_adjoints(const Settings& settings) {
  Json found = Json::object();
  found.set("curves", measure_curves(settings)).set("draws", measure_draws(settings));
  return found;
}

}  // namespace bench
