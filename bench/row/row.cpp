// Times a row of variables as one plain einsum, value and gradient, against handwritten forward–backward; one thread.
//
//   bench_row [--quick] [--length N] [--domain N] [--milliseconds N] [--json FILE]
//
// Results are checked before they are timed; a wrong one ends the program.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "common/arguments.hpp"
#include "common/json.hpp"
#include "common/machine.hpp"
#include "common/program.hpp"
#include "row/chain.hpp"
#include "row/forward_backward.hpp"
#include "workload/timing.hpp"

namespace {

using bench::Json;
using plated::Tensor;

// At most so many times the faster of the hand-written loops.
constexpr double target = 2;

std::vector<Tensor> memory_for_gradients(const bench::Chain& chain) {
  std::vector<Tensor> memory;
  for (const Tensor& factor : chain.factors) memory.emplace_back(factor.dtype(), factor.shape());
  return memory;
}

/// The largest error of a probability. Throws std::runtime_error where it, or that of log Z, is more than float32
/// messages of log Z's magnitude can have.
double checked_error(const char* what, double log_total, const std::vector<Tensor>& gradients,
                     const bench::ChainPosterior& expected) {
  double error = 0;
  for (std::size_t f = 0; f < gradients.size(); ++f) {
    const std::vector<double> found = gradients[f].values();
    for (std::size_t n = 0; n < found.size(); ++n) {
      const double difference = std::abs(found[n] - expected.factors[f][n]);
      error = difference <= error ? error : difference;  // NaN stays
    }
  }
  const double ulp = std::abs(expected.log_total) * 0x1p-23;
  const double allowed = 32 * ulp;
  if (!(error <= allowed) || !(std::abs(log_total - expected.log_total) <= allowed)) {
    throw std::runtime_error(std::string("wrong result of ") + what + ": an error of " + std::to_string(error) +
                             " in a probability, log Z " + std::to_string(log_total) + " for " +
                             std::to_string(expected.log_total));
  }
  return error;
}

double seconds_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run(int argc, const char* const* argv) {
  const bench::Arguments arguments(argc, argv, {"--length", "--domain", "--milliseconds", "--json"}, {"--quick"});
  const bool quick = arguments.has("--quick");
  const bench::Chain chain(arguments.integer("--length", 1000, 2, 1000000), arguments.integer("--domain", 32, 1, 1024));
  const bench::Budget budget = {
      .seconds = 1e-3 * static_cast<double>(arguments.integer("--milliseconds", quick ? 100 : 3000, 0, 1000000)),
      .turns = quick ? 3 : 7};
  const bench::ChainPosterior expected = posterior(chain);
  const std::vector<Tensor> memory = memory_for_gradients(chain);
  plated::RunOptions options;
  options.threads = 1;
  const plated::GradientOptions into = {.cotangents = {}, .gradients = memory};

  // What the first call of a plan takes more than later ones is the planning of its reverse sweep.
  std::optional<plated::Plan> plan;
  double log_total = 0;
  const auto ask_value = [&] { log_total = plan->run(chain.factors, options).front().item(); };
  const auto ask_gradient = [&] {
    log_total = value_and_gradient(*plan, chain.factors, options, into).values.front().item();
  };
  double compile_seconds = std::numeric_limits<double>::infinity();
  double first_seconds = compile_seconds;
  for (int turn = 0; turn < 3; ++turn) {
    compile_seconds = std::min(compile_seconds, seconds_of([&] { plan.emplace(chain.compiled()); }));
    first_seconds = std::min(first_seconds, seconds_of(ask_gradient));
  }
  const double plated_error = checked_error("Plated", log_total, memory, expected);

  bench::ForwardBackward by_hand(chain);
  const double messages_error =
      checked_error("forward-backward by messages", by_hand.by_messages(memory), memory, expected);
  const double marginals_error =
      checked_error("forward-backward by marginals", by_hand.by_marginals(memory), memory, expected);

  const std::vector<double> best = best_times({ask_gradient, [&] { (void)by_hand.by_messages(memory); },
                                               [&] { (void)by_hand.by_marginals(memory); }, ask_value},
                                              budget);
  const double by_hand_seconds = std::min(best[1], best[2]);
  const double ratio = best[0] / by_hand_seconds;
  const double planning = first_seconds - best[0];

  std::printf("a row of %d variables with %d states, value and gradient, one thread\n", static_cast<int>(chain.length),
              static_cast<int>(chain.domain));
  std::printf("%-40s %12s %8s %8s %22s\n", "", "ms", "ratio", "target", "largest error of a p");
  std::printf("%-40s %12.4f %7.2f%c %8.1f %22.1e\n", "Plated", best[0] * 1e3, ratio, ratio > target ? '!' : ' ', target,
              plated_error);
  std::printf("%-40s %12.4f %8s %8s %22.1e\n", "forward-backward by messages", best[1] * 1e3, "", "", messages_error);
  std::printf("%-40s %12.4f %8s %8s %22.1e\n", "forward-backward by marginals", best[2] * 1e3, "", "", marginals_error);
  std::printf("%-40s %12.4f\n", "Plated, value alone", best[3] * 1e3);
  std::printf("%-40s %12.4f\n", "compile", compile_seconds * 1e3);
  std::printf("%-40s %12.4f\n", "planning of the gradient", planning * 1e3);

  Json report = Json::object();
  report.set("benchmark", "row").set("machine", bench::describe_machine()).set("quick", quick);
  report.set("length", chain.length).set("domain", chain.domain).set("threads", 1);
  report.set("plated_seconds", best[0]).set("plated_error", plated_error);
  report.set("by_messages_seconds", best[1]).set("by_messages_error", messages_error);
  report.set("by_marginals_seconds", best[2]).set("by_marginals_error", marginals_error);
  report.set("ratio", ratio).set("target", target).set("value_seconds", best[3]);
  report.set("compile_seconds", compile_seconds).set("planning_seconds", planning);
  if (arguments.has("--json")) bench::write_json(arguments.text("--json", ""), report);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program("bench_row", run, argc, argv); }
