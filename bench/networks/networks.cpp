// Solves networks from files: times loading, ln Z, all marginals and MAP, and reports the answers' errors against
// references.
//
//   bench_networks FOLDER [--only NAMES] [--tasks pr,mar,map] [--threads N] [--seconds S] [--memory-gib G] [--json
//   FILE]
//
// Each answer is computed once, and again while that takes less than half a second, the best time counts; one that
// takes more than --seconds, 60 if it is not given, is stopped, one that needs more than --memory-gib, 8, is not begun.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "common/arguments.hpp"
#include "common/json.hpp"
#include "common/machine.hpp"
#include "common/program.hpp"
#include "plated/error.hpp"
#include "plated/solve.hpp"
#include "reference.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Limits {
  int threads = 1;
  double seconds = 60;
  std::int64_t bytes = 0;
};

/// The time of an answer and its error, or why there is none.
struct Outcome {
  double milliseconds = 0;
  double error = 0;
  std::string refused;
};

/// `answer` computes, and returns how far it is from the reference.
Outcome timed(const Limits& limits, const std::function<double(const plated::SolveOptions&)>& answer) {
  Outcome outcome{.milliseconds = 1e300};
  const Clock::time_point begun = Clock::now();
  try {
    do {
      const Clock::time_point start = Clock::now();
      plated::SolveOptions options{.threads = limits.threads, .memory_limit = limits.bytes};
      options.cancelled = [&] { return seconds_since(start) > limits.seconds; };
      outcome.error = answer(options);
      outcome.milliseconds = std::min(outcome.milliseconds, 1e3 * seconds_since(start));
    } while (seconds_since(begun) < 0.5);
  } catch (const plated::MemoryLimitError& error) {
    char text[64];
    std::snprintf(text, sizeof text, "needs %.3g GiB", static_cast<double>(error.bytes_needed()) / (1 << 30));
    outcome.refused = text;
  } catch (const plated::CancelledError&) {
    outcome.refused = "longer than " + std::to_string(static_cast<int>(limits.seconds)) + " s";
  }
  return outcome;
}

/// Relative to the larger of 1 and |ln Z|, as scores are to be right.
double score_error(double value, const std::optional<double>& known) {
  return known ? std::abs(value - *known) / std::max(1.0, std::abs(*known)) : 0.0;
}

double marginal_error(const bench::Instance& instance, const plated::Model& model,
                      const std::map<std::string, plated::Tensor>& marginals) {
  double worst = 0;
  for (const auto& [variable, posterior] : marginals) {
    const auto known = instance.marginals.find(plated::label(model, variable));
    if (known == instance.marginals.end()) continue;
    const std::vector<double> values = posterior.values();
    for (std::size_t s = 0; s < values.size(); ++s) worst = std::max(worst, std::abs(values[s] - known->second.at(s)));
  }
  return worst;
}

void show(const Outcome& outcome) {
  if (outcome.refused.empty()) {
    std::printf(" %10.2f %8.1e", outcome.milliseconds, outcome.error);
  } else {
    std::printf(" %19s", outcome.refused.c_str());
  }
  std::fflush(stdout);
}

bench::Json row_of(const Outcome& outcome) {
  bench::Json row = bench::Json::object();
  if (!outcome.refused.empty()) return std::move(row.set("refused", outcome.refused));
  return std::move(row.set("milliseconds", outcome.milliseconds).set("error", outcome.error));
}

bench::Json measure(const bench::Instance& instance, const Limits& limits, const std::vector<std::string>& tasks) {
  const Clock::time_point start = Clock::now();
  const plated::Model model = bench::load(instance);
  const double load = 1e3 * seconds_since(start);
  std::printf("%-22s %6zu %9.2f", instance.name.c_str(), plated::variables(model).size(), load);
  bench::Json row = bench::Json::object();
  row.set("name", instance.name).set("variables", plated::variables(model).size()).set("load_milliseconds", load);
  const auto ask = [&](const char* task, const std::function<double(const plated::SolveOptions&)>& answer) {
    if (std::find(tasks.begin(), tasks.end(), task) == tasks.end()) return;
    const Outcome outcome = timed(limits, answer);
    show(outcome);
    row.set(task, row_of(outcome));
  };
  ask("pr", [&](const plated::SolveOptions& options) {
    return score_error(plated::log_partition(model, options).item(), instance.ln_z);
  });
  ask("mar", [&](const plated::SolveOptions& options) {
    return marginal_error(instance, model, plated::marginals(model, options));
  });
  ask("map", [&](const plated::SolveOptions& options) {
    return score_error(plated::map(model, options).score.item(), instance.ln_map);
  });
  std::printf("\n");
  return row;
}

int run(int argc, char** argv) {
  const bench::Arguments arguments(
      argc, argv, {"--only", "--tasks", "--threads", "--seconds", "--memory-gib", "--json"}, {}, {"FOLDER"});
  const Limits limits{.threads = static_cast<int>(arguments.integer("--threads", 1, 1, 1024)),
                      .seconds = static_cast<double>(arguments.integer("--seconds", 60, 1, 86400)),
                      .bytes = arguments.integer("--memory-gib", 8, 1, 1 << 20) << 30};
  const std::vector<std::string> only = arguments.list("--only", "");
  const std::vector<std::string> tasks = arguments.list("--tasks", "pr,mar,map");
  std::printf("%-22s %6s %9s", "network", "vars", "load ms");
  for (const std::string& task : tasks) std::printf(" %7s ms    error", task.c_str());
  std::printf("\n");
  bench::Json rows = bench::Json::array();
  for (const bench::Instance& instance : bench::instances_of(arguments.word(0))) {
    const std::string network = instance.file.stem().string();
    const bool wanted = only.empty() || std::find(only.begin(), only.end(), instance.name) != only.end() ||
                        std::find(only.begin(), only.end(), network) != only.end();
    if (wanted) rows.push(measure(instance, limits, tasks));
  }
  if (arguments.has("--json")) {
    bench::Json document = bench::Json::object();
    document.set("machine", bench::describe_machine()).set("threads", limits.threads).set("networks", std::move(rows));
    bench::write_json(arguments.text("--json", ""), document);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program("bench_networks", run, argc, argv); }
