// Equal rows of cells that are read once, against those that are read apart.
#include "learn/equal_rows.hpp"

#include <gtest/gtest.h>

#include "learn/with_data.hpp"
#include "plated/fit.hpp"
#include "unit/learn/ragged_sequences.hpp"

namespace plated::test {
namespace {

/// Steps of a few notes each, many of them alike, given the notes before.
Ragged notes(const std::optional<Integers>& lengths) {
  Ragged ragged;
  ragged.data.lengths.clear();
  if (lengths) ragged.data.lengths.emplace("t", *lengths);
  ragged.graph.plate("pitch", 8);
  ragged.hidden("a", "b");
  for (const char* name : {"before", "note"}) ragged.graph.variable(name, 2, {"n", "pitch", "t"});
  ragged.table("notes", {"pitch", "before", "b", "note"}, {8, 2, 2, 2}, {"n", "t"});
  Integers now({sequences, longest, 8}, 0), before = now;
  for (std::int64_t n = 0; n < sequences; ++n) {
    for (std::int64_t t = 0; t < longest; ++t) {
      const std::int64_t chord = ragged.random.below(5);
      const std::int64_t length = lengths ? lengths->values[static_cast<std::size_t>(n)] : longest;
      for (std::int64_t p = 0; p < 8; ++p) {
        const auto at = static_cast<std::size_t>((n * longest + t) * 8 + p);
        now.values[at] = chord * 37 >> p & 1;
        if (t >= length) now.values[at] = before.values[at] = -1;
        if (t > 0 && t < length) before.values[at] = std::max<std::int64_t>(0, now.values[at - 8]);
        if (chord == 4 && p == 2) now.values[at] = -1;
      }
    }
  }
  ragged.data.states.emplace("note", now);
  ragged.data.states.emplace("before", before);
  return ragged;
}

TEST(EqualRows, AreReadOnce) {
  Random random(5);
  for (const bool ragged_chain : {true, false}) {
    const Ragged ragged = notes(ragged_chain ? std::optional(unequal_lengths(random)) : std::nullopt);
    const Model model = ragged.model();
    const Model observed = learn::with_data(model, ragged.data);
    const std::vector<bool> all(model.factors.size(), true);
    const learn::JoinedRows joined = learn::join_equal_rows(observed, {}, all, 0.5);
    ASSERT_EQ(joined.rows.size(), 1U);
    EXPECT_LE(joined.rows[0].shape()[0], 30);  // a chord after another, or after none
    EXPECT_TRUE(learn::join_equal_rows(observed, {}, all, 0.01).rows.empty());
    EXPECT_TRUE(learn::join_equal_rows(observed, {}, std::vector<bool>(all.size(), false), 0.5).rows.empty());
    // Weights of the cells' plate keep them apart.
    Data weighted = ragged.data;
    weighted.weights.emplace("pitch", Tensor::scalar(1.0));
    EXPECT_TRUE(learn::join_equal_rows(observed, weighted.weights, all, 0.5).rows.empty());
    const FitOptions options{.iterations = 6, .tolerance = 0, .pseudo_count = 0.1, .standard_errors = true};
    const Fit once = fit(model, ragged.data, options), apart = fit(model, weighted, options);
    expect_near(once.history, apart.history, 1e-12, "the objective");
    for (std::size_t f = 0; f < model.factors.size(); ++f) {
      const std::string& name = model.graph.factors()[f].name;
      expect_near(once.model.factors[f].values(), apart.model.factors[f].values(), 1e-9, name);
      expect_near(once.standard_errors.at(name).values(), apart.standard_errors.at(name).values(), 1e-6, name);
    }
    FitOptions on_threads{.iterations = 4, .threads = 1};
    const Fit one = fit(model, ragged.data, on_threads);
    for (const int threads : {2, 3}) {
      on_threads.threads = threads;
      EXPECT_EQ(fit(model, ragged.data, on_threads).history, one.history);
    }
  }
}

TEST(EqualRows, OfWhatOthersHoldOrMissAreLeft) {
  Ragged ragged = notes(std::nullopt);
  const auto joined = [&] {
    const Model observed = learn::with_data(ragged.model(), ragged.data);
    return learn::join_equal_rows(observed, {}, std::vector<bool>(observed.factors.size(), true), 0.5).rows.size();
  };
  EXPECT_EQ(joined(), 1U);
  Integers before = ragged.data.states.at("before").integers();
  before.values[5] = -1;
  ragged.data.states.at("before") = before;
  EXPECT_EQ(joined(), 0U);
  ragged = notes(std::nullopt);
  ragged.table("notes alone", {"before"}, {2}, {"n", "pitch", "t"});
  EXPECT_EQ(joined(), 0U);
}

}  // namespace
}  // namespace plated::test
