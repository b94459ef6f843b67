// Models of sequences of unequal lengths, with random data.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "plated/fit.hpp"
#include "property/written_case.hpp"

namespace plated::test {

inline constexpr std::int64_t sequences = 150, longest = 120;

/// Most are short, some are empty.
inline Integers unequal_lengths(Random& random) {
  Integers lengths({sequences}, 0);
  for (std::int64_t& length : lengths.values) {
    length = random.chance(8) ? longest - random.below(30) : random.below(16);
  }
  lengths.values[7] = longest;
  return lengths;
}

inline Tensor random_rows(const Tensor::Shape& shape, Random& random) {
  Tensor rows(Dtype::float64, shape);
  const std::span<double> entries = rows.span<double>();
  const auto states = static_cast<std::size_t>(shape.back());
  for (std::size_t row = 0; row < entries.size(); row += states) {
    double sum = 0;
    for (std::size_t k = 0; k < states; ++k) sum += entries[row + k] = random.uniform(0.2, 1);
    for (std::size_t k = 0; k < states; ++k) entries[row + k] /= sum;
  }
  return rows;
}

inline Integers random_states(const Tensor::Shape& shape, std::int64_t states, int missing, Random& random) {
  Integers seen(shape, -1);
  for (std::int64_t& state : seen.values) {
    if (!random.chance(missing)) state = random.below(states);
  }
  return seen;
}

/// A model that grows, and its data.
struct Ragged {
  FactorGraph graph;
  std::map<std::string, Tensor> tables;
  ModelOptions options{.space = Space::real};
  Data data;
  Random random{3};

  Ragged() {
    graph.plate("n", sequences);
    graph.plate("key", 3);
    graph.chain("t", longest);
    graph.chain("u", longest / 2);
    data.lengths.emplace("t", unequal_lengths(random));
  }
  /// Two states that a chain links: all links come before the first table.
  void link(const std::string& before, const std::string& now, const std::string& chain = "t") {
    graph.variable(before, 2, {"n", chain});
    graph.variable(now, 2, {"n", chain});
    graph.link(chain, before, now);
  }
  void move(const std::string& before, const std::string& now, const std::string& chain = "t") {
    table("start of " + before, {"^" + before}, {2}, {"n"});
    table("move to " + now, {before, now}, {2, 2}, {"n", chain});
  }
  void hidden(const std::string& before, const std::string& now) {
    link(before, now);
    move(before, now);
  }
  void table(const std::string& name, const std::vector<std::string>& dims, const Tensor::Shape& shape,
             const std::vector<std::string>& tied) {
    graph.factor(name, dims, {.tied = tied, .distribution_of = dims.back()});
    tables.emplace(name, random_rows(shape, random));
  }
  void seen(const std::string& name, const std::vector<std::string>& given, int missing = 0) {
    graph.variable(name, 3, {"n", "t"});
    std::vector<std::string> dims = given;
    dims.push_back(name);
    Tensor::Shape shape(given.size(), 2);
    shape.push_back(3);
    table("p of " + name, dims, shape, {"n", "t"});
    data.states.emplace(name, random_states({sequences, longest}, 3, missing, random));
  }
  [[nodiscard]] Model model() const { return make_model(graph, tables, options); }
  /// The same, with a factor that is one and lies outside of all plates: it cannot be cut.
  [[nodiscard]] Model uncut() const {
    Ragged other = *this;
    other.graph.variable("aside", 2);
    other.graph.factor("aside", {"aside"});
    other.tables.emplace("aside", Tensor::of<double>({2}, {0.25, 0.75}));
    return make_model(other.graph, other.tables, other.options);
  }
};

inline void expect_near(const std::vector<double>& got, const std::vector<double>& want, double tolerance,
                        const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (got[k] == want[k]) continue;  // infinite ones
    EXPECT_NEAR(got[k], want[k], tolerance * std::max(1.0, std::abs(want[k]))) << what << " " << k;
  }
}

}  // namespace plated::test
