// Times factorial hidden Markov models: a step of n chains with K states should cost n · K^(n+1), not K^(2n).
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "plated_runner.hpp"
#include "sections.hpp"
#include "workload/timing.hpp"

namespace bench {
namespace {

using plated::Tensor;

constexpr std::int64_t states = 16;

struct FactorialModel {
  std::string equation;
  std::vector<std::string> links;
  std::vector<Tensor> factors;  // a transition for each chain, then the emissions of all states together
};

/// "(t) a0 b0, (t) a1 b1, t b0 b1 ->": the first states are free.
FactorialModel factorial(int chains, std::int64_t length) {
  FactorialModel model;
  std::string emissions = "t";
  Tensor::Shape shape = {length};
  for (int c = 0; c < chains; ++c) {
    const std::string number = std::to_string(c);
    model.equation.append("(t) a").append(number).append(" b").append(number).append(", ");
    model.links.push_back(std::string("a").append(number).append("->b").append(number));
    model.factors.push_back(random_distributions(std::uint64_t{10} + static_cast<std::uint64_t>(c), {states, states}));
    emissions.append(" b").append(number);
    shape.push_back(states);
  }
  model.equation += emissions + " ->";
  model.factors.push_back(random_emissions(20, shape));
  return model;
}

plated::Plan compiled(const FactorialModel& model) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const Tensor& factor : model.factors) shapes.push_back(factor.shape());
  return compile(plated::FactorGraph::from_equation(model.equation, shapes, {.chains = {{"t", model.links}}}));
}

/// log Z by plain loops in double: each chain moves on its own, then all emit together.
double plain_log_total(const FactorialModel& model) {
  const std::size_t chains = model.links.size();
  const Tensor& emissions = model.factors.back();
  const std::int64_t length = emissions.shape()[0];
  const auto joint = static_cast<std::size_t>(emissions.elements() / length);
  const auto* emission = static_cast<const float*>(emissions.data());
  std::vector<double> message(joint, 1.0);
  double log_total = 0;
  for (std::int64_t t = 0; t < length; ++t) {
    std::size_t inner = 1;
    for (std::size_t c = chains; c-- > 0; inner *= states) {
      const auto* matrix = static_cast<const float*>(model.factors[c].data());
      std::vector<double> moved(joint);
      for (std::size_t k = 0; k < joint; ++k) {
        const std::size_t a = k / inner % states;
        const std::size_t base = k - a * inner;
        for (std::size_t b = 0; b < states; ++b) {
          moved[base + b * inner] += message[k] * std::exp(static_cast<double>(matrix[a * states + b]));
        }
      }
      message = moved;
    }
    double total = 0;
    for (std::size_t k = 0; k < joint; ++k) {
      message[k] *= std::exp(static_cast<double>(*emission++));
      total += message[k];
    }
    for (double& entry : message) entry /= total;
    log_total += std::log(total);
  }
  return log_total;
}

void check(int chains) {
  const FactorialModel model = factorial(chains, 20);
  const double found = PlatedChain(compiled(model), model.factors, 1).value();
  const double expected = plain_log_total(model);
  if (!(std::abs(found / expected - 1) <= 1e-6)) {
    throw std::runtime_error("wrong value of " + std::to_string(chains) + " chains: " + std::to_string(found) +
                             " for " + std::to_string(expected));
  }
}

}  // namespace

Json measure_factorial(const ChainSettings& settings) {
  std::printf("\nfactorial models of %d states per chain, ns per step\n%7s %12s %12s %14s %14s\n",
              static_cast<int>(states), "chains", "value", "gradient", "products", "ns a product");
  Json rows = Json::array();
  for (const int chains : {2, 3}) {
    check(chains);
    const std::int64_t length = chains == 2 ? 4096 : 256;  // as many emissions
    const FactorialModel model = factorial(chains, length);
    PlatedChain runner(compiled(model), model.factors, settings.threads);
    const std::vector<Tensor> memory = memory_for_gradients(model.factors);
    const auto best = best_times({[&] { (void)runner.value(); }, [&] { (void)runner.gradient(memory); }},
                                 {.seconds = settings.seconds, .turns = settings.turns});
    const double products = chains * std::pow(static_cast<double>(states), chains + 1);
    const double value_ns = best[0] * 1e9 / static_cast<double>(length);
    const double gradient_ns = best[1] * 1e9 / static_cast<double>(length);
    std::printf("%7d %12.0f %12.0f %14.0f %14.4f\n", chains, value_ns, gradient_ns, products, value_ns / products);
    rows.push(Json::object()
                  .set("chains", chains)
                  .set("states", states)
                  .set("length", length)
                  .set("value_ns", value_ns)
                  .set("gradient_ns", gradient_ns)
                  .set("products", products)
                  .set("joint_products", std::pow(static_cast<double>(states), 2 * chains)));
  }
  return rows;
}

}  // namespace bench
