// Times the overhead of Plated: calls of a tiny plan, and planning.
#include <array>
#include <cstdio>
#include <span>

#include "paper_model/sections.hpp"
#include "workload/reference.hpp"

namespace bench {
namespace {

using plated::FactorGraph;
using plated::Tensor;

constexpr const char* tiny_equation = "a,abi->";

Json row(const char* what, double seconds, double target) {
  std::printf("%-56s %14.3f %14.3f\n", what, seconds * 1e6, target * 1e6);
  std::fflush(stdout);
  Json json = Json::object();
  return json.set("what", what).set("seconds", seconds).set("target_seconds", target);
}

/// A row of binary variables, each with a unary and a pairwise factor.
FactorGraph variables_in_a_row(int count) {
  FactorGraph graph;
  for (int v = 0; v < count; ++v) graph.variable("x" + std::to_string(v), 2);
  for (int v = 0; v < count; ++v) {
    const std::string name = "x" + std::to_string(v);
    graph.factor("f" + std::to_string(v), {name});
    if (v > 0) graph.factor("g" + std::to_string(v), {"x" + std::to_string(v - 1), name});
  }
  graph.output({});
  return graph;
}

FactorGraph tree_with_plates_of(std::int64_t size) {
  const std::vector<std::vector<std::int64_t>> shapes = {
      {32}, {32, 32, size}, {32, 32, size, size}, {32, 32, size}, {32, 32, size, size}};
  return FactorGraph::from_equation("a,abi,bcij,adj,deij->", shapes, {.plates = "ij"});
}

}  // namespace

Json measure_overhead(const Settings& settings) {
  std::printf("\n%-56s %14s %14s\n", "", "us", "target, us");
  Json rows = Json::array();

  const std::vector<Tensor> factors = {Tensor::of<float>({2}, {0.5f, 0.5f}),
                                       Tensor::of<float>({2, 2, 2}, {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f})};
  // Σ_a ½ ∏_i Σ_b: (0.4 · 0.6 + 1.2 · 1.4) / 2.
  const double expected = 0.96;
  const std::vector<std::vector<std::int64_t>> shapes = {{2}, {2, 2, 2}};
  const plated::Plan plan = compile(FactorGraph::from_equation(tiny_equation, shapes, {.plates = "i"}));
  plated::Workspace workspace(plan);
  const Tensor output(plated::Dtype::float32, {});
  plated::RunOptions run_options;
  run_options.semiring = plated::Semiring::real;
  run_options.threads = 1;
  const auto run_plan = [&] { plan.run_into({output}, factors, workspace, run_options); };
  run_plan();
  require_close("a compiled plan", output.item(), expected, 1e-6);

  plated::EinsumOptions einsum_options;
  einsum_options.plates = "i";
  einsum_options.semiring = plated::Semiring::real;
  einsum_options.threads = 1;
  Tensor result;
  const auto run_einsum = [&] { result = plated::einsum(tiny_equation, factors, einsum_options); };
  run_einsum();
  require_close("einsum", result.item(), expected, 1e-6);

  const std::vector<double> calls = best_times({run_plan, run_einsum}, settings.budget, 100);
  rows.push(row("run_into of a compiled a,abi-> with all sizes 2", calls[0], 3e-6));
  rows.push(row("einsum of the same, plan cache warm", calls[1], 20e-6));

  const FactorGraph chain = variables_in_a_row(10000);
  const Budget few = {.seconds = 0, .turns = 3};
  const double chain_seconds = best_times({[&] { (void)compile(chain); }}, few).front();
  rows.push(row("compile of 10,000 binary variables in a row", chain_seconds, 1));

  const FactorGraph small = tree_with_plates_of(10);
  const FactorGraph large = tree_with_plates_of(1000000);
  const auto plans = best_times({[&] { (void)compile(small); }, [&] { (void)compile(large); }}, settings.budget);
  rows.push(row("compile of the paper's model, plates of 10", plans[0], 1e-3));
  rows.push(row("compile of the paper's model, plates of 1,000,000", plans[1], 1e-3));
  return rows;
}

}  // namespace bench
