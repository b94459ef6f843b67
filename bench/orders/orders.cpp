// Contraction orders of UAI networks: planning time, operations and largest intermediate of each, as JSON.
//
//   bench_orders UAI_DIR [--trials N] [--seed S] [--seconds T] [--strategy NAME] [--repeat R] [--only INSTANCE]
//
// Beside the instances of the directory it orders a row of 10,000 binary variables, each with a unary and a pairwise
// factor. `log2_elimination` prices the tree's order of summation as min-fill totals are usually given,
// `min_fill_log2_flops` prices plain min-fill as all trees are priced here. `peers.py table` holds the output against
// other planners.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

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

Settings parse(int count, char** words) {
  if (count < 2 || count % 2 != 0) throw std::runtime_error("usage: bench_orders UAI_DIR [--option value] …");
  Settings settings;
  settings.directory = words[1];
  for (int i = 2; i < count; i += 2) {
    const std::string name = words[i];
    const std::string value = words[i + 1];
    if (name == "--trials") {
      settings.options.trials = std::stoi(value);
    } else if (name == "--seed") {
      settings.options.seed = std::stoull(value);
    } else if (name == "--seconds") {
      settings.options.seconds = std::stod(value);
    } else if (name == "--strategy") {
      settings.options.strategy = strategy_named(value);
    } else if (name == "--repeat") {
      settings.repeat = std::stoi(value);
    } else if (name == "--only") {
      settings.only = value;
    } else {
      throw std::runtime_error("unknown option " + name);
    }
  }
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

void report(const std::string& name, const Network& network, const Settings& settings) {
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
  std::cout << "  {\"name\": \"" << name << "\", \"tensors\": " << network.tensors.size()
            << ", \"milliseconds\": " << best << ", \"log2_flops\": " << log2_flops(network, tree)
            << ", \"log2_largest\": " << log2_largest(network, tree)
            << ", \"log2_elimination\": " << plated::bench::log2_elimination(network, tree)
            << ", \"min_fill_log2_flops\": " << log2_flops(network, contraction_order(network, min_fill)) << "}";
}

void run(const Settings& settings) {
  std::vector<std::filesystem::path> models;
  for (const auto& entry : std::filesystem::directory_iterator(settings.directory)) {
    if (entry.path().extension() == ".uai") models.push_back(entry.path());
  }
  std::sort(models.begin(), models.end());
  std::cout.precision(8);
  std::cout << "{\"trials\": " << settings.options.trials << ", \"seed\": " << settings.options.seed
            << ", \"compiler\": \"" << __VERSION__ << "\",\n \"instances\": [\n";
  const char* separator = "";
  for (const std::filesystem::path& model : models) {
    if (!settings.only.empty() && model.stem() != settings.only) continue;
    std::cout << separator;
    report(model.stem().string(), plated::bench::read_uai_network(model), settings);
    separator = ",\n";
  }
  std::cout << "\n ],\n \"row\":\n";
  report("row_10000", row(10'000), settings);
  std::cout << "\n}\n";
}

}  // namespace

int main(int count, char** words) {
  try {
    run(parse(count, words));
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
