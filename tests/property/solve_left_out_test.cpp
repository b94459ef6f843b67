// Leaves slices of models out, and refuses names that a model lacks.
#include <gtest/gtest.h>

#include "plated/error.hpp"
#include "plated/solve.hpp"

namespace plated::test {
namespace {

TEST(Solve, LeavesFactorsOfAChainOut) {
  FactorGraph graph;
  graph.chain("t", 3);
  graph.variable("a", 2);
  graph.variable("b", 2);
  graph.variable("y", 2);
  graph.link("t", "a", "b");
  graph.factor("start", {first("a")});
  graph.factor("move", {"a", "b"}, {.tied = {"t"}});
  graph.factor("emit", {"b", "y"}, {.tied = {"t"}});
  const Tensor move = Tensor::of<double>({2, 2}, {0.9, 0.1, 0.3, 0.7});
  const Tensor emit = Tensor::of<double>({2, 2}, {0.8, 0.2, 0.4, 0.6});
  const Model model =
      make_model(graph, {{"start", Tensor::of<double>({2}, {0.5, 0.5})}, {"move", move}, {"emit", emit}},
                 {.space = Space::real, .evidence = {{"y", Integers({3}, {0, 1, 0})}}});
  const std::vector<double> got = leave_one_out(model, "t", {}, {"emit"}).values();
  ASSERT_EQ(got.size(), 3U);
  for (std::size_t t = 0; t < 3; ++t) {
    Integers others({3}, model.evidence.at("y").values());
    others.values[t] = -1;  // its distribution sums to one
    const double without = log_partition(model, {.evidence = {{"y", others}}}).item();
    EXPECT_NEAR(got[t], log_partition(model).item() - without, 1e-12) << t;
  }
  EXPECT_THROW((void)leave_one_out(model, "t"), OptionError);
  EXPECT_THROW((void)leave_one_out(model, "t", {}, {"start"}), UnknownNameError);
  EXPECT_THROW((void)leave_one_out(model, "t", {}, {"emit", "emit"}), DuplicateNameError);
  EXPECT_THROW((void)leave_one_out(model, "y"), UnknownNameError);
}

TEST(Solve, NamesThePlatesAndVariablesThereAreInPlaceOfUnknownOnes) {
  const auto refused = [](auto ask) -> std::string {
    try {
      (void)ask();
    } catch (const UnknownNameError& error) {
      return error.what();
    }
    return "";
  };
  Model model;
  model.graph.plate("i", 2);
  model.graph.variable("x", 2);
  model.graph.factor("f", {"i", "x"});
  model.factors = {Tensor(Dtype::float64, {2, 2})};
  EXPECT_EQ(refused([&] { return leave_one_out(model, "j"); }),
            "there is no plate or chain 'j' to leave slices of out; the model has 'i'");
  EXPECT_EQ(refused([&] { return marginals(model, {{"y"}}); }),
            "there is no variable 'y' to ask for; the model has 'x'");
  EXPECT_THROW((void)leave_one_out(model, "i", {}, {"f"}), OptionError);
}

}  // namespace
}  // namespace plated::test
