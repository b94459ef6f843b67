// A first model: which animals are on eight camera-trap photos, judging by the votes of four volunteers?
//
// After Dawid and Skene (1979): each photo shows one species, each volunteer mistakes species for one another in their
// own known way. All photos come from one site, whose habitat nobody wrote down. Prints the model, its plan and the
// answers, and draws the model to model.svg (or to the path given).
#include <plated/draw.hpp>
#include <plated/plan.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using plated::Tensor;

namespace {

constexpr int photos = 8, volunteers = 4, habitats = 2, species = 3;
const char* const habitat_names[] = {"forest", "farmland"};
const char* const species_names[] = {"deer", "fox", "badger"};
const char* const volunteer_names[] = {"Ada", "Ben", "Cleo", "Dan"};

const double habitat_prior[] = {0.5, 0.5};
const double species_given_habitat[habitats][species] = {{0.55, 0.15, 0.30}, {0.20, 0.65, 0.15}};

// How a volunteer sees (column) what is there (row): deer, fox, badger.
const double sees[volunteers][species][species] = {
    {{0.95, 0.03, 0.02}, {0.03, 0.94, 0.03}, {0.02, 0.04, 0.94}},  // Ada, a warden
    {{0.80, 0.15, 0.05}, {0.15, 0.75, 0.10}, {0.10, 0.15, 0.75}},  // Ben
    {{0.70, 0.20, 0.10}, {0.05, 0.90, 0.05}, {0.05, 0.45, 0.50}},  // Cleo, who sees foxes everywhere
    {{0.40, 0.30, 0.30}, {0.30, 0.40, 0.30}, {0.30, 0.30, 0.40}},  // Dan, who nearly guesses
};

// What they voted, photo by photo; a blank is a photo not looked at.
constexpr int blank = -1, deer = 0, fox = 1, badger = 2;
const int votes[photos][volunteers] = {
    {deer, deer, deer, fox},    {blank, fox, fox, deer},      {fox, fox, fox, badger},    {blank, blank, fox, deer},
    {badger, badger, fox, fox}, {blank, badger, fox, badger}, {deer, blank, deer, blank}, {blank, deer, fox, deer},
};

Tensor logs(std::vector<std::int64_t> shape, const double* first, std::size_t count) {
  std::vector<double> values;
  for (std::size_t k = 0; k < count; ++k) values.push_back(std::log(first[k]));
  return Tensor::of(std::move(shape), values);
}

/// log p(vote | species) for each photo and volunteer; a vote that was not cast says nothing: log 1.
Tensor log_votes() {
  std::vector<double> values;
  for (const auto& photo : votes) {
    for (int v = 0; v < volunteers; ++v) {
      for (int s = 0; s < species; ++s) values.push_back(photo[v] == blank ? 0.0 : std::log(sees[v][s][photo[v]]));
    }
  }
  return Tensor::of({photos, volunteers, species}, values);
}

plated::FactorGraph camera_trap() {
  plated::FactorGraph graph;
  graph.plate("photo", photos);
  graph.plate("volunteer", volunteers);
  graph.variable("habitat", habitats);
  graph.variable("species", species);
  graph.factor("site", {"habitat"});
  graph.factor("fauna", {"habitat", "species"}, {.tied = {"photo"}});
  graph.factor("votes", {"photo", "volunteer", "species"});
  graph.output({});
  graph.output({"habitat"});
  graph.output({"photo", "species"});
  return graph;
}

const char* word(int vote) { return vote == blank ? "-" : species_names[vote]; }

}  // namespace

int main(int argc, char** argv) {
  const std::string picture = argc > 1 ? argv[1] : "model.svg";
  std::printf(
      "Four volunteers looked at eight camera-trap photos of one site and disagree.\n"
      "What is on each photo, and what kind of place is it?\n\n");

  const plated::FactorGraph graph = camera_trap();
  std::printf("THE MODEL\n%s\n", graph.print().c_str());

  const plated::Plan plan = plated::compile(graph);
  const plated::Cost cost = plan.cost({}, {}, plated::Dtype::float64);
  std::printf("THE PLAN\n%s\n%.0f flops, %.0f exponentials and logarithms, %lld bytes for intermediates\n\n",
              plan.print().c_str(), cost.flops, cost.exps, static_cast<long long>(cost.peak_bytes));

  const std::vector<Tensor> factors = {logs({habitats}, habitat_prior, habitats),
                                       logs({habitats, species}, &species_given_habitat[0][0], habitats * species),
                                       log_votes()};
  const auto sums = plan.run(factors);
  const auto best = plan.run(factors, {.semiring = plated::Semiring::max_plus});

  // Every output is a total with one variable kept, so dividing by Z makes it a posterior.
  const double log_z = sums[0].item();
  std::printf("THE ANSWERS\nlog p(votes) = %.4f\n\nhabitat    posterior\n", log_z);
  for (int h = 0; h < habitats; ++h) {
    std::printf("%-9s  %8.1f %%\n", habitat_names[h], 100 * std::exp(sums[1].at({h}) - log_z));
  }

  std::printf("\n         ");
  for (const char* name : volunteer_names) std::printf("%-8s", name);
  for (const char* name : species_names) std::printf("%9s", name);
  std::printf("   in the best story\n");
  for (int p = 0; p < photos; ++p) {
    std::printf("photo %d  ", p + 1);
    for (const int vote : votes[p]) std::printf("%-8s", word(vote));
    int argmax = 0;
    for (int s = 0; s < species; ++s) {
      std::printf("%7.1f %%", 100 * std::exp(sums[2].at({p, s}) - log_z));
      if (best[2].at({p, s}) > best[2].at({p, argmax})) argmax = s;
    }
    std::printf("   %s\n", species_names[argmax]);
  }
  std::printf(
      "\nThe best single story, one habitat and one species for each photo, has %.1f %% of the probability\n"
      "(log p = %.4f). It may differ from the likeliest species of a photo, which weighs all stories.\n",
      100 * std::exp(best[0].item() - log_z), best[0].item());

  std::ofstream file(picture);
  file << plated::draw_svg(graph, {.title = "Camera trap: species, votes and habitat"});
  if (!file.flush()) {
    std::fprintf(stderr, "cannot write %s\n", picture.c_str());
    return 1;
  }
  std::printf("The model is drawn in %s.\n", picture.c_str());
}
