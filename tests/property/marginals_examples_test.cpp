// Marginals of models by hand, and what they refuse.
#include <gtest/gtest.h>

#include <cmath>

#include "plated/error.hpp"
#include "plated/marginals.hpp"

namespace plated::test {
namespace {

TEST(Marginals, InLogSpaceAreRightWhereProbabilitiesUnderflow) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    const auto tensor = [&](const Tensor::Shape& shape, const std::vector<double>& values) {
      if (dtype == Dtype::float64) return Tensor::of<double>(shape, values);
      return Tensor::of<float>(shape, std::vector<float>(values.begin(), values.end()));
    };
    // x; y in a plate: each depends on x, and is nearly surely in state 0.
    const Tensor f = tensor({2}, {0, -5000});
    const Tensor g = tensor({2, 2, 2}, {0, -7000, -1, -2, 0.5, -6000, -3, -1});
    const Marginals p =
        marginals("x,ixy->", {f, g}, {.plates = "i"}, {.factors = true, .sets = {{"x", "y"}}, .log = true});
    const Marginals plain = marginals("x,ixy->", {f, g}, {.plates = "i"}, {.factors = true});
    const double one = std::log(std::exp(-1.0) + std::exp(-2.0)) + std::log(std::exp(-3.0) + std::exp(-1.0));
    const double relative = dtype == Dtype::float32 ? 1e-6 : 1e-14;
    const auto expect = [&](double got, double want) { EXPECT_NEAR(got, want, relative * (1 + std::abs(want))); };
    // log Z = 0.5: x = 1 weighs e^(−5000 + one), and a state y = 1 of x = 0 weighs e^−7000 or e^−6000.
    expect(p.log_partition.item(), 0.5);
    expect(p.variables.at("x").values()[0], 0);
    expect(p.variables.at("x").values()[1], -5000 + one - 0.5);
    const double y0 = -5000 - 2 + std::log(std::exp(-3.0) + std::exp(-1.0)) - 0.5;
    const double y1 = -5000 - 1 + std::log(std::exp(-1.0) + std::exp(-2.0)) - 0.5;
    expect(p.variables.at("y").at({0, 1}), y0);
    expect(p.variables.at("y").at({1, 1}), y1);
    expect(p.factors[0].values()[1], -5000 + one - 0.5);
    expect(p.factors[1].at({0, 0, 1}), -7000);
    expect(p.factors[1].at({1, 0, 1}), -6000.5);
    expect(p.sets[0].at({0, 0, 1}), -7000);
    expect(p.sets[0].at({1, 0, 1}), -6000.5);
    EXPECT_EQ(plain.variables.at("x").values(), (std::vector<double>{1, 0}));
  }
}

TEST(Marginals, RefuseSetsThatMakeNoSense) {
  const Tensor f = Tensor::of<double>({2, 2}, {1, 2, 3, 4});
  const auto ask = [&](std::vector<std::string> set) {
    (void)marginals("ix,jy->", {f, f}, {.plates = "ij"}, {.sets = {std::move(set)}});
  };
  EXPECT_THROW(ask({"x", "nobody"}), UnknownNameError);
  EXPECT_THROW(ask({"x", "i"}), Error);
  EXPECT_THROW((void)marginals("ix,jy->", {f, f}, {.plates = "ij", .semiring = Semiring::max_plus}), OptionError);
  EXPECT_THROW((void)marginals("ix,jy->", {f, f}, {.plates = "ij", .semiring = Semiring::boolean}), OptionError);
}

}  // namespace
}  // namespace plated::test
