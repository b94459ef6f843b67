// A mixed-effect hidden Markov model of harbour seals, after [TVE] Table 2 and App. B.
//
// Each animal moves between three states. How it does so depends on a random effect of its sex and one of its own, each
// of three classes, which enter every transition of a track: they lie outside of the chain, in the plates around it.
// Classes of sexes are the same for both; females and males have classes of animals of their own, as in the paper.
// Parameters are fixed at rounded values near a fit; learning is not what this example shows. The total and the
// posterior of the effects are compared with recursions written by hand, one for each class of both effects.
#include <plated/plated.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "check.hpp"
#include "data_folder.hpp"
#include "flat_forward_backward.hpp"
#include "seal_tracks.hpp"

using plated::Integers;
using plated::Tensor;

namespace {

constexpr std::int64_t sexes = 2, classes = 3, states = 3;
const char* const sex_names[] = {"females", "males"};
const char* const state_names[] = {"resting", "moving", "diving"};
const char* const group_names[] = {"usual", "steadier", "more restless"};
const char* const animal_names[] = {"average", "rests more", "dives more"};

const double group_prior[classes] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
const double animal_prior[sexes][classes] = {{0.5, 0.25, 0.25}, {0.5, 0.25, 0.25}};

/// Transition logits are the sum of the two effects' matrices, row by row; those of animals differ between the sexes.
double transition_logit(int sex, int group, int animal, int from, int to) {
  const double usual[states][states] = {{0.68, 0.31, 0.01}, {0.21, 0.58, 0.21}, {0.002, 0.183, 0.815}};
  const double stay[classes] = {0, 0.5, -0.5};
  const double towards[sexes][classes][states] = {{{0, 0, 0}, {0.5, 0, -0.5}, {-0.5, 0, 0.5}},
                                                  {{0.1, 0, -0.1}, {0.7, 0, -0.4}, {-0.3, 0, 0.6}}};
  return std::log(usual[from][to]) + (from == to ? stay[group] : 0) + towards[sex][animal][to];
}

std::vector<double> transition(int sex, int group, int animal) {
  std::vector<double> table;
  for (int from = 0; from < states; ++from) {
    double sum = 0;
    for (int to = 0; to < states; ++to)
      sum += table.emplace_back(std::exp(transition_logit(sex, group, animal, from, to)));
    for (auto p = table.end() - states; p != table.end(); ++p) *p /= sum;
  }
  return table;
}

/// log p(step | state): gamma distances, von Mises angles, shares of diving that are zero or beta.
double log_likelihood(const SealStep& step, int state) {
  const double shape[] = {0.63, 1.22, 0.89}, rate[] = {0.0027, 0.0006, 0.0004};
  const double mean_angle[] = {3.1, 0.15, 0.0}, concentration[] = {0.17, 0.13, 0.45};
  const double no_dive[] = {0.62, 0.001, 1e-6}, alpha[] = {0.73, 1.9, 68}, beta[] = {6.7, 2.3, 16};
  if (!step.is_complete()) return 0;  // masked: the chain moves on, and nothing is seen
  const double k = concentration[state];
  double bessel = 1, term = 1;  // I0(k) by its series
  for (int n = 1; n < 20; ++n) bessel += term *= k * k / 4 / (n * n);
  double sum = shape[state] * std::log(rate[state]) - std::lgamma(shape[state]) +
               (shape[state] - 1) * std::log(step.metres) - rate[state] * step.metres;
  sum += k * std::cos(step.angle - mean_angle[state]) - std::log(2 * M_PI * bessel);
  if (step.diving == 0) return sum + std::log(no_dive[state]);
  const double a = alpha[state], b = beta[state];
  return sum + std::log(1 - no_dive[state]) + std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
         (a - 1) * std::log(step.diving) + (b - 1) * std::log(1 - step.diving);
}

/// Tracks by sex and number, and the model's data: lengths, and emissions with room for the longest track.
struct Data {
  std::vector<std::vector<SealTrack>> tracks = std::vector<std::vector<SealTrack>>(sexes);
  std::int64_t animals = 0;  // of the more numerous sex
  std::int64_t longest = 0;
  Integers lengths;
  Tensor emission;  // [sex, animal, t, state]; NaN where there is no step: padding is never read

