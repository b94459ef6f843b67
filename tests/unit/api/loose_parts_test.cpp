// Lengths of variables in a chain's slices that are connected to none of its linked variables.
#include <gtest/gtest.h>

#include <cmath>

#include "plated/plated.hpp"

namespace plated {
namespace {

const Tensor prior = Tensor::of<double>({2}, {0, 0});
const Tensor moves = Tensor::of<double>({2, 2}, {std::log(0.5), std::log(0.5), std::log(0.25), std::log(0.75)});

EinsumOptions with_length(std::int64_t length) {
  EinsumOptions options{.chains = {{"t", {"a->b"}}}};
  options.lengths = {{"t", Integers({}, std::vector<std::int64_t>{length})}};
  return options;
}

TEST(LooseParts, EndWithTheChain) {
  const Tensor numbers = Tensor::of<double>({3}, {1, 10, NAN});
  const Tensor choices = Tensor::of<double>({3, 2}, {0, 0, 0, 0, NAN, NAN});
  for (const std::int64_t length : {0, 1, 2}) {
    const auto slices = static_cast<double>(length);
    const double numbered = length == 0 ? 0 : length == 1 ? 1 : 11;
    EXPECT_NEAR(einsum("a, (t) a b, t ->", {prior, moves, numbers}, with_length(length)).item(), std::log(2) + numbered,
                1e-14);
    EXPECT_NEAR(einsum("a, (t) a b, t w ->", {prior, moves, choices}, with_length(length)).item(),
                std::log(2) + slices * std::log(2), 1e-14);
  }
  const auto best = map("a, (t) a b, t w ->", {prior, moves, choices}, with_length(1));
  EXPECT_EQ(best.assignment.at("w").values, (std::vector<std::int64_t>{0, -1, -1}));
}

TEST(LooseParts, OutsideOfTheLinkedVariablesPlatesHaveNoLength) {
  EinsumOptions options{.plates = "n", .chains = {{"t", {"a->b"}}}};
  options.sizes = {{"n", 2}};
  options.lengths = {{"t", Integers({2}, {1, 2})}};
  const Tensor choices(Dtype::float64, {3, 2});
  try {
    (void)einsum("(n) a, (n t) a b, t w ->", {prior, moves, choices}, options);
    ADD_FAILURE() << "was answered";
  } catch (const OptionError& error) {
    EXPECT_NE(std::string(error.what()).find("'f2'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace plated
