// Hidden Markov models of 17 harbour seals: steps, turning angles and diving, against fits of the same file elsewhere
// (its README: ln L −176677.0 with uniform transitions, −171116.3 with one learnt matrix).
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "plated/fit.hpp"
#include "unit/likelihood/numbers_model.hpp"

namespace plated {
namespace {

constexpr std::int64_t animals = 17;

struct Tracks {
  Data data;
  std::int64_t longest = 0;
};

/// A step counts only where its three numbers are there.
Tracks read_tracks(const std::filesystem::path& path) {
  std::vector<std::vector<std::array<double, 3>>> rows(animals);
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::vector<std::string> words;
    for (std::string word; std::getline(cells, word, ',');) words.push_back(word);
    std::array<double, 3> numbers = {std::strtod(words[3].c_str(), nullptr), std::strtod(words[4].c_str(), nullptr),
                                     std::strtod(words[5].c_str(), nullptr)};
    if (std::isnan(numbers[0] + numbers[1] + numbers[2])) numbers.fill(std::numeric_limits<double>::quiet_NaN());
    rows[static_cast<std::size_t>(std::stoi(words[0]) - 1)].push_back(numbers);
  }
  Tracks tracks;
  std::vector<std::int64_t> lengths;
  for (const auto& track : rows) {
    lengths.push_back(std::ssize(track));
    tracks.longest = std::max(tracks.longest, lengths.back());
  }
  tracks.data.lengths = {{"t", Integers({animals}, lengths)}};
  const std::array<const char*, 3> names = {"step", "angle", "omega"};
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<double> numbers(static_cast<std::size_t>(animals * tracks.longest), 0);  // beyond the lengths: not read
    for (std::size_t animal = 0; animal < rows.size(); ++animal) {
      for (std::size_t t = 0; t < rows[animal].size(); ++t) {
        numbers[animal * static_cast<std::size_t>(tracks.longest) + t] = rows[animal][t][k];
      }
    }
    tracks.data.measurements.emplace(names[k], Tensor::of<double>({animals, tracks.longest}, numbers));
  }
  return tracks;
}

Model seals(std::int64_t longest) {
  FactorGraph graph;
  graph.plate("animal", animals);
  graph.chain("t", longest);
  graph.variable("before", 3, {"animal", "t"});
  graph.variable("state", 3, {"animal", "t"});
  graph.link("t", "before", "state");
  graph.factor("first", {"^before"}, {.tied = {"animal"}});
  graph.factor("move", {"before", "state"}, {.tied = {"animal", "t"}, .distribution_of = "state"});
  for (const char* name : {"step", "angle", "omega"}) graph.factor(name, {"state"}, {.tied = {"animal", "t"}});
  std::map<std::string, Learning, std::less<>> learning;
  for (const char* name : {"move", "step", "angle", "omega"}) learning[name].learn = true;
  return make_model(
      graph,
      {{"first", test::list_of({1, 0, 0})}, {"move", Tensor::of<double>({3, 3}, std::vector<double>(9, 1.0 / 3))}},
      {.space = Space::real,
       .learning = learning,
       .likelihoods = {{"step", {.family = Family::gamma, .zero_inflated = true}},
                       {"angle", {.family = Family::von_mises}},
                       {"omega", {.family = Family::beta, .zero_inflated = true}}}});
}

TEST(Seals, ReachWhatWasFittedElsewhere) {
  const char* const folder = std::getenv("PLATED_DATA");
  const std::filesystem::path path =
      std::filesystem::path(folder == nullptr ? "" : folder) / "seals/prep_seal_data.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no tracks: PLATED_DATA does not name a folder that has seals/";
  const Tracks tracks = read_tracks(path);
  EXPECT_EQ(tracks.longest, 1788);
  const Model model = seals(tracks.longest);
  const Fit moving = fit(model, tracks.data, {.restarts = 4, .seed = 1});
  EXPECT_NEAR(moving.log_likelihood, -171116.3, 1);
  EXPECT_EQ(moving.parameters, 6 + 3 * (3 + 2 + 3));
  const Fit still = fit(model, tracks.data, {.learn = {"step", "angle", "omega"}, .restarts = 4, .seed = 1});
  EXPECT_NEAR(still.log_likelihood, -176677.0, 1);
}

}  // namespace
}  // namespace plated
