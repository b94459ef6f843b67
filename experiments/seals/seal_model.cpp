// Builds the seals' model for EM: each class of effects has a matrix of transitions of its own.
#include "seals/seal_model.hpp"

#include <cmath>

namespace experiments {
namespace {

using plated::Tensor;
using Names = std::vector<std::string>;

Tensor by_state(const std::vector<double>& numbers) { return Tensor::of({Seals::states}, numbers); }

/// Rows of probabilities from logits.
std::vector<double> normalised(std::vector<double> table) {
  for (auto row = table.begin(); row != table.end(); row += Seals::states) {
    double sum = 0;
    for (auto p = row; p != row + Seals::states; ++p) sum += * p = std::exp(*p);
    for (auto p = row; p != row + Seals::states; ++p) *p /= sum;
  }
  return table;
}

}  // namespace

plated::Model seal_model(const Seals& seals, const Variant& variant, std::uint32_t seed) {
  if (variant.group && variant.individual) throw std::runtime_error("EM has no M-step for effects that are added");
  Start start(seed);
  plated::FactorGraph graph;
  graph.plate("sex", Seals::sexes);
  graph.plate("animal", seals.animals);
  graph.chain("t", seals.longest);
  std::map<std::string, Tensor> tables;
  plated::ModelOptions options{.space = plated::Space::real};
  if (variant.group) graph.variable("effect", Seals::classes, {"sex"});
  if (variant.individual) graph.variable("effect", Seals::classes, {"sex", "animal"});
  graph.variable("before", Seals::states, {"sex", "animal", "t"});
  graph.variable("state", Seals::states, {"sex", "animal", "t"});
  graph.link("t", "before", "state");
  graph.factor("start", {"^before"}, {.tied = {"sex", "animal"}, .distribution_of = "^before"});
  tables.emplace("start", by_state({1, 0, 0}));
  Names dims{"before", "state"}, tied{"sex", "animal", "t"};
  Tensor::Shape shape{Seals::states, Seals::states};
  std::int64_t matrices = 1;
  if (variant.group) {
    graph.factor("effects", {"effect"}, {.tied = {"sex"}, .distribution_of = "effect"});
    tables.emplace("effects", Tensor::of({Seals::classes}, std::vector<double>(Seals::classes, 1.0 / Seals::classes)));
    dims.insert(dims.begin(), "effect");
    shape.insert(shape.begin(), Seals::classes);
    matrices = Seals::classes;
  } else if (variant.individual) {
    graph.factor("effects", {"sex", "effect"}, {.tied = {"animal"}, .distribution_of = "effect"});
    tables.emplace("effects", Tensor::of({Seals::sexes, Seals::classes},
                                         std::vector<double>(Seals::sexes * Seals::classes, 1.0 / Seals::classes)));
    dims.insert(dims.begin(), {"sex", "effect"});
    tied = {"animal", "t"};
    shape.insert(shape.begin(), {Seals::sexes, Seals::classes});
    matrices = Seals::sexes * Seals::classes;
  }
  graph.factor("transition", dims, {.tied = tied, .distribution_of = "state"});
  const bool learnt = variant.matrix || variant.group || variant.individual;
  std::vector<double> logits;
  for (std::int64_t k = 0; k < matrices; ++k) {
    const std::vector<double> one = learnt ? start.logits() : std::vector<double>(Seals::states * Seals::states, 0.0);
    logits.insert(logits.end(), one.begin(), one.end());
  }
  tables.emplace("transition", Tensor::of(shape, normalised(logits)));
  const Names everywhere{"sex", "animal", "t"};
  for (const char* name : {"metres", "angle", "diving"}) graph.factor(name, {"state"}, {.tied = everywhere});
  options.likelihoods = {
      {"metres",
       {.family = plated::Family::gamma,
        .zero_inflated = true,
        .parameters = {{"shape", by_state(start.shape)},
                       {"rate", by_state(start.rate)},
                       {"zero", by_state({0.01, 0.01, 0.01})}}}},
      {"angle",
       {.family = plated::Family::von_mises,
        .parameters = {{"mean", by_state(start.mean_angle)}, {"concentration", by_state(start.concentration)}}}},
      {"diving",
       {.family = plated::Family::beta,
        .zero_inflated = true,
        .parameters = {
            {"alpha", by_state(start.alpha)}, {"beta", by_state(start.beta)}, {"zero", by_state(start.no_dive)}}}}};
  graph.output({});
  return plated::make_model(graph, tables, options);
}

plated::FitOptions seal_fit_options(const Variant& variant) {
  plated::FitOptions options{.learn = {"metres", "angle", "diving"}, .iterations = 300, .tolerance = 1e-9};
  if (variant.matrix || variant.group || variant.individual) options.learn.emplace_back("transition");
  if (variant.group || variant.individual) options.learn.emplace_back("effects");
  return options;
}

plated::Data seal_data(const Seals& seals) {
  const Tensor::Shape shape{Seals::sexes, seals.animals, seals.longest};
  return {.measurements = {{"metres", Tensor::of(shape, seals.metres)},
                           {"angle", Tensor::of(shape, seals.angle)},
                           {"diving", Tensor::of(shape, seals.diving)}},
          .lengths = {{"t", seals.steps}}};
}

}  // namespace experiments
