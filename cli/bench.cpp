// `plated bench`: the runtime figure of [TVE] Sec. 6 on this machine, every answer checked before it is timed.
#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <thread>

#include "chart.hpp"
#include "commands.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "json.hpp"
#include "plated/json.hpp"
#include "progress.hpp"
#include "quantities.hpp"
#include "version.hpp"
#include "workload/adjoint_checks.hpp"
#include "workload/reference.hpp"
#include "workload/timing.hpp"

namespace plated::cli {
namespace {

constexpr const char* equation = "a,abi,bcij,adj,deij->";
constexpr std::int64_t domain = 32;
constexpr std::int64_t most_checked = 8;  // the largest size at which answers are also computed by hand
constexpr std::int64_t checked_samples = 1000;

const std::vector<std::string> questions = {"value", "gradient", "marginals", "MAP", "sample"};

/// The best time of each question at one size of plates.
std::vector<double> timed(std::int64_t size, int threads, double budget) {
  ::bench::TreeModel model({domain, size, size}, "bcij");
  model.fill(Semiring::log);
  ::bench::AdjointRunner runner(model, threads, ::bench::memory_for_gradients(model));
  if (size <= most_checked) {
    runner.ask_value();
    ::bench::require_close("value", runner.value.item(), ::bench::reference(model, Semiring::log).log_total, 1e-5);
    ::bench::check_adjoints(model, runner, ::bench::posterior(model), checked_samples);
  }
  return ::bench::best_times(
      {[&] { runner.ask_value(); }, [&] { runner.ask_gradient(); }, [&] { runner.ask_marginals(); },
       [&] { runner.ask_map(); }, [&] { runner.ask_samples(1); }},
      {.seconds = budget, .turns = 3});
}

std::string times_json(const std::vector<Curve>& curves, int threads) {
  std::string text = fmt::format("{{\"plated\": {}, \"equation\": {}, \"domain\": {}, \"threads\": {}, \"seconds\": {{",
                                 json_string(version), json_string(equation), domain, threads);
  for (const Curve& curve : curves) {
    text += (&curve == curves.data() ? "\n  " : ",\n  ") + json_string(curve.name) + ": {";
    for (const auto& point : curve.points) {
      text += fmt::format("{}\"{:.0f}\": {}", &point == curve.points.data() ? "" : ", ", point.first,
                          json::number(point.second));
    }
    text += "}";
  }
  return text + "}}\n";
}

/// Lines of the table go to standard output, or, where that is wanted for something else, beside it.
void show(const std::string& lines, const Bench& wanted, const Common& common) {
  if (wanted.figure != "-" && wanted.json != "-") {
    deliver(lines, "");
  } else if (!common.quiet) {
    std::fputs(lines.c_str(), stderr);
  }
}

}  // namespace

int bench(const Bench& wanted, const Common& common) {
  const std::int64_t largest = wanted.largest.value_or(wanted.quick ? 16 : 128);
  const double budget = wanted.quick ? 0.02 : 1.0;
  const int threads = common.threads > 0 ? common.threads : static_cast<int>(std::thread::hardware_concurrency());
  const std::string about = fmt::format("{} with plates i, j; {} states a variable; log space, float32; {}", equation,
                                        domain, counted(threads, "thread"));
  std::string heading = fmt::format("{}\nAnswers are checked by hand up to I = J = {}. Best times:\n\n{:>7}", about,
                                    most_checked, "I = J");
  for (const std::string& question : questions) heading += fmt::format("{:>12}", question);
  show(heading + "\n", wanted, common);

  std::vector<Curve> curves;
  for (const std::string& question : questions) curves.push_back({question, {}});
  for (std::int64_t size = 1; size <= largest; size *= 2) {
    auto progress = std::make_unique<Progress>(fmt::format("timing I = J = {}", size), common.quiet);
    const std::vector<double> times = timed(size, threads, budget);
    progress.reset();
    std::string row = fmt::format("{:>7}", size);
    for (std::size_t k = 0; k < times.size(); ++k) {
      curves[k].points.emplace_back(static_cast<double>(size), times[k]);
      row += fmt::format("{:>12}", seconds(times[k]));
    }
    show(row + "\n", wanted, common);
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
