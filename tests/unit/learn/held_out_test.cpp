// Held-out data and folds of a plate, against fits of the slices that are left, made by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "unit/learn/small_models.hpp"

namespace plated::test {
namespace {

/// Rows of a matrix of states.
Integers rows(const Integers& all, const std::vector<std::int64_t>& kept) {
  Integers some({std::ssize(kept), all.shape[1]});
  for (std::int64_t k = 0; k < std::ssize(kept); ++k) {
    for (std::int64_t a = 0; a < all.shape[1]; ++a) some.at({k, a}) = all.at({kept[static_cast<std::size_t>(k)], a});
  }
  return some;
}

std::vector<std::int64_t> others(std::int64_t size, const std::vector<std::int64_t>& left_out) {
  std::vector<std::int64_t> result;
  for (std::int64_t k = 0; k < size; ++k) {
    if (!std::binary_search(left_out.begin(), left_out.end(), k)) result.push_back(k);
  }
  return result;
}

TEST(HeldOut, IsScoredUnderTheFittedModel) {
  const Integers seen = votes(40, 4, 3, 10, 1);
  const Data held_out{.states = {{"vote", votes(17, 4, 3, 10, 2)}}};
  FitOptions options{.iterations = 20, .pseudo_count = 0.1};
  options.held_out = held_out;
  const Fit got = fit(dawid_skene(1, 4, 3), {.states = {{"vote", seen}}}, options);
  ASSERT_TRUE(got.held_out);
  EXPECT_EQ(*got.held_out, evaluate(got.model, held_out).log_likelihood);
  EXPECT_TRUE(got.folds.empty());
  EXPECT_FALSE(got.cross_validated);
}

TEST(CrossValidation, ScoresEachFoldUnderAFitOfTheOthers) {
  const Model model = dawid_skene(23, 4, 3);
  const Integers seen = votes(23, 4, 3, 20, 3);
  const FitOptions plain{.restarts = 2, .iterations = 30, .pseudo_count = 0.3, .seed = 7};
  FitOptions options = plain;
  options.cross_validate = {{"item", 4}};
  const Fit got = fit(model, {.states = {{"vote", seen}}}, options);
  ASSERT_EQ(got.folds.size(), 4u);
  std::set<std::int64_t> all;
  double total = 0;
  double cells = 0;
  for (const Fold& fold : got.folds) {
    all.insert(fold.slices.begin(), fold.slices.end());
    EXPECT_TRUE(fold.slices.size() == 5 || fold.slices.size() == 6);
    const Fit by_hand = fit(model, {.states = {{"vote", rows(seen, others(23, fold.slices))}}}, plain);
    const Score score = evaluate(by_hand.model, {.states = {{"vote", rows(seen, fold.slices)}}});
    EXPECT_NEAR(fold.log_likelihood, score.log_likelihood, 1e-9);
    EXPECT_EQ(fold.cells, score.cells);
    total += fold.log_likelihood;
    cells += fold.cells;
  }
  EXPECT_EQ(all.size(), 23u);
  EXPECT_EQ(cells, evaluate(model, {.states = {{"vote", seen}}}).cells);
  ASSERT_TRUE(got.cross_validated);
  EXPECT_NEAR(*got.cross_validated, total, 1e-9);
  // Folds change neither the fit of all data nor, by the same seed, each other.
  EXPECT_EQ(got.history, fit(model, {.states = {{"vote", seen}}}, plain).history);
  EXPECT_EQ(fit(model, {.states = {{"vote", seen}}}, options).folds[2].slices, got.folds[2].slices);
  options.seed = 8;
  EXPECT_NE(fit(model, {.states = {{"vote", seen}}}, options).folds[2].slices, got.folds[2].slices);
}

TEST(CrossValidation, DealsRaggedSequencesWithTheirLengths) {
  Random random(4);
  Integers seen({6, 9}, -1);
  for (std::int64_t& s : seen.values) s = random.chance(10) ? -1 : random.below(3);
  Model model = hidden_markov(6, 9);
  model.lengths = {{"t", Integers({6}, {9, 3, 5, 8, 1, 7})}};
  const FitOptions plain{.iterations = 6, .tolerance = 0, .pseudo_count = 0.5};
  FitOptions options = plain;
  options.cross_validate = {{"n", 3}};
  for (const Fold& fold : fit(model, {.states = {{"seen", seen}}}, options).folds) {
    const auto with = [&](const std::vector<std::int64_t>& kept) {
      Data data{.states = {{"seen", rows(seen, kept)}}};
      Integers lengths({std::ssize(kept)});
      for (std::int64_t k = 0; k < std::ssize(kept); ++k) {
        lengths.at({k}) = model.lengths.at("t").at({kept[static_cast<std::size_t>(k)]});
      }
      data.lengths = {{"t", lengths}};
      return data;
    };
    Model free = model;
    free.lengths.clear();
    const Fit by_hand = fit(free, with(others(6, fold.slices)), plain);
    EXPECT_NEAR(fold.log_likelihood, evaluate(by_hand.model, with(fold.slices)).log_likelihood, 1e-9);
  }
}

TEST(CrossValidation, DealsSlicesWithTheirWeights) {
  const Integers seen = votes(6, 3, 2, 0, 6);
  const std::vector<double> weights{1, 2, 0.5, 3, 1, 4};
  const auto with = [&](const std::vector<std::int64_t>& kept) {
    std::vector<double> own;
    for (const std::int64_t k : kept) own.push_back(weights[static_cast<std::size_t>(k)]);
    return Data{.states = {{"vote", rows(seen, kept)}}, .weights = {{"item", Tensor::of(own)}}};
  };
  const FitOptions plain{.iterations = 5, .pseudo_count = 0.2};
  FitOptions options = plain;
  options.cross_validate = {{"item", 3}};
  for (const Fold& fold : fit(dawid_skene(1, 3, 2), with(others(6, {})), options).folds) {
    const Fit by_hand = fit(dawid_skene(1, 3, 2), with(others(6, fold.slices)), plain);
    EXPECT_NEAR(fold.log_likelihood, evaluate(by_hand.model, with(fold.slices)).log_likelihood, 1e-9);
  }
}

/// Coins of one bias, which is one of two: what slices share is latent, and all of them tell of it.
TEST(CrossValidation, GivesWhatIsHeldOutTheOtherSlices) {
  FactorGraph graph;
  graph.plate("i", 4);
  graph.variable("bias", 2);
  graph.variable("coin", 2, {"i"});
  graph.factor("biases", {"bias"}, {.distribution_of = "bias"});
  graph.factor("toss", {"i", "bias", "coin"}, {.distribution_of = "coin"});
  Tensor toss(Dtype::float64, {4, 2, 2});
  for (std::int64_t i = 0; i < 4; ++i) {
    const double p = 0.2 + 0.1 * static_cast<double>(i);
    toss.at<double>({i, 0, 0}) = p;
    toss.at<double>({i, 0, 1}) = 1 - p;
    toss.at<double>({i, 1, 0}) = toss.at<double>({i, 1, 1}) = 0.5;
  }
  const Model model =
      make_model(graph, {{"biases", Tensor::of<double>({2}, {0.5, 0.5})}, {"toss", toss}}, {.space = Space::real});
  const std::vector<std::int64_t> tosses{0, 1, 1, 0};
  FitOptions options{.learn = {"biases"}, .iterations = 3, .tolerance = 0, .accelerate = false};
  options.cross_validate = {{"i", 4}};
  const Fit got = fit(model, {.states = {{"coin", Integers({4}, std::vector(tosses))}}}, options);
  for (const Fold& fold : got.folds) {
    ASSERT_EQ(fold.slices.size(), 1u);
    std::vector<double> prior{0.5, 0.5};
    const auto joint = [&](std::int64_t bias, bool with_all) {
      double product = prior[static_cast<std::size_t>(bias)];
      for (std::int64_t i = 0; i < 4; ++i) {
        if (with_all || i != fold.slices[0]) product *= toss.at({i, bias, tosses[static_cast<std::size_t>(i)]});
      }
      return product;
    };
    for (int step = 0; step < 3; ++step) {
      const double first = joint(0, false) / (joint(0, false) + joint(1, false));
      prior = {first, 1 - first};
    }
    EXPECT_NEAR(fold.log_likelihood, std::log((joint(0, true) + joint(1, true)) / (joint(0, false) + joint(1, false))),
                1e-12);
  }
  // A learnt table for each slice would learn nothing about those that are held out.
  options.learn = {"toss"};
  EXPECT_EQ(refused<OptionError>([&] {
              return fit(model, {.states = {{"coin", Integers({4}, std::vector(tosses))}}}, options);
            }),
            "factor 'toss' is learnt and has an axis for plate 'i': nothing would be learnt about the slices that are "
            "held out");
}

TEST(CrossValidation, DealsRowsOfLists) {
  const Integers seen = votes(12, 3, 2, 30, 4);
  Integers item({0}), annotator({0}), vote({0});
  for (std::int64_t k = 0; k < 36; ++k) {
    if (seen.values[static_cast<std::size_t>(k)] < 0) continue;
    item.values.push_back(k / 3);
    annotator.values.push_back(k % 3);
    vote.values.push_back(seen.values[static_cast<std::size_t>(k)]);
  }
  for (Integers* one : {&item, &annotator, &vote}) one->shape = {std::ssize(vote.values)};
  const Data rows{.lists = {{"vote", Long{vote, {{"item", item}, {"annotator", annotator}}}}}};
  FitOptions options{.iterations = 20, .tolerance = 0, .accelerate = false, .pseudo_count = 0.1};
  Data by_annotator = rows;
  by_annotator.weights.emplace("annotator", Tensor::of<double>({3}, {1, 2, 1}));
  EXPECT_THROW((void)fit(dawid_skene(12, 3, 2), by_annotator, options), OptionError);
  options.cross_validate = {{"item", 4}};
  const Fit of_rows = fit(dawid_skene(12, 3, 2), rows, options);
  const Fit of_arrays = fit(dawid_skene(12, 3, 2), {.states = {{"vote", seen}}}, options);
  ASSERT_EQ(of_rows.folds.size(), 4u);
  EXPECT_NEAR(*of_rows.cross_validated, *of_arrays.cross_validated, 1e-8);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(of_rows.folds[k].slices, of_arrays.folds[k].slices);
    EXPECT_EQ(of_rows.folds[k].cells, of_arrays.folds[k].cells);
    EXPECT_NEAR(of_rows.folds[k].log_likelihood, of_arrays.folds[k].log_likelihood, 1e-9);
  }
  Data weighted = rows;
  weighted.weights = {{"item", Tensor::scalar(2.0)}};
  EXPECT_EQ(refused<Error>([&] { return fit(dawid_skene(12, 3, 2), weighted, options); }),
            "slices of plate 'item' have weights and rows: they cannot be dealt to folds");
}

TEST(CrossValidation, RefusesAndSaysWhatCannotBe) {
  const Model model = dawid_skene(3, 2, 2);
  const Data data{.states = {{"vote", Integers({3, 2}, {0, 0, 0, 0, 1, 1})}}};
  const auto with = [&](const std::map<std::string, int>& folds) {
    FitOptions options;
    options.cross_validate = folds;
    return refused<Error>([&] { return fit(model, data, options); });
  };
  EXPECT_EQ(with({{"item", 4}}),
            "plate 'item' has 3 slices, which cannot be dealt to 4 folds: there are two at least, with a slice each");
  EXPECT_EQ(with({{"patient", 2}}), "there is no plate 'patient' to cross-validate over");
  EXPECT_EQ(with({{"item", 2}, {"annotator", 2}}), "cross-validation is over one plate, and several were named");
  FitOptions options;
  options.held_out = Data{.states = {{"vote", Integers({1, 3}, {0, 0, 0})}}};
  EXPECT_THROW((void)fit(model, data, options), ShapeError);
  // The others never vote 1 here, so that zeros exclude it.
  FitOptions folds;
  folds.cross_validate = {{"item", 3}};
  const Fit got = fit(model, data, folds);
  EXPECT_EQ(*got.cross_validated, -std::numeric_limits<double>::infinity());
  EXPECT_NE(got.notes.back().find("has no probability under what the others teach"), std::string::npos);
}

TEST(CrossValidation, KeepsTheFoldsThatAnInterruptHasLeft) {
  FitOptions options{.iterations = 20, .tolerance = 0, .accelerate = false, .pseudo_count = 0.1, .threads = 1};
  options.cross_validate = {{"item", 5}};
  int fold = -1;
  options.progress = [&](const FitProgress& now) { fold = now.fold; };
  options.cancelled = [&] { return fold == 2; };
  const Fit got = fit(dawid_skene(20, 4, 3), {.states = {{"vote", votes(20, 4, 3, 10, 5)}}}, options);
  EXPECT_TRUE(got.interrupted);
  EXPECT_EQ(got.folds.size(), 2u);
  EXPECT_FALSE(got.cross_validated);
  EXPECT_EQ(got.restarts[0].iterations, 20);
}

}  // namespace
}  // namespace plated::test
