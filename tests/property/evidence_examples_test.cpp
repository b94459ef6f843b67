// Evidence about models by hand, and what makes no sense of it.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "plated/error.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"

namespace plated::test {
namespace {

/// Rain makes sensors fire.
struct Sensors {
  Tensor rain = Tensor::of<double>({2}, {std::log(0.8), std::log(0.2)});
  Tensor fires = Tensor::of<double>({2, 2}, {std::log(0.9), std::log(0.1), std::log(0.3), std::log(0.7)});
  [[nodiscard]] Marginals ask(const Evidence& evidence, std::vector<std::string> observable = {"y", "x"}) const {
    EinsumOptions options{.plates = "i", .sizes = {{"i", 3}}};
    options.plan.observable = std::move(observable);
    options.evidence = evidence;
    return marginals("x,(i)xy->", {rain, fires}, options);
  }
};

TEST(Evidence, SensorsByHand) {
  const Sensors sensors;
  EXPECT_NEAR(sensors.ask({}).variables.at("x").values()[1], 0.2, 1e-15);
  const double dry = 0.8 * 0.1 * 0.9, wet = 0.2 * 0.7 * 0.3;
  const Marginals p = sensors.ask({{"y", Integers({3}, {1, -1, 0})}});
  EXPECT_NEAR(p.variables.at("x").values()[1], wet / (dry + wet), 1e-14);
  EXPECT_NEAR(p.variables.at("y").at({1, 1}), (0.1 * dry + 0.7 * wet) / (dry + wet), 1e-14);
  EXPECT_NEAR(p.variables.at("y").at({0, 1}), 1, 1e-15);
  EXPECT_EQ(p.variables.at("y").at({2, 1}), 0);
  EXPECT_NEAR(p.log_partition.item(), std::log(dry + wet), 1e-14);
  EXPECT_NEAR(sensors.ask({{"x", Integers({}, std::vector<std::int64_t>{1})}}).variables.at("y").at({2, 1}), 0.7,
              1e-14);
}

TEST(Evidence, WhatMakesNoSenseIsNamed) {
  const Sensors sensors;
  EXPECT_THROW((void)sensors.ask({{"nobody", Integers({3}, 0)}}), UnknownNameError);
  EXPECT_THROW((void)sensors.ask({{"y", Integers({3}, 2)}}), ValueError);
  EXPECT_THROW((void)sensors.ask({{"y", Integers({3}, -2)}}), ValueError);
  EXPECT_THROW((void)sensors.ask({{"y", Integers({2}, 0)}}), ShapeError);
  EXPECT_THROW((void)sensors.ask({{"y", Integers({}, 0)}}), ShapeError);
  EXPECT_NO_THROW((void)sensors.ask({{"y", Integers({3}, 0)}}, {"x"})) << "what has evidence is observed";
  EXPECT_THROW((void)sensors.ask({{"i", Integers({3}, 0)}}), Error);
  EXPECT_THROW((void)sensors.ask({}, {"nobody"}), UnknownNameError);
  EXPECT_THROW((void)sensors.ask({}, {"i"}), Error);
  const double none = -std::numeric_limits<double>::infinity();
  EinsumOptions options;
  options.plan.observable = {"x"};
  options.evidence = {{"x", Integers({}, std::vector<std::int64_t>{1})}};
  const Tensor never = Tensor::of<double>({2}, {0, none});
  EXPECT_THROW((void)marginals("x->", {never}, options), ImpossibleError);
  EXPECT_THROW((void)map("x->", {never}, options), ImpossibleError);
  EXPECT_THROW((void)sample("x->", {never}, {}, options), ImpossibleError);
  EXPECT_EQ(einsum("x->", {never}, options).item(), none);
}

/// Weather that stays as it is three days in four, seen on one day only.
TEST(EvidenceInAChain, OfOneDayByHand) {
  const double stay = std::log(0.75), change = std::log(0.25);
  EinsumOptions options{.chains = {{"t", {"a->b"}}}, .sizes = {{"t", 3}}};
  options.plan.observable = {"b"};
  options.evidence = {{"b", Integers({3}, {-1, 1, -1})}};
  const Marginals p =
      marginals("(t) a b ->", {Tensor::of<double>({2, 2}, {stay, change, change, stay})}, options, {.ends = true});
  EXPECT_NEAR(p.variables.at("b").at({1, 1}), 1, 1e-15);
  EXPECT_NEAR(p.variables.at("a").at({2, 1}), 1, 1e-15);
  EXPECT_NEAR(p.variables.at("a").at({1, 1}), 0.75, 1e-14);
  EXPECT_NEAR(p.variables.at("b$").at({1}), 0.75, 1e-14);
  EXPECT_NEAR(p.variables.at("^a").at({1}), 0.75 * 0.75 + 0.25 * 0.25, 1e-14);
}

TEST(EvidenceInAChain, OfNeighboursThatDisagreeIsImpossible) {
  EinsumOptions options{.chains = {{"t", {"a->b"}}}, .sizes = {{"t", 3}}};
  options.plan.observable = {"a", "b"};
  const std::vector<Tensor> operands = {Tensor(Dtype::float64, {2, 2})};
  options.evidence = {{"a", Integers({3}, {-1, 1, -1})}, {"b", Integers({3}, {1, -1, -1})}};
  EXPECT_NO_THROW((void)marginals("(t) a b ->", operands, options));
  options.evidence = {{"a", Integers({3}, {-1, 1, -1})}, {"b", Integers({3}, {0, -1, -1})}};
  EXPECT_THROW((void)marginals("(t) a b ->", operands, options), ImpossibleError);
  EXPECT_THROW((void)map("(t) a b ->", operands, options), ImpossibleError);
  options.evidence = {{"b", Integers({2}, {0, 1})}};
  EXPECT_THROW((void)marginals("(t) a b ->", operands, options), ShapeError);
  options.evidence = {{"b", Integers({3}, {0, 2, 1})}};
  EXPECT_THROW((void)marginals("(t) a b ->", operands, options), ValueError);
}

}  // namespace
}  // namespace plated::test
