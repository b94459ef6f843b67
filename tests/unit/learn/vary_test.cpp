// Other numbers of states of a latent variable.
#include <gtest/gtest.h>

#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "unit/learn/small_models.hpp"

namespace plated::test {
namespace {

TEST(Vary, FitsEachNumberOfStatesAndKeepsTheLeastBic) {
  const Data data{.states = {{"vote", votes(120, 5, 3, 10, 1)}}};
  FitOptions options{.restarts = 3, .iterations = 60, .pseudo_count = 0.1, .seed = 4};
  options.vary = {{"truth", {1, 2, 3, 4}}};
  const Fit got = fit(dawid_skene(120, 5, 3), data, options);
  ASSERT_EQ(got.varied.size(), 4u);
  double least = std::numeric_limits<double>::infinity();
  for (const Varied& row : got.varied) {
    EXPECT_EQ(row.parameters, row.states - 1 + 5 * row.states * 2);
    EXPECT_DOUBLE_EQ(row.aic, 2 * static_cast<double>(row.parameters) - 2 * row.log_likelihood);
    EXPECT_FALSE(row.held_out || row.cross_validated);
    least = std::min(least, row.bic);
    if (row.bic == got.bic) {
      EXPECT_EQ(got.model.graph.dims()[*got.model.graph.find("truth")].size, row.states);
    }
  }
  EXPECT_EQ(got.bic, least);
  // With as many states as the model has, its own numbers are the first start.
  FitOptions own = options;
  own.vary.clear();
  EXPECT_EQ(fit(dawid_skene(120, 5, 3), data, own).log_likelihood, got.varied[2].log_likelihood);
}

TEST(Vary, FollowsTheLinksOfAChain) {
  const Data data{.states = {{"seen", Integers({2, 6}, {0, 1, 2, 0, 1, 2, 2, 2, 1, 1, 0, 0})}}};
  FitOptions options{.iterations = 10};
  options.vary = {{"now", {3, 4}}};
  options.cross_validate = {{"n", 2}};
  options.pseudo_count = 0.1;
  const Fit got = fit(hidden_markov(2, 6), data, options);
  EXPECT_EQ(got.varied[0].parameters, 2 + 3 * 2 + 3 * 2);
  EXPECT_EQ(got.varied[1].parameters, 3 + 4 * 3 + 4 * 2);
  EXPECT_TRUE(got.varied[0].cross_validated && got.varied[1].cross_validated);
  const std::int64_t states = got.varied[0].bic < got.varied[1].bic ? 3 : 4;
  EXPECT_EQ(got.model.factors[1].shape(), (Tensor::Shape{states, states}));
  EXPECT_NEAR(evaluate(got.model, data).log_likelihood, got.log_likelihood, 1e-9);
}

TEST(Vary, RefusesWhatHasNoMeaning) {
  const Model model = dawid_skene(2, 2, 2);
  const Data data{.states = {{"vote", Integers({2, 2}, {0, 1, 1, 0})}}};
  const auto with = [&](const Model& varied, const std::string& variable, std::vector<std::int64_t> states,
                        std::vector<std::string> learn = {}) {
    FitOptions options{.learn = std::move(learn)};
    options.vary = {{variable, std::move(states)}};
    return refused<Error>([&] { return fit(varied, data, options); });
  };
  const std::string no = "the number of states of 'truth' cannot be varied: ";
  EXPECT_EQ(with(model, "vote", {2, 3}), "the number of states of 'vote' cannot be varied: it has data");
  EXPECT_EQ(with(model, "grade", {2}), "there is no variable 'grade' to vary; the model has 'truth', 'vote'");
  EXPECT_EQ(with(model, "truth", {0}), no + "it must have one at least");
  EXPECT_EQ(with(model, "truth", {}), no + "no numbers of states were given");
  EXPECT_EQ(with(model, "truth", {3}, {"prior"}), no + "factor 'confusion' holds it and is not learnt");
  Model named = model;
  named.states["truth"] = {"no", "yes"};
  EXPECT_EQ(with(named, "truth", {3}), no + "its states have names");
  Model zeros = model;
  zeros.factors[0] = Tensor::of<double>({2}, {1, 0});
  EXPECT_EQ(with(zeros, "truth", {3}),
            no + "factor 'prior' holds it and has zeros, which a table of another shape could not keep");
  Model prior = model;
  prior.learning["prior"].prior = Tensor::of<double>({2}, {1, 2});
  EXPECT_EQ(with(prior, "truth", {3}), no + "the prior of factor 'prior' has a number for each of its states");
}

TEST(Vary, KeepsWhatAnInterruptHasLeft) {
  FitOptions options{.iterations = 10, .tolerance = 0, .threads = 1};
  options.vary = {{"truth", {2, 3, 4}}};
  std::int64_t states = 0;
  options.progress = [&](const FitProgress& now) { states = now.states; };
  options.cancelled = [&] { return states == 3; };
  const Fit got = fit(dawid_skene(20, 4, 3), {.states = {{"vote", votes(20, 4, 3, 10, 5)}}}, options);
  EXPECT_TRUE(got.interrupted);
  EXPECT_LE(got.varied.size(), 2u);
  EXPECT_EQ(got.varied[0].states, 2);
}

}  // namespace
}  // namespace plated::test
