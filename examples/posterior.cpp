// Every question of one compiled plan: what do camera-trap photos show, given the votes that were cast?
//
// The model of first_example.cpp with the votes as variables of their own, so that they can be observed: votes that
// were cast are evidence, and those that were not have a posterior like everything else. One plan serves all questions
// and all evidence.
#include <plated/plated.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using plated::Evidence;
using plated::Integers;
using plated::RunOptions;
using plated::Tensor;

namespace {

constexpr int photos = 6, volunteers = 3, habitats = 2, species = 3;
const char* const habitat_names[] = {"forest", "farmland"};
const char* const species_names[] = {"deer", "fox", "badger"};
const char* const volunteer_names[] = {"Ada", "Ben", "Cleo"};

constexpr int deer = 0, fox = 1, badger = 2, blank = -1;

const std::vector<double> site = {0.5, 0.5};                                             // habitat
const std::vector<double> fauna = {0.55, 0.15, 0.30, 0.20, 0.65, 0.15};                  // habitat species
const std::vector<double> sees = {0.95, 0.03, 0.02, 0.03, 0.94, 0.03, 0.02, 0.04, 0.94,  // volunteer species vote
                                  0.80, 0.15, 0.05, 0.15, 0.75, 0.10, 0.10, 0.15, 0.75,  //
                                  0.70, 0.20, 0.10, 0.05, 0.90, 0.05, 0.05, 0.45, 0.50};

// photo volunteer; a blank is a photo not looked at.
const Integers votes({photos, volunteers}, {deer, deer, deer, blank, fox, fox, badger, badger, fox,  //
                                            blank, badger, fox, deer, blank, deer, blank, deer, fox});

Tensor logs(std::vector<std::int64_t> shape, const std::vector<double>& weights) {
  std::vector<double> values;
  for (const double w : weights) values.push_back(std::log(w));
  return Tensor::of(std::move(shape), values);
}

plated::FactorGraph camera_trap() {
  plated::FactorGraph graph;
  graph.plate("photo", photos);
  graph.plate("volunteer", volunteers);
  graph.variable("habitat", habitats);
  graph.variable("species", species);
  graph.variable("vote", species);
  graph.factor("site", {"habitat"});
  graph.factor("fauna", {"habitat", "species"}, {.tied = {"photo"}});
  graph.factor("sees", {"volunteer", "species", "vote"}, {.tied = {"photo"}});
  graph.output({});
  return graph;
}

double percent(double probability) { return 100 * probability; }

void tell_posterior(const plated::Plan& plan, const std::vector<Tensor>& factors, const RunOptions& given) {
  const plated::Marginals posterior = plated::marginals(plan, factors, given);
  const plated::MapResult best = plated::map(plan, factors, given);
  const auto scores = plated::max_marginals(plan, factors, given);
  const Tensor& habitat = posterior.variables.at("habitat");
  const Tensor& animal = posterior.variables.at("species");
  const Tensor& vote = posterior.variables.at("vote");

  std::printf("log p(evidence) = %.4f; the site is %s with %.1f %%\n\n", posterior.log_partition.item(),
              habitat_names[1], percent(habitat.at({1})));
  std::printf("         posterior                      best story and its margin\n         ");
  for (const char* name : species_names) std::printf("%9s", name);
  std::printf("\n");
  for (int p = 0; p < photos; ++p) {
    std::printf("photo %d  ", p + 1);
    for (int s = 0; s < species; ++s) std::printf("%7.1f %%", percent(animal.at({p, s})));
    const auto chosen = static_cast<int>(best.assignment.at("species").at({p}));
    // How much worse the best story is in which something else is on this photo.
    double other = -INFINITY;
    for (int s = 0; s < species; ++s) {
      if (s != chosen) other = std::max(other, scores.at("species").at({p, s}));
    }
    std::printf("     %-7s %6.2f nats\n", species_names[chosen], best.score.item() - other);
  }
  std::printf("the best story, votes not cast included, has %.1f %% of the probability\n\n",
              percent(std::exp(best.score.item() - posterior.log_partition.item())));
  std::printf("what %s would vote on photo 2: fox with %.1f %%\n\n", volunteer_names[0], percent(vote.at({1, 0, fox})));
}

void tell_numbers(const plated::Plan& plan, const std::vector<Tensor>& factors, const RunOptions& given) {
  std::printf("entropy: %.3f nats before the votes, %.3f after\n", plated::entropy(plan, factors).item(),
              plated::entropy(plan, factors, given).item());

  // A statistic of the factor that is in every photo: 1 where the species is a fox.
  const Tensor is_fox = Tensor::of<double>({habitats, species}, {0, 1, 0, 0, 1, 0});
  std::printf("expected number of fox photos: %.3f\n",
              plated::expectation(plan, factors, std::vector<Tensor>{Tensor(), is_fox, Tensor()}, given).item());

  // Samples are joint: any function of all variables can be averaged, such as this one over pairs of photos.
  const std::int64_t count = 20000;
  const auto draws = plated::sample(plan, factors, {.count = count, .seed = 1}, given);
  std::int64_t same = 0;
  for (std::int64_t n = 0; n < count; ++n) {
    same += draws.at("species").at({n, 3}) == draws.at("species").at({n, 5}) ? 1 : 0;
  }
  std::printf("photos 4 and 6 show the same species: %.0f %% of %lld samples\n",
              percent(static_cast<double>(same) / static_cast<double>(count)), static_cast<long long>(count));

  const Tensor predictive = plated::leave_one_out(plan, factors, "volunteer", given);
  std::printf("log p(votes of one | votes of the others):");
  for (int v = 0; v < volunteers; ++v) std::printf(" %s %.2f", volunteer_names[v], predictive.at({v}));
  std::printf("\n\n");
}

void tell_derivatives(const plated::Plan& plan, const std::vector<Tensor>& factors, const RunOptions& given) {
  // In log space the gradient of a tied factor is the number of times its entries are expected to be used.
  const auto [values, gradients] = plated::value_and_gradient(plan, factors, given);
  std::printf("expected counts     ");
  for (const char* name : species_names) std::printf("%8s", name);
  std::printf("\n");
  for (int h = 0; h < habitats; ++h) {
    std::printf("%-20s", habitat_names[h]);
    for (int s = 0; s < species; ++s) std::printf("%8.3f", gradients[1].at({h, s}));
    std::printf("\n");
  }
  // The same counts' change as the odds of farmland rise: a column of the Hessian.
  const std::vector<Tensor> direction = {Tensor::of<double>({habitats}, {0, 1}),
                                         Tensor(plated::Dtype::float64, {habitats, species}),
                                         Tensor(plated::Dtype::float64, {volunteers, species, species})};
  const auto [tangents, products] = plated::hessian_vector_product(plan, factors, direction, given);
  const double foxes = products[1].at({0, fox}) + products[1].at({1, fox});
  std::printf("a nat more for farmland: log p(votes) %+.3f, fox photos %+.3f at first order\n\n", tangents[0].item(),
              foxes);
}

}  // namespace

