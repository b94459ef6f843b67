// Times Plated on the model of [TVE] Sec. 6.4, "a,abi,bcij,adj,deij->" with plates i and j.
//
//   runtime_plated part=operations size=64 [domain=32] [seconds=1] [threads=1]    the five curves of Fig. 5
//   runtime_plated part=unrolled way=plates|copies size=8 [domain=8] [seconds=1]  planned with plates, or unrolled
//   first
//   runtime_plated part=chain …                                                   the same of a plate of chains
//
// Answers are checked before they are timed; those of the second part are printed for the peers' to be compared.
#include <cmath>
#include <fstream>
#include <functional>

#include <plated/solve.hpp>

#include "harness/program.hpp"
#include "harness/result.hpp"
#include "workload/adjoint_checks.hpp"
#include "workload/timing.hpp"

namespace experiments {
namespace {

void time_operations(Arguments& arguments, Result& result) {
  const std::int64_t size = arguments.integer("size", 1);
  const std::int64_t domain = arguments.integer("domain", 32);
  const double seconds = arguments.number("seconds", 1);
  const auto threads = static_cast<int>(arguments.integer("threads", 1));
  arguments.finish();
  bench::TreeModel model({domain, size, size}, "bcij");
  model.fill(plated::Semiring::log);
  bench::AdjointRunner runner(model, threads, memory_for_gradients(model));
  std::optional<bench::Posterior> expected;
  if (size <= 64) expected = posterior(model);
  check_adjoints(model, runner, expected, size <= 32 ? 1000 : 2);
  const std::vector<std::function<void()>> runners = {[&] { runner.ask_value(); }, [&] { runner.ask_gradient(); },
                                                      [&] { runner.ask_marginals(); }, [&] { runner.ask_samples(1); },
                                                      [&] { runner.ask_map(); }};
  const char* const names[] = {"value", "gradient", "marginals", "sample", "map"};
  const int calls = bench::calls_for_a_turn(runners[0]);
  const std::vector<double> best = bench::best_times(runners, {.seconds = seconds, .turns = 5}, calls);
  result.set("domain", domain).set("threads", std::int64_t{threads});
  result.set("flops", bench::compiled(model).cost().flops);
  for (std::size_t k = 0; k < best.size(); ++k) result.set(names[k], best[k]);
}

/// Entries are near 1 / domain, so that sums stay near 1: runtime_peers.py has the same.
plated::Tensor wave(const std::vector<std::int64_t>& shape, double seed, std::int64_t domain) {
  plated::Tensor tensor(plated::Dtype::float64, shape);
  for (std::int64_t k = 0; k < tensor.elements(); ++k) {
    tensor.data<double>()[k] = (1 + 0.2 * std::sin(1.7 * static_cast<double>(k) + seed)) / static_cast<double>(domain);
  }
  return tensor;
}

plated::Model tree(std::int64_t size, std::int64_t domain) {
  plated::FactorGraph graph;
  graph.plate("i", size);
  graph.plate("j", size);
  for (const char* name : {"a", "b", "c", "d", "e"}) graph.variable(name, domain);
  graph.factor("of a", {"a"});
  graph.factor("of ab", {"a", "b", "i"});
  graph.factor("of bc", {"b", "c", "i", "j"});
  graph.factor("of ad", {"a", "d", "j"});
  graph.factor("of de", {"d", "e", "i", "j"});
  graph.output({});
  const std::int64_t k = domain, n = size;
  return plated::make_model(graph,
                            {{"of a", wave({k}, 0, k)},
                             {"of ab", wave({k, k, n}, 1, k)},
                             {"of bc", wave({k, k, n, n}, 2, k)},
                             {"of ad", wave({k, k, n}, 3, k)},
                             {"of de", wave({k, k, n, n}, 4, k)}},
                            {.space = plated::Space::real});
}

/// Sequences of as many steps, each step with a matrix of its own.
plated::Model chains(std::int64_t size, std::int64_t domain) {
  plated::FactorGraph graph;
  graph.plate("i", size);
  graph.chain("t", size);
  for (const char* name : {"old", "x"}) graph.variable(name, domain, {"i", "t"});
  graph.link("t", "old", "x");
  graph.factor("start", {"^old", "i"});
  graph.factor("step", {"old", "x", "i", "t"});
  graph.output({});
  const std::int64_t k = domain, n = size;
  return plated::make_model(graph, {{"start", wave({k, n}, 0, k)}, {"step", wave({k, k, n, n}, 1, k)}},
                            {.space = plated::Space::real});
}

/// Kilobytes that were resident at most.
double peak_kilobytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6));
  }
  return 0;
}

void time_unrolled(Arguments& arguments, Result& result, bool of_chains) {
  const std::string way = arguments.text("way");
  const std::int64_t size = arguments.integer("size", 1);
  const std::int64_t domain = arguments.integer("domain", 8);
  const double seconds = arguments.number("seconds", 1);
  const auto threads = static_cast<int>(arguments.integer("threads", 1));
  arguments.finish();
  plated::Model model = of_chains ? chains(size, domain) : tree(size, domain);
  if (way == "copies") {
    model = unroll(model);
  } else if (way != "plates") {
    throw std::runtime_error("there is no way " + way);
  }
  const double before = peak_kilobytes();
  const Clock until_first_answer;
  const plated::Plan plan = plated::compile(model.graph);
  const plated::RunOptions options{.semiring = plated::Semiring::real, .threads = threads};
  double value = 0;
  const auto call = [&] { value = plan.run(model.factors, options)[0].item(); };
  call();
  const double first = until_first_answer.seconds();  // schedules are made when they are first needed
  const double memory = peak_kilobytes() - before;
  const double run_seconds =
      bench::best_times({call}, {.seconds = seconds, .turns = 3}, bench::calls_for_a_turn(call))[0];
  result.set("domain", domain).set("threads", std::int64_t{threads});
  result.set("factors", std::ssize(model.factors)).set("log_z", std::log(value)).set("plan", first - run_seconds);
  result.set("run", run_seconds).set("memory", 1024 * memory);
}

void run(Arguments& arguments) {
  const Clock clock;
  Result result;
  const std::string part = arguments.text("part");
  if (part != "operations" && part != "unrolled" && part != "chain") throw std::runtime_error("no part " + part);
  if (part == "operations") {
    time_operations(arguments, result);
  } else {
    time_unrolled(arguments, result, part == "chain");
  }
  result.set("seconds", clock.seconds()).print();
}

}  // namespace
}  // namespace experiments

int main(int argc, char** argv) { return experiments::run_program(argc, argv, experiments::run); }
