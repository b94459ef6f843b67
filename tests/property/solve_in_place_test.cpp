// Evidence in many slices, which verbs on models read in place: the same answers as of tables made by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "plated/error.hpp"
#include "plated/solve.hpp"

namespace plated::test {
namespace {

/// States of a table's last axis, picked out by hand: one row of logarithms for each slice.
Tensor picked(const Tensor& table, const std::vector<std::int64_t>& seen, const Tensor::Shape& shape,
              const std::function<std::size_t(std::size_t slice)>& table_of) {
  const std::size_t states = static_cast<std::size_t>(table.shape().back());
  const std::vector<double> numbers = table.values();
  const auto kinds = static_cast<std::size_t>(shape.back());
  std::vector<double> result;
  for (std::size_t k = 0; k < seen.size(); ++k) {
    for (std::size_t t = 0; t < kinds; ++t) {
      result.push_back(numbers[(table_of(k) * kinds + t) * states + static_cast<std::size_t>(seen[k])]);
    }
  }
  return Tensor::of(shape, result);
}

void expect_same_answers(const Model& seen, const Model& by_hand, const std::string& observed) {
  EXPECT_NEAR(log_partition(seen).item() / log_partition(by_hand).item(), 1, 1e-12);
  EXPECT_NEAR(entropy(seen).item() / entropy(by_hand).item(), 1, 1e-9);
  const MapResult best = map(seen);
  const MapResult right = map(by_hand);
  EXPECT_NEAR(best.score.item() / right.score.item(), 1, 1e-12);
  for (const auto& [name, states] : right.assignment) EXPECT_EQ(best.assignment.at(name), states) << name;
  EXPECT_EQ(best.assignment.at(observed).values, seen.evidence.at(observed).values());
  const auto drawn = sample(seen, SampleOptions{.seed = 7});
  for (const auto& [name, states] : sample(by_hand, SampleOptions{.seed = 7})) {
    EXPECT_EQ(drawn.at(name).shape, states.shape) << name;
  }
  EXPECT_EQ(drawn.at(observed).values, seen.evidence.at(observed).values());
  for (const auto& [name, posterior] : marginals(by_hand)) {
    const std::vector<double> want = posterior.values();
    const std::vector<double> got = marginals(seen).at(name).values();
    for (std::size_t k = 0; k < want.size(); ++k) ASSERT_NEAR(got[k], want[k], 1e-10) << name << k;
  }
  const std::vector<double> certain = marginals(seen).at(observed).values();
  const std::vector<std::int64_t> states = seen.evidence.at(observed).values();
  const std::size_t kinds = certain.size() / states.size();
  for (std::size_t k = 0; k < certain.size(); ++k) {
    ASSERT_EQ(certain[k], static_cast<std::int64_t>(k % kinds) == states[k / kinds] ? 1 : 0) << k;
  }
  const std::string hidden = right.assignment.begin()->first;
  const std::vector<double> p = marginals(seen, {{hidden}})[0].values();
  const std::vector<double> q = marginals(by_hand, {{hidden}})[0].values();
  for (std::size_t k = 0; k < p.size(); ++k) ASSERT_NEAR(p[k], q[k], 1e-10) << k;
  const Explanation told = explain(seen);
  EXPECT_EQ(told.questions[0].observed, std::vector<std::string>{observed});
  EXPECT_NE(told.plans[0].print(told.questions[0]).find("Gather"), std::string::npos);
  Model later = seen;
  later.evidence.clear();
  const Explanation before = explain(later, Question::Kind::value, {}, {observed});
  EXPECT_EQ(before.plans[0].print(before.questions[0]), told.plans[0].print(told.questions[0]));
  EXPECT_EQ(before.cost.flops, told.cost.flops);
  EXPECT_EQ(before.cost.run_bytes, told.cost.run_bytes);
  EXPECT_NE(explain(seen, Question::Kind::marginals).cost.flops, 0);
  EXPECT_THROW((void)explain(later, Question::Kind::value, {}, {"nobody"}), UnknownNameError);
}

std::vector<std::int64_t> random_states(std::int64_t count, std::int64_t states) {
  std::vector<std::int64_t> result;
  std::uint64_t x = 1;
  for (std::int64_t k = 0; k < count; ++k) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    result.push_back(static_cast<std::int64_t>(x >> 40) % states);
  }
  return result;
}

TEST(SolveInPlace, VotesOfManyItems) {
  constexpr std::int64_t items = 1500, annotators = 50;
  FactorGraph graph;
  graph.plate("item", items);
  graph.plate("annotator", annotators);
  graph.variable("truth", 2, {"item"});
  graph.variable("vote", 3, {"item", "annotator"});
  graph.factor("prior", {"truth"}, {.tied = {"item"}});
  graph.factor("votes", {"annotator", "truth", "vote"}, {.tied = {"item"}});
  std::vector<double> table;
  for (std::int64_t a = 0; a < annotators; ++a) {
    const double good = 0.4 + 0.001 * static_cast<double>(a);
    for (const double p : {good, 0.5, 0.1, 1 - good, 0.4, 0.2}) table.push_back(std::log(p));
  }
  const Tensor votes = Tensor::of<double>({annotators, 2, 3}, table);
  const Tensor prior = Tensor::of<double>({2}, {std::log(0.3), std::log(0.7)});
  const std::vector<std::int64_t> seen = random_states(items * annotators, 3);
  const Model model = make_model(graph, {{"prior", prior}, {"votes", votes}},
                                 {.evidence = {{"vote", Integers({items, annotators}, seen)}}});
  FactorGraph smaller;
  smaller.plate("item", items);
  smaller.plate("annotator", annotators);
  smaller.variable("truth", 2, {"item"});
  smaller.factor("prior", {"truth"}, {.tied = {"item"}});
  smaller.factor("votes", {"item", "annotator", "truth"});
  const Tensor read = picked(votes, seen, {items, annotators, 2}, [](std::size_t k) { return k % annotators; });
  const Model by_hand = make_model(smaller, {{"prior", prior}, {"votes", read}});
  expect_same_answers(model, by_hand, "vote");
  for (const char* plate : {"item", "annotator"}) {
    const std::vector<double> want = leave_one_out(by_hand, plate).values();
    const std::vector<double> got = leave_one_out(model, plate).values();
    for (std::size_t k = 0; k < want.size(); ++k) ASSERT_NEAR(got[k], want[k], 1e-9) << plate << k;
  }
  // Where some votes are missing, those that are not asked for are left out of the items' products.
  Model partly = model;
  std::vector<std::int64_t> some = seen;
  for (std::size_t k = 0; k < some.size(); k += 7) some[k] = -1;
  observe(partly, Evidence{{"vote", Integers({items, annotators}, some)}});
  const std::vector<double> want = marginals(partly).at("truth").values();
  const std::vector<double> got = marginals(partly, {{"truth"}})[0].values();
  for (std::size_t k = 0; k < want.size(); ++k) ASSERT_NEAR(got[k], want[k], 1e-12) << k;
}

TEST(SolveInPlace, SymbolsOfALongChain) {
  constexpr std::int64_t steps = 40000;
  const auto built = [](bool symbols) {
    FactorGraph graph;
    graph.chain("t", steps);
    graph.variable("a", 2, {"t"});
    graph.variable("b", 2, {"t"});
    graph.link("t", "a", "b");
    if (symbols) graph.variable("y", 5, {"t"});
    graph.factor("move", {"a", "b"}, {.tied = {"t"}});
    if (symbols) {
      graph.factor("emit", {"b", "y"}, {.tied = {"t"}});
    } else {
      graph.factor("emit", {"t", "b"});
    }
    return graph;
  };
  const Tensor move = Tensor::of<double>({2, 2}, {-0.1, -2.5, -2, -0.2});
  const Tensor emit = Tensor::of<double>({2, 5}, {-1, -2, -1.5, -3, -2.5, -2, -1.2, -2.2, -1, -1.7});
  const std::vector<std::int64_t> seen = random_states(steps, 5);
  const Model model =
      make_model(built(true), {{"move", move}, {"emit", emit}}, {.evidence = {{"y", Integers({steps}, seen)}}});
  const Tensor read = picked(emit, seen, {steps, 2}, [](std::size_t) { return 0; });
  const Model by_hand = make_model(built(false), {{"move", move}, {"emit", read}});
  expect_same_answers(model, by_hand, "y");
  const std::vector<double> want = leave_one_out(by_hand, "t", {}, {"emit"}).values();
  const std::vector<double> got = leave_one_out(model, "t", {}, {"emit"}).values();
  for (std::size_t k = 0; k < want.size(); ++k) ASSERT_NEAR(got[k], want[k], 1e-9) << k;
}

}  // namespace
}  // namespace plated::test
