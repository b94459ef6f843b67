// Totals and answers that are no numbers: refused by every question about a posterior, whatever was checked before.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "plated/plated.hpp"
#include "unit/graph/message_of.hpp"

namespace plated {
namespace {

using test::message_of;
using Shape = Tensor::Shape;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t batches = 2, slices = 4, states = 2;

Tensor filled(const Shape& shape, double value) { return Tensor::scalar(value).broadcast(shape); }

/// Observations in each of two batches, in a plate or along a chain; the last entry of all is given.
struct Model {
  std::string equation;
  EinsumOptions options;
  std::vector<Tensor> operands;
};
Tensor observations(double last) {
  std::vector<double> seen(batches * slices * states, 0.0);
  seen.back() = last;
  return Tensor::of<double>({batches, slices, states}, seen);
}

Model plated_model(double last) {
  const EinsumOptions options{.plates = "t", .batch = "n", .check = Check::none};
  return {"a,tab,ntb->", options, {filled({2}, 0), filled({slices, 2, 2}, 0), observations(last)}};
}

Model chained_model(double last) {
  EinsumOptions options{.batch = "n", .check = Check::none};
  options.chains["t"] = {"a->b"};
  return {"^a,(t)ab,ntb->", options, {filled({2}, 0), filled({2, 2}, 0), observations(last)}};
}

std::vector<std::pair<std::string, std::function<void()>>> questions(const Model& m) {
  return {
      {"marginals", [&] { (void)marginals(m.equation, m.operands, m.options); }},
      {"log marginals", [&] { (void)marginals(m.equation, m.operands, m.options, {.log = true}); }},
      {"sets", [&] { (void)marginals(m.equation, m.operands, m.options, {.variables = false, .sets = {{"b"}}}); }},
      {"map", [&] { (void)map(m.equation, m.operands, m.options); }},
      {"sample", [&] { (void)sample(m.equation, m.operands, {.count = 100}, m.options); }},
      {"entropy", [&] { (void)entropy(m.equation, m.operands, m.options); }},
      {"expectation", [&] { (void)expectation(m.equation, m.operands, m.operands, m.options); }},
      {"leave_one_out", [&] { (void)leave_one_out(m.equation, m.operands, "t", m.options); }},
  };
}

TEST(NoNumbers, OfATotalAreAValueErrorOfEveryQuestion) {
  const Model model = plated_model(infinity);
  for (const auto& [name, ask] : questions(model)) EXPECT_THROW(ask(), ValueError) << name;
}

TEST(NoNumbers, NameTheBatch) {
  const Model model = plated_model(infinity);
  const std::string message = message_of<ValueError>([&] { (void)map(model.equation, model.operands, model.options); });
  EXPECT_SAYS(message, "n = 1");
  EXPECT_SAYS(message, "is inf");
}

TEST(NoNumbers, NeverComeOutOfANaN) {
  const Model model = plated_model(nan);
  for (const auto& [name, ask] : questions(model)) {
    if (name == "map" || name == "sample") continue;  // may choose what is not NaN
    EXPECT_THROW(ask(), ValueError) << name;
  }
}

TEST(NoNumbers, AreNotTakenForZeroWhereAllTermsOfASumAreNaN) {
  for (const std::int64_t terms : {2, 5, 400}) {
    EXPECT_TRUE(std::isnan(einsum("x->", {filled({terms}, nan)}, {.check = Check::none}).item())) << terms;
  }
}

TEST(NoNumbers, AreRefusedWhereTheProductInsideASliceOverflows) {
  // Of the two states of u one overflows in every slice: it must not pass for impossible.
  EinsumOptions options{.plates = "i", .check = Check::none};
  options.chains["t"] = {"a->b"};
  std::vector<double> seen(3 * 2 * 2 * 2, 0.0);
  for (std::size_t k = 0; k < seen.size(); k += 2) seen[k] = 1.5e308;
  const std::vector<Tensor> operands{filled({2, 2}, 0), Tensor::of<double>({3, 2, 2, 2}, seen), filled({2}, -1e308)};
  const std::string equation = "(t)ab,itbu,u->";
  for (const bool draws : {false, true}) {
    try {
      const Integers u = draws ? sample(equation, operands, {.count = 20}, options).at("u")
                               : map(equation, operands, options).assignment.at("u");
      for (const std::int64_t state : u.values) EXPECT_EQ(state, 0);
    } catch (const ValueError&) {
    }
  }
}

TEST(NoNumbers, NeverChooseAStateThatDoesNotExist) {
  for (const double last : {nan, infinity, -infinity, 1e308, -1e308}) {
    for (Model model : {plated_model(last), chained_model(last)}) {
      model.operands[2] = last == 1e308 ? filled({batches, slices, states}, 1e308) : model.operands[2];
      const auto expect_states = [&](const std::map<std::string, Integers>& assignment) {
        for (const auto& [name, chosen] : assignment) {
          for (const std::int64_t state : chosen.values) ASSERT_TRUE(state == 0 || state == 1) << name << " " << state;
        }
      };
      try {
        expect_states(map(model.equation, model.operands, model.options).assignment);
        expect_states(sample(model.equation, model.operands, {.count = 100}, model.options));
      } catch (const ValueError&) {
      } catch (const ImpossibleError&) {
      }
    }
  }
}

}  // namespace
}  // namespace plated