  explicit Data(const std::vector<SealTrack>& all) {
    for (const SealTrack& track : all) {
      std::vector<SealTrack>& same_sex = tracks[static_cast<std::size_t>(track.sex)];
      same_sex.push_back(track);
      animals = std::max(animals, std::ssize(same_sex));
      longest = std::max(longest, std::ssize(track.steps));
    }
    lengths = Integers({sexes, animals}, 0);
    std::vector<double> values(static_cast<std::size_t>(sexes * animals * longest * states), std::nan(""));
    for (std::size_t sex = 0; sex < tracks.size(); ++sex) {
      for (std::size_t n = 0; n < tracks[sex].size(); ++n) {
        const std::size_t place = sex * static_cast<std::size_t>(animals) + n;
        lengths.values[place] = std::ssize(tracks[sex][n].steps);
        auto entry = values.begin() + static_cast<std::ptrdiff_t>(place) * longest * states;
        for (const SealStep& step : tracks[sex][n].steps) {
          for (int k = 0; k < states; ++k) *entry++ = log_likelihood(step, k);
        }
      }
    }
    emission = Tensor::of({sexes, animals, longest, states}, values);
  }
};

plated::FactorGraph model(const Data& data) {
  plated::FactorGraph graph;
  graph.plate("sex", sexes);
  graph.plate("animal", data.animals);
  graph.chain("t", data.longest);
  graph.variable("group_effect", classes);
  graph.variable("animal_effect", classes);
  graph.variable("before", states);
  graph.variable("state", states);
  graph.link("t", "before", "state");
  graph.factor("groups", {"group_effect"}, {.tied = {"sex"}});
  graph.factor("animals", {"sex", "animal_effect"}, {.tied = {"animal"}});
  graph.factor("start", {"before"}, {.tied = {"sex", "animal"}});
  graph.factor("transition", {"sex", "group_effect", "animal_effect", "before", "state"}, {.tied = {"animal", "t"}});
  graph.factor("emission", {"sex", "animal", "t", "state"});
  graph.output({});
  return graph;
}

std::vector<Tensor> factors(const Data& data) {
  std::vector<double> groups, animals, moves;
  for (const double p : group_prior) groups.push_back(std::log(p));
  for (const auto& row : animal_prior) {
    for (const double p : row) animals.push_back(std::log(p));
  }
  for (int sex = 0; sex < sexes; ++sex) {
    for (int g = 0; g < classes; ++g) {
      for (int a = 0; a < classes; ++a) {
        for (const double p : transition(sex, g, a)) moves.push_back(std::log(p));
      }
    }
  }
  return {Tensor::of({classes}, groups), Tensor::of({sexes, classes}, animals),
          Tensor::of<double>({states}, {0, -INFINITY, -INFINITY}),
          Tensor::of({sexes, classes, classes, states, states}, moves), data.emission};
}

double log_sum(const std::vector<double>& logs) {
  const double best = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (const double x : logs) sum += std::exp(x - best);
  return best + std::log(sum);
}

/// By hand: log p(tracks of one sex, group effect).
std::vector<double> by_group(const Data& data, std::size_t sex) {
  std::vector<double> totals;
  for (int g = 0; g < classes; ++g) {
    totals.push_back(std::log(group_prior[g]));
    for (const SealTrack& track : data.tracks[sex]) {
      std::vector<double> emission, of_class;
      for (const SealStep& step : track.steps) {
        for (int k = 0; k < states; ++k) emission.push_back(log_likelihood(step, k));
      }
      for (int a = 0; a < classes; ++a) {
        of_class.push_back(
            std::log(animal_prior[sex][a]) +
            flat_forward_backward({1, 0, 0}, transition(static_cast<int>(sex), g, a), emission).log_likelihood);
      }
      totals.back() += log_sum(of_class);
    }
  }
  return totals;
}

}  // namespace

int main() {
  Checks checks;
  const auto path = data_file("seals/prep_seal_data.csv");
  const Data data(path ? read_seal_tracks(*path) : made_up_seal_tracks());
  const plated::Plan plan = plated::compile(model(data));
  const std::vector<Tensor> operands = factors(data);
  const plated::RunOptions run{.lengths = {{"t", data.lengths}}};
  std::printf("%s\n", plan.print().c_str());

  const double log_z = plan.run(operands, run)[0].item();
  const plated::Marginals posterior = plated::marginals(plan, operands, run);
  const plated::Marginals logs =
      plated::marginals(plan, operands, run, {.variables = false, .sets = {{"group_effect"}}, .log = true});
  std::printf("log p(tracks) = %.3f\n", log_z);

  double total = 0;
  for (std::size_t sex = 0; sex < sexes; ++sex) {
    std::printf("%zu %s, log P(group effect | tracks):", data.tracks[sex].size(), sex_names[sex]);
    for (std::int64_t g = 0; g < classes; ++g) {
      std::printf("  %s %.2f", group_names[g], logs.sets[0].at({static_cast<std::int64_t>(sex), g}));
    }
    std::printf("\n");
    for (std::size_t n = 0; n < data.tracks[sex].size(); ++n) {
      const auto s = static_cast<std::int64_t>(sex), a = static_cast<std::int64_t>(n);
      const Tensor effect = posterior.variables.at("animal_effect").select(0, s).select(0, a);
      const std::vector<double> path_of = posterior.variables.at("state").select(0, s).select(0, a).values();
      double in_state[states] = {};
      for (std::size_t k = 0; k < path_of.size(); ++k) in_state[k % states] += path_of[k];
      const std::vector<double> p = effect.values();
      const auto best = std::max_element(p.begin(), p.end()) - p.begin();
      std::printf("  animal %-9s %4zu steps  %s (%.3f)", data.tracks[sex][n].animal.c_str(),
                  data.tracks[sex][n].steps.size(), animal_names[best], p[static_cast<std::size_t>(best)]);
      for (int k = 0; k < states; ++k) {
        std::printf("  %s %.0f %%", state_names[k],
                    100 * in_state[k] / static_cast<double>(data.tracks[sex][n].steps.size()));
      }
      std::printf("\n");
    }
    const std::vector<double> want = by_group(data, sex);
    double worst = 0;
    for (std::int64_t g = 0; g < classes; ++g) {
      const double log_posterior = want[static_cast<std::size_t>(g)] - log_sum(want);
      worst = std::max(worst, std::abs(log_posterior - logs.sets[0].at({static_cast<std::int64_t>(sex), g})));
    }
    total += log_sum(want);
    checks.that(worst < 1e-6, "the group effect's posterior, in logarithms, by recursions for each class");
  }
  checks.near("log p(tracks) by recursions for each class", log_z, total, 1e-10 * std::abs(total));
  return checks.exit_code();
}
