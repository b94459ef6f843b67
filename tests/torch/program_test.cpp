// Programs: what their statements make, what is asked of them, and what they refuse.
#include "plated/torch/program.hpp"

#include <torch/torch.h>

#include "gradcheck.hpp"
#include "plated/error.hpp"

namespace plated::torch {
namespace {

const auto real = at::kDouble;

at::Tensor numbers(std::initializer_list<double> entries) { return at::tensor(std::vector<double>(entries), real); }

template <class Error, class Function>
void expect_error(Function function, const std::vector<std::string>& words) {
  try {
    function();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    for (const std::string& word : words) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what() << "\nlacks " << word;
    }
  }
}

/// [TVE] Ex. 5.1.
Program example(const at::Tensor& px, const at::Tensor& py, const Value& pz, const at::Tensor& z) {
  Program model;
  auto x = model.sample("x", Bernoulli(px));
  auto I = model.plate("I", z.size(0)), J = model.plate("J", z.size(1));
  auto y = model.sample("y", Bernoulli(py), {I});
  model.observe("z", Bernoulli(pz[{x, y}]), z, {I, J});
  return model;
}

at::Tensor coin(const at::Tensor& p, const at::Tensor& z) { return at::where(z == 1, p.log(), (1 - p).log()); }

/// log p(z) by sums over x and y that are written out.
at::Tensor example_by_hand(const at::Tensor& px, const at::Tensor& py, const at::Tensor& pz, const at::Tensor& z) {
  std::vector<at::Tensor> terms;
  for (int x = 0; x < 2; ++x) {
    std::vector<at::Tensor> inner;
    for (int y = 0; y < 2; ++y) {
      inner.push_back(coin(py, at::tensor(y)) + coin(pz[x][y], z).sum(1));
    }
    terms.push_back(coin(px, at::tensor(x)) + at::stack(inner).logsumexp(0).sum());
  }
  return at::stack(terms).logsumexp(0);
}

const at::Tensor& table() {
  static const at::Tensor pz = numbers({0.1, 0.6, 0.8, 0.3}).reshape({2, 2});
  return pz;
}
const at::Tensor& seen() {
  static const at::Tensor z = at::tensor({1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1}, at::kLong).reshape({3, 4});
  return z;
}

TEST(TorchProgram, SumsTheExampleOfThePaper) {
  const at::Tensor px = at::scalar_tensor(0.3, real);
  const at::Tensor py = at::scalar_tensor(0.7, real);
  EXPECT_NEAR(example(px, py, table(), seen()).log_likelihood().item<double>(),
              example_by_hand(px, py, table(), seen()).item<double>(), 1e-12);
  // Data of other types are the same data.
  EXPECT_NEAR(example(px, py, table(), seen().to(at::kFloat)).log_likelihood().item<double>(),
              example_by_hand(px, py, table(), seen()).item<double>(), 1e-12);
  expect_gradients([](const Inputs& p) { return example(p[0], p[1], p[2], seen()).log_likelihood(); },
                   {px, py, table()});
  expect_second_gradients([](const Inputs& p) { return example(p[0], p[1], p[2], seen()).log_likelihood(); },
                          {px, py, table()});
}

TEST(TorchProgram, KeepsPlansBetweenSizes) {
  const at::Tensor p = at::scalar_tensor(0.3, real);
  const at::Tensor fewer = seen().slice(0, 0, 2);
  EXPECT_NEAR(example(p, p, table(), fewer).log_likelihood().item<double>(),
              example_by_hand(p, p, table(), fewer).item<double>(), 1e-12);
}

TEST(TorchProgram, AnswersAreThoseOfThePosterior) {
  const at::Tensor px = at::scalar_tensor(0.3, real);
  const at::Tensor py = at::scalar_tensor(0.7, real);
  const Program model = example(px, py, table(), seen());
  const auto posterior = model.marginals();
  ASSERT_EQ(posterior.size(), 2U);  // not of what is observed
  EXPECT_EQ(posterior.at("y").sizes(), (std::vector<std::int64_t>{3, 2}));
  // p(x = 1 | z) by conditioning on it.
  Program given = example(px, py, table(), seen());
  given.condition("x", at::scalar_tensor(1, at::kLong));
  EXPECT_NEAR(posterior.at("x")[1].item<double>(),
              (given.log_likelihood() - model.log_likelihood()).exp().item<double>(), 1e-12);
  const MapAssignment best = model.map();
  Program replayed = example(px, py, table(), seen());
  for (const auto& [name, states] : best.states) replayed.condition(name, states);
  EXPECT_NEAR(best.score.item<double>(), replayed.log_likelihood().item<double>(), 1e-12);
  const auto draws = model.posterior_samples({.count = 4000, .seed = 3});
  EXPECT_EQ(draws.at("y").sizes(), (std::vector<std::int64_t>{4000, 3}));
  EXPECT_TRUE(at::allclose(draws.at("y").to(real).mean(0), posterior.at("y").select(1, 1), 0, 0.03));
}

TEST(TorchProgram, AnswersFurtherQuestions) {
  const at::Tensor px = at::scalar_tensor(0.3, real);
  const at::Tensor py = at::scalar_tensor(0.7, real);
  Program model;
  const Value x = model.sample("x", Bernoulli(px));
  const Plate I = model.plate("I", 3), J = model.plate("J", 4);
  const Value y = model.sample("y", Bernoulli(py), {I});
  model.observe("z", Bernoulli(Value(table())[{x, y}]), seen(), {I, J});
  const auto posterior = model.marginals();
  const double best = model.map().score.item<double>();
  const auto scores = model.max_marginals();
  EXPECT_NEAR(scores.at("x").max().item<double>(), best, 1e-12);
  EXPECT_TRUE(at::allclose(std::get<0>(scores.at("y").max(1)), at::full({3}, best, real)));
  // Expectations are sums of marginals, and of joint ones by conditioning.
  EXPECT_NEAR(model.expectation(y).item<double>(), posterior.at("y").select(1, 1).sum().item<double>(), 1e-12);
  const Value weights(numbers({1, 10, 100}), {I});
  EXPECT_NEAR(model.expectation(weights * y).item<double>(),
              (posterior.at("y").select(1, 1) * numbers({1, 10, 100})).sum().item<double>(), 1e-10);
  Program given = example(px, py, table(), seen());
  given.condition("x", at::scalar_tensor(1, at::kLong));
  EXPECT_NEAR(model.expectation(x * y).item<double>(),
              (posterior.at("x")[1] * given.marginals().at("y").select(1, 1).sum()).item<double>(), 1e-12);
  // H = log Z − E[log p(x, y, z)], and −Σ p log p over all 16 assignments.
  double entropy = 0;
  for (int k = 0; k < 16; ++k) {
    Program replayed = example(px, py, table(), seen());
    replayed.replay({{"x", at::scalar_tensor(k / 8, at::kLong)}, {"y", at::tensor({k / 4 % 2, k / 2 % 2, k % 2})}});
    const double log_p = (replayed.log_likelihood() - model.log_likelihood()).item<double>();
    entropy -= std::exp(log_p) * log_p;
  }
  EXPECT_NEAR(model.entropy().item<double>(), entropy, 1e-12);
  // p(row | other rows) is p(all) / p(others).
  const at::Tensor others = example(px, py, table(), seen().slice(0, 1, 3)).log_likelihood();
  EXPECT_NEAR(model.leave_one_out("I")[0].item<double>(), (model.log_likelihood() - others).item<double>(), 1e-12);
  EXPECT_NEAR(model.evaluate().value()[0].item(), model.log_likelihood().item<double>(), 1e-12);
  EXPECT_THROW((void)model.expectation(Value(table())), RankError);
  EXPECT_THROW((void)model.leave_one_out("nowhere"), UnknownNameError);
}

TEST(TorchProgram, ValuesBroadcastByName) {
  Program model;
  const Plate I = model.plate("I", 3);
  const Value x = model.sample("x", Bernoulli(0.5), {I});
  const Value y = model.sample("y", Categorical(numbers({0.2, 0.3, 0.5})), {I});
  const Value by_slice(numbers({1, 2, 3}), {I});
  const Value sum = 0.1 + 0.8 * x - y / 2 + by_slice;
  ASSERT_EQ(sum.axes().size(), 3U);
  const at::Tensor expected = 0.1 + 0.8 * at::arange(2, real).reshape({2, 1, 1}) -
                              at::arange(3, real).reshape({1, 3, 1}) / 2 + numbers({1, 2, 3});
  EXPECT_TRUE(at::allclose(sum.tensor(), expected));
  // A table for each slice, by both; and one that is indexed by data and by a value at once.
  const at::Tensor tables = at::arange(18, real).reshape({3, 2, 3});
  EXPECT_EQ(Value(tables, {I})[std::initializer_list<Value>({x, y})].tensor().data_ptr(), tables.data_ptr());
  const Value chosen = Value(tables)[{Value(at::tensor({2, 0, 1}), {I}), x}];
  EXPECT_EQ(chosen.own_axes(), 1);
  EXPECT_TRUE(at::equal(chosen.tensor(), tables.index_select(0, at::tensor({2, 0, 1}))));
  const Value diagonal = Value(at::arange(4, real).reshape({2, 2}))[{x, x}];
  EXPECT_TRUE(at::equal(diagonal.tensor(), numbers({0, 3})));
  const Value mapped = map_rows({x, by_slice}, [](const at::Tensor& rows) { return rows.sum(1); });
  EXPECT_TRUE(at::allclose(mapped.tensor(), at::arange(2, real).unsqueeze(1) + numbers({1, 2, 3})));
}

TEST(TorchProgram, MixtureOfNormalsWithMissingNumbers) {
  const at::Tensor data = numbers({-1.2, NAN, 2.5, 0.3});
  const auto model = [&](const Inputs& p) {
    Program program;
    const Plate n = program.plate("n", data.size(0));
    const auto scope = program.within({n});
    const Value k = program.sample("k", Categorical(p[0].softmax(0)));
    program.observe("x", Normal(Value(p[1])[k], Value(p[2]).tensor().exp()), data);
    return program.log_likelihood();
  };
  const Inputs parameters{numbers({0.1, 0.4}), numbers({-1, 2}), at::scalar_tensor(0.2, real)};
  const at::Tensor sd = parameters[2].exp();
  const at::Tensor kept = numbers({-1.2, 2.5, 0.3}).unsqueeze(1);
  const at::Tensor density = -0.5 * ((kept - parameters[1]) / sd).pow(2) - sd.log() - 0.5 * std::log(2 * M_PI);
  const double expected = (density + parameters[0].log_softmax(0)).logsumexp(1).sum().item<double>();
  EXPECT_NEAR(model(parameters).item<double>(), expected, 1e-12);
  expect_gradients(model, parameters);
}

TEST(TorchProgram, MasksLeaveObservationsOut) {
  const at::Tensor counts = at::tensor({3, 0, 7, 2}, at::kLong);
  const at::Tensor states = at::tensor({1, 0, 1, 1}, at::kLong);
  const at::Tensor mask = at::tensor({1, 1, 0, 1}, at::kLong).to(at::kBool);
  const auto total = [](const at::Tensor& c, const at::Tensor& s, const std::vector<at::Tensor>& masks) {
    Program program;
    const Plate n = program.plate("n", c.size(0));
    std::vector<Value> seen;
    for (const at::Tensor& m : masks) seen.emplace_back(m, std::vector{n});
    const Value k = program.sample("k", Bernoulli(0.4), {n});
    program.observe("c", Poisson(1 + 2 * k), c, {n}, {.mask = seen});
    program.observe("s", Bernoulli(0.2 + 0.5 * k), s, {n}, {.mask = seen});
    return program.log_likelihood().item<double>();
  };
  const at::Tensor rows = mask.nonzero().squeeze(1);
  const double expected = total(counts.index_select(0, rows), states.index_select(0, rows), {});
  EXPECT_NEAR(total(counts, states, {mask}), expected, 1e-12);
  const at::Tensor missing = mask.logical_not();  // the same by negative numbers
  EXPECT_NEAR(total(counts.masked_fill(missing, -1), states.masked_fill(missing, -1), {}), expected, 1e-12);
}

TEST(TorchProgram, SubsampledPlatesAreScaledOutsideOfSums) {
  const at::Tensor data = numbers({-1.2, 0.4, 2.5, 0.3, 1, -2});
  const auto total = [&](const at::Tensor& batch, bool global) {
    Program program;
    const Plate n = program.plate("n", data.size(0), {.batch = batch});
    const Value g = global ? program.sample("g", Bernoulli(0.3)) : Value(0.0);
    const Value k = program.sample("k", Bernoulli(0.4), {n});
    program.observe("x", Normal(2 * k - g, 1), data, {n});
    return program.log_likelihood().item<double>();
  };
  const double slice = total(at::tensor({2}, at::kLong), false);
  EXPECT_NEAR(total(at::tensor({2, 2, 2, 2, 2, 2}, at::kLong), false), slice, 1e-12);
  EXPECT_NEAR(total(at::tensor({4, 1}, at::kLong), false),
              0.5 * (total(at::tensor({4}, at::kLong), false) + total(at::tensor({1}, at::kLong), false)), 1e-12);
  // A variable outside of the plate is not scaled.
  EXPECT_NEAR(total(at::tensor({3, 3, 3, 3, 3, 3}, at::kLong), true), total(at::tensor({3}, at::kLong), true), 1e-12);
  EXPECT_NEAR(total(at::arange(6), true), total({}, true), 1e-12);
}

TEST(TorchProgram, OverlappingPlatesAreNamed) {
  const at::Tensor p = at::scalar_tensor(0.3, real);
  Program model;
  const Plate rows = model.plate("rows", 3), columns = model.plate("columns", 4);
  const Value a = model.sample("a", Bernoulli(p), {rows});
  model.observe("b", Bernoulli(0.2 + 0.5 * a), seen().t(), {columns, rows});  // data by the order of the list
  const at::Tensor each = at::stack({(1 - p).log() + coin(at::scalar_tensor(0.2, real), seen()).sum(1),
                                     p.log() + coin(at::scalar_tensor(0.7, real), seen()).sum(1)});
  EXPECT_NEAR(model.log_likelihood().item<double>(), each.logsumexp(0).sum().item<double>(), 1e-12);
  Program intractable;
  const Plate I = intractable.plate("I", 3), J = intractable.plate("J", 4);
  const Value x = intractable.sample("x", Bernoulli(p), {I}), y = intractable.sample("y", Bernoulli(p), {J});
  intractable.observe("z", Bernoulli(Value(table())[{x, y}]), seen(), {I, J});
  EXPECT_THROW((void)intractable.log_likelihood(), IntractableError);
}

TEST(TorchProgram, ExplainsAndDraws) {
  const at::Tensor p = at::scalar_tensor(0.3, real);
  const Program model = example(p, p, table(), seen());
  const std::string text = model.explain();
  EXPECT_NE(text.find("observe z ~ Bernoulli given 'x', 'y' in 'I', 'J'"), std::string::npos) << text;
  const auto [graph, observed] = model.picture();
  EXPECT_EQ(observed, std::vector<std::string>{"z"});
  EXPECT_EQ(graph.factors().size(), 3U);
}

TEST(TorchProgram, RefusesByName) {
  Program model;
  const Plate I = model.plate("I", 3), J = model.plate("J", 4);
  const Value y = model.sample("y", Bernoulli(0.5), {I});
  expect_error<DuplicateNameError>([&] { model.sample("a", Bernoulli(0.5), {I, I}); }, {"'a'", "'I'", "twice"});
  expect_error<DuplicateNameError>(
      [&] {
        const auto scope = model.within({I});
        model.sample("a", Bernoulli(0.5), {I});
      },
      {"'a'", "'I'", "twice"});
  expect_error<PlateError>([&] { model.sample("b", Bernoulli(0.5 * y)); }, {"'b'", "'y'", "'I'"});
  expect_error<PlateError>([&] { model.sample("c", Bernoulli(Value(at::ones({4}, real) / 2, {J})), {I}); },
                           {"'c'", "'J'"});
  expect_error<DuplicateNameError>([&] { model.sample("y", Bernoulli(0.5)); }, {"'y'"});
  expect_error<OptionError>([&] { model.sample("mu", Normal(0.0, 1.0)); }, {"'mu'", "Normal", "parameter"});
  expect_error<UnknownNameError>([&] { model.condition("w", at::scalar_tensor(1, at::kLong)); }, {"'w'", "'y'"});
  expect_error<RankError>([&] { model.observe("d", Bernoulli(0.5), seen(), {I}); }, {"'d'", "'I'"});
  expect_error<SizeError>([&] { model.observe("d", Bernoulli(0.5), seen().t(), {I, J}); }, {"'I'", "3"});
  expect_error<RankError>([&] { model.sample("e", Bernoulli(at::ones({3}, real))); }, {"Bernoulli", "Value"});
  expect_error<SizeError>([&] { (void)Value(at::ones({3}, real))[y]; }, {"'y'", "2", "3"});
  expect_error<ValueError>([&] { (void)Value(at::ones({3}, real))[0.5 * y]; }, {"integers"});
  EXPECT_THROW((void)model.plate("I", 2), DuplicateNameError);
}

}  // namespace
}  // namespace plated::torch
