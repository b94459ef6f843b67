// Contraction orders of UAI networks: planning time, operations and largest intermediate of each, as JSON.
//
//   bench_orders UAI_DIR [--trials N] [--seed S] [--seconds T] [--strategy NAME] [--repeat R] [--only INSTANCE]
//
// Beside the instances of the directory it orders a row of 10,000 binary variables, each with a unary and a pairwise
// factor. `log2_elimination` prices the tree's order of summation as min-fill totals are usually given,
// `min_fill_log2_flops` prices plain min-fill as all trees are priced here. `peers.py table` holds the output against
// other planners.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/json.hpp"
#include "common/program.hpp"
#include "elimination_price.hpp"
#include "planner/contraction_order.hpp"
#include "uai_network.hpp"

namespace {

using plated::planner::Network;
using plated::planner::OrderOptions;
using plated::planner::Strategy;
using plated::planner::Tree;

struct Settings {
  std::filesystem::path directory;
  OrderOptions options;
  int repeat = 1;
  std::string only;
};

Network row(std::uint32_t variables) {
  Network network;
  network.log2_size.assign(variables, 1.0);
  for (std::uint32_t v = 0; v < variables; ++v) {
    network.tensors.push_back({v});
    if (v > 0) network.tensors.push_back({v - 1, v});
  }
  return network;
}

Strategy strategy_named(const std::string& name) {
  if (name == "automatic") return Strategy::automatic;
  if (name == "optimal") return Strategy::optimal;
  if (name == "greedy") return Strategy::greedy;
  if (name == "min_fill") return Strategy::min_fill;
  if (name == "search") return Strategy::search;
  throw std::runtime_error("unknown strategy " + name);
}

Settings settings_of(const bench::Arguments& arguments) {
  Settings settings;
  OrderOptions& options = settings.options;
  settings.directory = arguments.word(0);
  options.trials = static_cast<int>(arguments.integer("--trials", options.trials, 0, std::numeric_limits<int>::max()));
  options.seed = static_cast<std::uint64_t>(arguments.integer("--seed", static_cast<std::int64_t>(options.seed), 0,
                                                              std::numeric_limits<std::int64_t>::max()));
  options.seconds = arguments.number("--seconds", options.seconds, 0, 1e9);
  if (arguments.has("--strategy")) options.strategy = strategy_named(arguments.text("--strategy", ""));
  settings.repeat = static_cast<int>(arguments.integer("--repeat", 1, 1, 1000000));
  settings.only = arguments.text("--only", "");
  return settings;
}

/// A tree is checked before its time is believed: every node but the last is used exactly once.
void check(const Network& network, const Tree& tree) {
  const std::size_t n = network.tensors.size();
  std::vector<int> used(2 * n, 0);
  bool valid = tree.merges.size() + 1 == n;
  for (std::size_t k = 0; valid && k < tree.merges.size(); ++k) {
    const auto [a, b] = tree.merges[k];
    valid = a != b && a < n + k && b < n + k && used[a]++ == 0 && used[b]++ == 0;
  }
  if (!valid) throw std::runtime_error("not a contraction tree");
}

bench::Json measured(const std::string& name, const Network& network, const Settings& settings) {
  double best = 1e300;
  Tree tree;
  for (int i = 0; i < settings.repeat; ++i) {
    // Processor time: the search has one thread, and other programs' share of the machine is none of its own.
    const std::clock_t start = std::clock();
    tree = contraction_order(network, settings.options);
    best = std::min(best, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  check(network, tree);
  const OrderOptions min_fill{Strategy::min_fill};
  bench::Json row = bench::Json::object();
  row.set("name", name).set("tensors", network.tensors.size()).set("milliseconds", best);
  row.set("log2_flops", log2_flops(network, tree)).set("log2_largest", log2_largest(network, tree));
  row.set("log2_elimination", bench::log2_elimination(network, tree));
  row.set("min_fill_log2_flops", log2_flops(network, contraction_order(network, min_fill)));
  return row;
}

int run(int argc, char** argv) {
  const Settings settings = settings_of(bench::Arguments(
      argc, argv, {"--trials", "--seed", "--seconds", "--strategy", "--repeat", "--only"}, {}, {"UAI_DIR"}));
  std::vector<std::filesystem::path> models;
  for (const auto& entry : std::filesystem::directory_iterator(settings.directory)) {
    if (entry.path().extension() == ".uai") models.push_back(entry.path());
  }
  std::sort(models.begin(), models.end());
  bench::Json instances = bench::Json::array();
  for (const std::filesystem::path& model : models) {
    if (!settings.only.empty() && model.stem() != settings.only) continue;
    instances.push(measured(model.stem().string(), bench::read_uai_network(model), settings));
  }
  bench::Json document = bench::Json::object();
  document.set("trials", settings.options.trials).set("seed", settings.options.seed).set("compiler", __VERSION__);
  document.set("instances", std::move(instances)).set("row", measured("row_10000", row(10'000), settings));
  std::printf("%s\n", document.print().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program("bench_orders", run, argc, argv); }