int main() {
  const plated::Plan plan = plated::compile(camera_trap(), {.observable = {"habitat", "vote"}});
  const std::vector<Tensor> factors = {logs({habitats}, site), logs({habitats, species}, fauna),
                                       logs({volunteers, species, species}, sees)};

  std::printf("GIVEN THE VOTES\n");
  const RunOptions votes_seen{.evidence = {{"vote", votes}}};
  tell_posterior(plan, factors, votes_seen);
  tell_numbers(plan, factors, votes_seen);
  tell_derivatives(plan, factors, votes_seen);

  std::printf("AND THAT THE SITE IS A FOREST, BY THE SAME PLAN\n");
  tell_posterior(plan, factors, {.evidence = {{"habitat", Integers({}, 0)}, {"vote", votes}}});

  std::printf("AND IF SOMETHING IMPOSSIBLE IS SEEN\n");
  std::vector<Tensor> never_fox = factors;
  never_fox[2] = logs({volunteers, species, species}, std::vector<double>{1, 0, 0, 1, 0, 0, 1, 0, 0,  //
                                                                          1, 0, 0, 1, 0, 0, 1, 0, 0,  //
                                                                          1, 0, 0, 1, 0, 0, 1, 0, 0});
  try {
    tell_posterior(plan, never_fox, votes_seen);
  } catch (const plated::ImpossibleError& error) {
    std::printf("%s\n", error.what());
  }
}
