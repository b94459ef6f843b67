// The tracks of 17 harbour seals as the models of [TVE] Table 2 take them, and where fits of these start.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <plated/integers.hpp>
#include <plated/tensor.hpp>

#include "seal_tracks.hpp"

namespace experiments {

/// Axes of what was measured are [sex, animal, step], with room for the more numerous sex and the longest track.
struct Seals {
  static constexpr std::int64_t sexes = 2, states = 3, classes = 3;
  std::vector<std::vector<SealTrack>> tracks = std::vector<std::vector<SealTrack>>(sexes);
  std::int64_t animals = 0;                   // of the more numerous sex
  std::int64_t longest = 0;                   // steps
  plated::Integers animals_of;                // [sex]
  plated::Integers steps;                     // [sex, animal]; 0 where there is no animal
  std::vector<double> metres, angle, diving;  // NaN where a step is not complete, which masks it

  explicit Seals(const std::vector<SealTrack>& all) {
    for (const SealTrack& track : all) {
      std::vector<SealTrack>& same_sex = tracks[static_cast<std::size_t>(track.sex)];
      same_sex.push_back(track);
      animals = std::max(animals, std::ssize(same_sex));
      longest = std::max(longest, std::ssize(track.steps));
    }
    animals_of = plated::Integers({sexes}, 0);
    steps = plated::Integers({sexes, animals}, 0);
    const auto room = static_cast<std::size_t>(sexes * animals * longest);
    for (std::vector<double>* numbers : {&metres, &angle, &diving}) {
      numbers->assign(room, std::numeric_limits<double>::quiet_NaN());
    }
    for (std::size_t sex = 0; sex < tracks.size(); ++sex) {
      animals_of.values[sex] = std::ssize(tracks[sex]);
      for (std::size_t n = 0; n < tracks[sex].size(); ++n)
        add(sex * static_cast<std::size_t>(animals) + n, tracks[sex][n]);
    }
  }

 private:
  void add(std::size_t place, const SealTrack& track) {
    steps.values[place] = std::ssize(track.steps);
    std::size_t at = place * static_cast<std::size_t>(longest);
    for (const SealStep& step : track.steps) {
      if (step.is_complete()) {
        metres[at] = step.metres;
        angle[at] = step.angle;
        diving[at] = step.diving;
      }
      ++at;
    }
  }
};

/// Which random effects transitions have.
struct Variant {
  /// "none": uniform transitions; "matrix": one that is learnt, which is not in the paper; "group", "individual",
  /// "both".
  explicit Variant(const std::string& name)
      : matrix(name == "matrix"),
        group(name == "group" || name == "both"),
        individual(name == "individual" || name == "both") {
    if (!matrix && !group && !individual && name != "none") throw std::runtime_error("there is no variant " + name);
  }
  bool matrix, group, individual;

  /// As the paper counts: every element of every tensor of parameters. Emissions have 30; a class of effects has 9
  /// logits and a weight.
  [[nodiscard]] std::int64_t parameters() const {
    return 30 + (matrix ? 9 : 0) + (group ? 10 * Seals::classes : 0) + (individual ? 20 * Seals::classes : 0);
  }
};

/// A random start: rest, travel and foraging in rough figures, each scattered by a factor.
struct Start {
  std::vector<double> shape, rate, mean_angle, concentration, no_dive, alpha, beta;

  explicit Start(std::uint32_t seed) : bits_(seed) {
    const double metres[] = {200, 1500, 2500}, dives[] = {0.1, 0.45, 0.8};
    for (int k = 0; k < Seals::states; ++k) {
      shape.push_back(scattered(1));
      rate.push_back(shape.back() / scattered(metres[k]));
      mean_angle.push_back(0.5 * normal());
      concentration.push_back(scattered(0.3));
      no_dive.push_back(k == 0 ? 0.5 : 0.01);
      alpha.push_back(scattered(4 * dives[k]));
      beta.push_back(scattered(4 * (1 - dives[k])));
    }
  }

  /// Logits of a transition matrix that stays where it is more often than not.
  std::vector<double> logits() {
    std::vector<double> table;
    for (int k = 0; k < Seals::states * Seals::states; ++k) table.push_back((k % 4 == 0 ? 1.5 : 0) + 0.5 * normal());
    return table;
  }

 private:
  /// Of two uniform numbers: the standard does not fix the bits of its distributions.
  double normal() {
    const auto uniform = [&] { return (static_cast<double>(bits_()) + 0.5) / 4294967296.0; };
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * M_PI * uniform());
  }
  double scattered(double number) { return number * std::exp(0.4 * normal()); }

  std::mt19937 bits_;
};

}  // namespace experiments
