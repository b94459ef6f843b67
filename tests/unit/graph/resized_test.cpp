// The same graph with another number of slices in a plate.
#include <gtest/gtest.h>

#include "message_of.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

FactorGraph nested() {
  FactorGraph graph;
  graph.plate("i", 3);
  graph.plate("j", 4);
  graph.batch("n", 6);
  graph.variable("x", 2);
  graph.factor("f", {"n", "i", "j", "x"});
  graph.output({});
  return graph;
}

TEST(Resized, ChangesOneSizeAndLeavesTheGraphAlone) {
  const FactorGraph graph = nested();
  const FactorGraph other = graph.resized("i", 10);
  EXPECT_EQ(other.dims()[*other.find("i")].size, 10);
  EXPECT_EQ(other.dims()[*other.find("j")].size, 4);
  EXPECT_EQ(graph.dims()[*graph.find("i")].size, 3);
  EXPECT_EQ(other.variable_plates(), graph.variable_plates());
  EXPECT_EQ(other.equation(), graph.equation());
}

TEST(Resized, MayEmptyAPlate) { EXPECT_EQ(nested().resized("j", 0).dims()[1].size, 0); }

TEST(Resized, RefusesWhatIsNoPlateAndNegativeSizes) {
  for (const char* name : {"k", "x", "n"}) {
    EXPECT_SAYS(test::message_of<UnknownNameError>([&] { (void)nested().resized(name, 2); }), name);
  }
  EXPECT_SAYS(test::message_of<SizeError>([&] { (void)nested().resized("i", -1); }), "-1");
}

}  // namespace
}  // namespace plated
