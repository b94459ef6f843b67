// Plans for the reverse sweep keep sums as separate values.
#include <gtest/gtest.h>

#include "planned.hpp"
#include "planner/passes.hpp"

namespace plated {
namespace {

using planner::Schedule;
using planner::Step;
using planner::Value;
using test::graph_of;

struct Question {
  const char* equation;
  const char* plates;
};
const std::vector<Question> questions = {{"x,iy,ijxy->", "ij"},
                                         {"ix->", "i"},
                                         {"ixy->", "i"},
                                         {"ab,bc->ac", ""},
                                         {"ab,bc,ca->", ""},
                                         {"x,ix,ijxy->x", "ij"},
                                         {"a,abi,bcij->bi,cij", "ij"},
                                         {"ab,bc->a,b,c,", ""},
                                         {"ijx->ij", "ij"}};

/// A sum in the same step as a product over plates, or as an output.
bool mixes(const Schedule& schedule, const Step& step) {
  if (summed(step).empty()) return false;
  return !multiplied(step).empty() || schedule.values[step.output].kind == Value::Kind::output;
}

bool any_mixes(const Schedule& schedule) {
  return std::any_of(schedule.steps.begin(), schedule.steps.end(), [&](const Step& s) { return mixes(schedule, s); });
}

TEST(KeepSums, SumsAndProductsAreStepsOfTheirOwn) {
  for (const auto& [equation, plates] : questions) {
    const FactorGraph graph = graph_of(equation, plates);
    const Schedule kept = planner::plan(graph, {.keep_sums = true});
    EXPECT_FALSE(any_mixes(kept)) << equation;
    EXPECT_TRUE(any_mixes(planner::plan(graph, {}))) << equation << ": nothing to keep apart, so nothing is tested";
    EXPECT_NO_THROW(planner::verify(kept));
  }
}

TEST(KeepSums, TiedPlatesToo) {
  const std::vector<std::vector<std::int64_t>> shapes{{2, 3}};
  const FactorGraph graph = FactorGraph::from_equation("(i)xy->", shapes, {.plates = "i", .sizes = {{"i", 5}}});
  EXPECT_FALSE(any_mixes(planner::plan(graph, {.keep_sums = true})));
  EXPECT_TRUE(any_mixes(planner::plan(graph, {})));
}

TEST(KeepSums, SumsTheSameVariablesOnce) {
  for (const auto& [equation, plates] : questions) {
    const FactorGraph graph = graph_of(equation, plates);
    const Schedule kept = planner::plan(graph.asking({{}}), {.keep_sums = true});
    std::vector<int> times(graph.dims().size(), 0);
    for (const Step& step : kept.steps) {
      for (const DimId v : summed(step)) ++times[v];
    }
    for (DimId d = 0; d < times.size(); ++d) {
      EXPECT_EQ(times[d], graph.dims()[d].kind == DimKind::variable ? 1 : 0) << equation << " " << graph.dims()[d].name;
    }
  }
}

}  // namespace
}  // namespace plated
