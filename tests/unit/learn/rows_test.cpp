// Observations in rows: the graph that they make, repeated ones, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "plated/long.hpp"
#include "plated/solve.hpp"
#include "unit/graph/message_of.hpp"

namespace plated {
namespace {

using test::message_of;

Model voting(std::int64_t items) {
  FactorGraph graph;
  graph.plate("item", items);
  graph.plate("annotator", 2);
  graph.variable("truth", 2, {"item"});
  graph.variable("vote", 2, {"item", "annotator"});
  graph.factor("prior", {"truth"}, {.tied = {"item"}, .distribution_of = "truth"});
  graph.factor("votes", {"annotator", "truth", "vote"}, {.tied = {"item"}, .distribution_of = "vote"});
  return make_model(graph,
                    {{"prior", Tensor::of<double>({2}, {0.5, 0.5})},
                     {"votes", Tensor::of<double>({2, 2, 2}, {0.7, 0.3, 0.4, 0.6, 0.9, 0.1, 0.2, 0.8})}},
                    {.space = Space::real});
}

Long rows(std::vector<std::int64_t> item, std::vector<std::int64_t> annotator, std::vector<std::int64_t> vote) {
  const auto array = [](std::vector<std::int64_t>& entries) {
    const auto count = static_cast<std::int64_t>(entries.size());
    return Integers({count}, std::move(entries));
  };
  return {.states = array(vote), .slices = {{"item", array(item)}, {"annotator", array(annotator)}}};
}

template <class Expected>
std::string refused(const Long& list, Model model = voting(3)) {
  return message_of<Expected>([&] { observe(model, "vote", list); });
}

TEST(Rows, AreEvidenceOfTheModel) {
  Model model = voting(3);
  const Long list = rows({2, 0, 2, 0}, {1, 0, 0, 1}, {1, 0, -1, 1});
  observe(model, "vote", list);
  EXPECT_EQ(model.lists.at("vote").states, list.states);
  EXPECT_EQ(model.graph.print(), voting(3).graph.print());
  EXPECT_NEAR(log_partition(model).item(),
              std::log(0.5 * 0.7 * 0.1 + 0.5 * 0.4 * 0.8) + std::log(0.5 * 0.1 + 0.5 * 0.8), 1e-12);
  EXPECT_EQ(max_marginals(model).size(), 1u);
  EXPECT_EQ(map(model).assignment.size(), 1u);
  EXPECT_EQ(sample(model, SampleOptions{}).size(), 1u);
  EXPECT_EQ(message_of<OptionError>([&] {
              (void)marginals(model, {{"truth"}, {"vote"}});
            }),
            "the evidence of 'vote' is a list of rows: it has no probabilities to ask for");
  EXPECT_NE(message_of<OptionError>([&] { (void)observe(model, "vote[0,0]=1"); }).find("add a row to it"),
            std::string::npos);
  const double ln_z = log_partition(model, {.evidence = {{"vote", Integers({3, 2}, -1)}}}).item();
  EXPECT_NEAR(ln_z, 0, 1e-12);  // an array takes the list's place
  const Fit fitted = fit(model, {}, {.iterations = 2});
  EXPECT_EQ(fitted.history, fit(voting(3), {.lists = {{"vote", list}}}, {.iterations = 2}).history);
  observe(model, Evidence{{"vote", Integers({3, 2}, -1)}});
  EXPECT_TRUE(model.lists.empty());
}

TEST(Rows, OfAModelMayBeManyOfOneSlice) {
  // In an array with room for all of them in each slice these would be 1e10 cells.
  Model model = voting(100000);
  std::vector<std::int64_t> item(100000, 0), annotator(200000), vote(200000);
  for (std::int64_t r = 0; r < 100000; ++r) item.push_back(r);
  for (std::size_t r = 0; r < vote.size(); ++r) {
    annotator[r] = static_cast<std::int64_t>(r % 2);
    vote[r] = static_cast<std::int64_t>(r * 31 % 7 % 2);
  }
  const Long list = rows(item, annotator, vote);
  observe(model, "vote", list);
  EXPECT_TRUE(std::isfinite(log_partition(model).item()));
  EXPECT_EQ(marginals(model).at("truth").shape(), (Tensor::Shape{100000, 2}));
  const Score score = evaluate(voting(100000), {.lists = {{"vote", list}}}, {.plate = "item"});
  EXPECT_EQ(score.slices.shape(), (Tensor::Shape{100000}));
  EXPECT_NE(message_of<OptionError>([&] { (void)leave_one_out(model, "annotator"); }).find("give it as an array"),
            std::string::npos);
}

TEST(Rows, ThatRepeatCountEach) {
  Model model = voting(1);
  observe(model, "vote", rows({0, 0, 0}, {1, 1, 1}, {0, 0, 1}));
  EXPECT_NEAR(log_partition(model).item(), std::log(0.5 * 0.9 * 0.9 * 0.1 + 0.5 * 0.2 * 0.2 * 0.8), 1e-12);
  const Score score = evaluate(voting(1), {.lists = {{"vote", rows({0, 0, 0}, {1, 1, 1}, {0, 0, 1})}}});
  EXPECT_NEAR(score.log_likelihood, log_partition(model).item(), 1e-12);
  EXPECT_EQ(score.cells, 3);
}

TEST(Rows, OfADistributionWithoutParentsAreOnePlate) {
  FactorGraph graph;
  graph.plate("i", 3);
  graph.plate("j", 2);
  graph.variable("x", 2, {"i", "j"});
  graph.factor("x", {"j", "x"}, {.tied = {"i"}, .distribution_of = "x"});
  const Model model =
      make_model(graph, {{"x", Tensor::of<double>({2, 2}, {0.5, 0.5, 0.5, 0.5})}}, {.space = Space::real});
  const Long list{.states = Integers({4}, {0, 1, 1, 1}),
                  .slices = {{"i", Integers({4}, {0, 9, 4, 4})}, {"j", Integers({4}, {0, 0, 0, 1})}}};
  const Fit fitted = fit(model, {.lists = {{"x", list}}}, {.iterations = 1});
  EXPECT_NEAR(fitted.model.factors[0].values()[0], 1.0 / 3, 1e-15);
  EXPECT_EQ(fitted.model.factors[0].values()[3], 1);
  EXPECT_EQ(fitted.observations, 10);
}

/// Most items have a few rows, and the first has many.
Long uneven(std::int64_t items, std::int64_t many) {
  std::vector<std::int64_t> item, annotator, vote;
  for (std::int64_t r = 0; r < 3 * items + many; ++r) {
    item.push_back(r < 3 * items ? r * 7919 % items : 0);
    annotator.push_back(r % 5 % 2);
    vote.push_back(r * 31 % 7 % 2);
  }
  return rows(item, annotator, vote);
}

TEST(Rows, OfOneSliceMayBeManyMoreThanThoseOfOthers) {
  // In an array with room for all of them in each slice these would be 6e9 cells.
  const Fit fitted = fit(voting(60000), {.lists = {{"vote", uneven(60000, 100000)}}}, {.iterations = 2});
  EXPECT_TRUE(std::isfinite(fitted.log_likelihood));
  EXPECT_EQ(fitted.observations, 60000);
}

TEST(Rows, InBatchesRefuseWeightsThatAreNone) {
  const Long list = rows({0, 0, 1}, {1, 1, 0}, {0, 0, 1});
  const auto why = [&](double weight) {
    const Weights weights{{"item", Tensor::of<double>({2}, {weight, 1e308})}};
    return message_of<OptionError>([&] {
      (void)fit(voting(2), {.weights = weights, .lists = {{"vote", list}}}, {.batch = {{"item", 1}}});
    });
  };
  EXPECT_NE(why(-1).find("not all finite and not negative"), std::string::npos);
  EXPECT_NE(why(std::nan("")).find("not all finite and not negative"), std::string::npos);
  EXPECT_NE(why(1e308).find("overflows"), std::string::npos);
}

TEST(Rows, AreCountedWithTheSameBitsOnAnyThreads) {
  const Data data{.lists = {{"vote", uneven(20000, 3000)}}};
  const Fit one = fit(voting(20000), data, {.iterations = 3, .threads = 1});
  const Fit three = fit(voting(20000), data, {.iterations = 3, .threads = 3});
  EXPECT_EQ(three.history, one.history);
  EXPECT_EQ(three.model.factors[1].values(), one.model.factors[1].values());
}

TEST(Rows, RefuseWhatMakesNoSense) {
  EXPECT_EQ(refused<ValueError>(rows({0, 3}, {0, 0}, {0, 0})),
            "row 1 of the data of 'vote' is about slice 3 of 'item', which has 3");
  EXPECT_EQ(refused<ShapeError>(rows({0}, {0, 1}, {0, 0})),
            "the data of 'vote' have (2) states, and (1) slices of 'item'");
  Long less = rows({0}, {0}, {0});
  less.slices.erase("item");
  EXPECT_EQ(refused<ShapeError>(less), "the data of 'vote' do not say which slice of 'item' a row is about");
  Long more = rows({0}, {0}, {0});
  more.slices.emplace("truth", Integers({1}, {0}));
  EXPECT_EQ(refused<UnknownNameError>(more), "the data of 'vote' say slices of 'truth', and it is in no such plate");
  EXPECT_NE(refused<ValueError>(rows({0}, {0}, {2})).find("has the value 2"), std::string::npos);
  Model model = voting(3);
  model.children[1] = "";
  EXPECT_EQ(refused<OptionError>(rows({0}, {0}, {0}), model),
            "the data of 'vote' cannot be a list: it has no factor that is its distribution");
  EXPECT_THROW(
      (void)fit(voting(3), {.states = {{"vote", Integers({3, 2}, 0)}}, .lists = {{"vote", rows({0}, {0}, {0})}}}),
      OptionError);
  EXPECT_THROW((void)fit(voting(3), {.lists = {{"vote", rows({0}, {0}, {-1})}}}), ValueError);
  Model nothing = voting(3);
  observe(nothing, "vote", rows({}, {}, {}));
  EXPECT_EQ(log_partition(nothing).item(), 0);
  EXPECT_THROW((void)fit(nothing, {}), ValueError);
}

}  // namespace
}  // namespace plated
