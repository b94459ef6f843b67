// The same graph asked for other outputs.
#include <gtest/gtest.h>

#include "message_of.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

/// [TVE] Sec. 5.2: what the output says decides whether z is one variable or one in each slice.
FactorGraph pairs(const char* equation) {
  const std::vector<std::vector<std::int64_t>> shapes{{2, 3}, {4, 3, 5}};
  return FactorGraph::from_equation(equation, shapes, {.plates = "i"});
}

std::vector<std::string> names(const FactorGraph& graph, const std::vector<DimId>& dims) {
  std::vector<std::string> list;
  for (const DimId d : dims) list.push_back(graph.dims()[d].name);
  return list;
}

TEST(Asking, KeepsThePlatesThatAnOutputGaveToAVariable) {
  const FactorGraph local = pairs("xy,iyz->xiz"), global = pairs("xy,iyz->xz");
  const DimId z = *local.find("z");
  ASSERT_EQ(local.variable_plates()[z], std::vector<DimId>{*local.find("i")});
  ASSERT_TRUE(global.variable_plates()[*global.find("z")].empty());
  for (const FactorGraph& graph : {local, global}) {
    for (const auto& outputs : std::vector<std::vector<std::vector<std::string>>>{{}, {{}}, {{"x"}, {"y"}, {}}}) {
      EXPECT_EQ(graph.asking(outputs).variable_plates(), graph.variable_plates());
    }
  }
  // A bare graph would say otherwise: nothing but the factor holds z then, and it is local.
  EXPECT_EQ(pairs("xy,iyz->").variable_plates()[z].size(), 1U);
}

TEST(Asking, ReplacesTheOutputsAndLeavesTheGraphAlone) {
  const FactorGraph graph = pairs("xy,iyz->xiz");
  const FactorGraph other = graph.asking({{"z", "i"}, {}});
  ASSERT_EQ(other.outputs().size(), 2U);
  EXPECT_EQ(names(other, other.outputs()[0].dims), (std::vector<std::string>{"z", "i"}));
  EXPECT_TRUE(other.outputs()[1].dims.empty());
  ASSERT_EQ(graph.outputs().size(), 1U);
  EXPECT_EQ(names(graph, graph.outputs()[0].dims), (std::vector<std::string>{"x", "i", "z"}));
  EXPECT_EQ(other.factors().size(), graph.factors().size());
  EXPECT_EQ(other.dims().size(), graph.dims().size());
  EXPECT_NO_THROW(other.validate());
}

TEST(Asking, PutsUnwrittenBatchDimsInFront) {
  const std::vector<std::vector<std::int64_t>> shapes{{7, 2}};
  const FactorGraph graph = FactorGraph::from_equation("nx->nx", shapes, {.batch = "n"});
  const FactorGraph total = graph.asking({{}});
  EXPECT_EQ(names(total, total.outputs()[0].dims), std::vector<std::string>{"n"});
}

TEST(Asking, RefusesNamesThatAreNotThere) {
  const FactorGraph graph = pairs("xy,iyz->");
  EXPECT_SAYS(test::message_of<UnknownNameError>([&] { (void)graph.asking({{"w"}}); }), "w");
  EXPECT_THROW((void)graph.asking({{"x", "x"}}), DuplicateNameError);
}

TEST(Asking, KeepsPlatesThatWereStated) {
  FactorGraph graph;
  graph.plate("i", 3);
  graph.variable("x", 2, {});
  graph.factor("f", {"i", "x"});
  graph.output({});
  EXPECT_TRUE(graph.asking({{"x"}}).variable_plates()[*graph.find("x")].empty());
}

}  // namespace
}  // namespace plated
