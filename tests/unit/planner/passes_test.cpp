// The optional passes one by one: the steps that each saves, and that return when it is left out.
#include "planner/passes.hpp"

#include <gtest/gtest.h>

#include <random>

#include "base/checked_size.hpp"
#include "planned.hpp"
#include "plated/error.hpp"

namespace plated::planner {
namespace {

using test::cost_of;
using test::graph_of;
using test::names;
using test::plan_of;
using test::row;

const char* const benchmark = "a,abi,bcij,adj,deij->";

std::vector<std::string> intermediates(const Schedule& schedule) {
  std::vector<std::string> list;
  for (const Step& step : schedule.steps) {
    const Value& value = schedule.values[step.output];
    if (value.kind == Value::Kind::intermediate) list.push_back(names(schedule.graph, base::sorted(value.dims)));
  }
  return list;
}

TEST(Planner, RefusesAPassThatDoesNotExist) {
  try {
    (void)plan_of("ab->", "", {"fuse_everything"});
    FAIL();
  } catch (const OptionError& error) {
    EXPECT_NE(std::string(error.what()).find("fuse_everything"), std::string::npos);
  }
}

TEST(Planner, PlansWithAnySubsetOfItsPasses) {
  const std::vector<std::string> passes = optional_passes();
  for (std::uint32_t mask = 0; mask < 1U << passes.size(); ++mask) {
    std::set<std::string> without;
    for (std::size_t k = 0; k < passes.size(); ++k) {
      if ((mask >> k & 1U) != 0) without.insert(passes[k]);
    }
    const Schedule schedule = plan_of("a,abi,bcij,adj,deij->,bi,a,ijc", "ij", without);
    std::size_t delivered = 0;
    for (const Step& step : schedule.steps)
      delivered += schedule.values[step.output].kind == Value::Kind::output ? 1 : 0;
    EXPECT_EQ(delivered, 4U);
  }
}

TEST(FuseProducts, NeverWritesAnIntermediateWithThePlatesOfItsProduct) {
  // Sums over c and e stay in their loops: nothing in both plates is written.
  for (const std::string& dims : intermediates(plan_of(benchmark, "ij"))) {
    EXPECT_FALSE(dims.find('i') != std::string::npos && dims.find('j') != std::string::npos) << dims;
  }
}

TEST(FuseProducts, FoldsEveryProductIntoASum) {
  for (const Step& step : plan_of(benchmark, "ij").steps) {
    EXPECT_TRUE(multiplied(step).empty() || !summed(step).empty());
  }
}

TEST(FuseProducts, LeftOutWritesThem) {
  const std::vector<std::string> written = intermediates(plan_of(benchmark, "ij", {"fuse_products"}));
  // dims sorted by declaration: a b i c j d e
  EXPECT_NE(std::find(written.begin(), written.end(), "bij"), written.end());
  EXPECT_NE(std::find(written.begin(), written.end(), "ijd"), written.end());
  EXPECT_EQ(cost_of(plan_of(benchmark, "ij", {"fuse_products"})).flops, cost_of(plan_of(benchmark, "ij")).flops);
}

TEST(FuseElementwise, MakesAThreeWayDotProductOneStep) {
  const Schedule fused = plan_of("x,x,x->");
  EXPECT_EQ(fused.steps[0].inputs.size(), 3U);
  EXPECT_EQ(names(fused.graph, summed(fused.steps[0])), "x");
  EXPECT_GT(plan_of("x,x,x->", "", {"fuse_elementwise"}).steps.size(), fused.steps.size());
}

TEST(FuseElementwise, DoesNotRepeatWork) {
  for (const char* equation : {"x,x,x->", "ab,ab,bc->ac", "a,ab,b,bc,c->", "ab,bc,cd,da,ac->"}) {
    EXPECT_LE(cost_of(plan_of(equation)).flops, cost_of(plan_of(equation, "", {"fuse_elementwise"})).flops) << equation;
  }
}

TEST(FuseElementwise, KeepsAValueThatIsReadTwice) {
  // x·x is asked for and summed: computing it twice would be repeated work.
  const Schedule schedule = plan_of("x,x,x->x,");
  EXPECT_LE(cost_of(schedule).flops, cost_of(plan_of("x,x,x->x,", "", {"fuse_elementwise"})).flops);
}

/// For each intermediate: first and last step of its life, and its bytes.
struct Life {
  std::size_t born, dies;
  std::int64_t begin, end;
};

std::vector<Life> lives(const Schedule& schedule, const Arena& arena, std::int64_t element_size) {
  std::vector<Life> list;
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    const ValueId v = schedule.steps[s].output;
    const Value& value = schedule.values[v];
    if (value.kind != Value::Kind::intermediate) continue;
    std::size_t last = s;
    for (std::size_t t = s; t < schedule.steps.size(); ++t) {
      for (const ValueId input : schedule.steps[t].inputs) last = input == v ? t : last;
    }
    const std::int64_t size = value.precision == Precision::wide ? 8 : element_size;
    const std::int64_t begin = arena.offset[v];
    list.push_back({s, last, begin, begin + elements(schedule.extents, value.dims) * size});
  }
  return list;
}

void expect_apart(const Schedule& schedule) {
  for (const std::int64_t element_size : {4, 8}) {
    const Arena arena = place_buffers(schedule, schedule.extents, {.element = element_size});
    const std::vector<Life> all = lives(schedule, arena, element_size);
    for (std::size_t a = 0; a < all.size(); ++a) {
      EXPECT_GE(all[a].begin, 0);
      EXPECT_EQ(all[a].begin % 64, 0);
      EXPECT_LE(all[a].end, arena.bytes);
      for (std::size_t b = a + 1; b < all.size(); ++b) {
        const bool together = all[a].born <= all[b].dies && all[b].born <= all[a].dies;
        const bool overlap = all[a].begin < all[b].end && all[b].begin < all[a].end;
        EXPECT_FALSE(together && overlap) << "steps " << all[a].born << " and " << all[b].born;
      }
    }
  }
}

TEST(DeliverDirectly, WritesAnOutputWithoutACopy) {
  EXPECT_EQ(plan_of("ab,b->a").steps.size(), 1U);
  const Schedule direct = plan_of(benchmark, "ij");
  const Schedule copied = plan_of(benchmark, "ij", {"deliver_directly"});
  EXPECT_LT(direct.steps.size(), copied.steps.size());
  EXPECT_LE(cost_of(direct).flops, cost_of(copied).flops);
  EXPECT_EQ(direct.values[direct.steps.back().output].kind, Value::Kind::output);
  EXPECT_FALSE(summed(direct.steps.back()).empty());
}

TEST(PlaceBuffers, KeepsLiveBuffersApart) {
  expect_apart(plan_of("a,abi,bcij,adj,deij->,bi,a,ijc", "ij"));
  std::vector<std::vector<std::string>> marginals;
  for (int v = 0; v < 30; ++v) marginals.push_back({"v" + std::to_string(v)});
  expect_apart(plan_of(row(30, marginals, 7)));
  std::mt19937 random(7);
  for (int trial = 0; trial < 50; ++trial) {
    FactorGraph g;
    for (int v = 0; v < 12; ++v) g.variable("v" + std::to_string(v), 2 + static_cast<std::int64_t>(random() % 3));
    for (int f = 0; f < 16; ++f) {
      const auto a = random() % 12, b = random() % 12;
      if (a != b) g.factor("", {"v" + std::to_string(a), "v" + std::to_string(b)});
    }
    g.output({});
    g.output({"v0"});
    g.output({"v1"});
    expect_apart(plan_of(g));
  }
}

TEST(PlaceBuffers, ReusesPlaces) {
  // A long row keeps a message or two alive, whatever its length.
  const FactorGraph g = row(100, {{}}, 32);
  const Schedule reused = plan_of(g);
  const Schedule fresh = plan_of(g, {"reuse_buffers"});
  expect_apart(fresh);
  EXPECT_EQ(reused.steps.size(), fresh.steps.size());
  for (const std::int64_t size : {4, 8}) {
    EXPECT_LT(place_buffers(reused, reused.extents, {.element = size}).bytes,
              place_buffers(fresh, fresh.extents, {.element = size}).bytes / 4);
  }
}

TEST(PlaceBuffers, RefusesIntermediatesThatDoNotFitIn63Bits) {
  const std::int64_t big = std::int64_t{1} << 31;
  // a and c meet only through b, whose sum is over them both, and so is f(a, c)'s partner.
  FactorGraph g;
  for (const char* name : {"a", "b", "c", "d"}) g.variable(name, big);
  g.factor("f", {"a", "b"});
  g.factor("g", {"b", "c"});
  g.factor("h", {"c", "d"});
  g.factor("k", {"d", "a"});
  g.factor("m", {"a", "c"});
  g.factor("n", {"b", "d"});
  g.output({});
  try {
    (void)plan_of(g);
    FAIL() << "planned";
  } catch (const SizeOverflowError& error) {
    EXPECT_NE(std::string(error.what()).find("2147483648"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("intermediate"), std::string::npos) << error.what();
  }
}

TEST(PlaceBuffers, RefusesAnArenaThatDoesNotFitIn63Bits) {
  // Each message of the row takes 2^61 bytes: one or two of them fit, all of them do not.
  const FactorGraph g = row(10, {{}}, std::int64_t{1} << 58);
  EXPECT_NO_THROW((void)plan_of(g));
  EXPECT_THROW((void)plan_of(g, {"reuse_buffers"}), SizeOverflowError);
}

/// What is said of a schedule and the places of its values.
std::string broken(const Schedule& schedule, const Arena& arena) {
  try {
    verify(schedule);
    verify_places(schedule, arena, schedule.extents, {.element = 4});
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

TEST(Verify, FindsABrokenSchedule) {
  Schedule schedule = plan_of(benchmark, "ij");
  EXPECT_TRUE(schedule.verified) << "tests verify every schedule";
  const Arena arena = place_buffers(schedule, schedule.extents, {.element = 4});
  EXPECT_EQ(broken(schedule, arena), "");
  Schedule unwritten = schedule;
  std::swap(unwritten.steps.front(), unwritten.steps.back());
  EXPECT_NE(broken(unwritten, arena).find("has not been written"), std::string::npos) << broken(unwritten, arena);
  Arena overlapping = arena;
  for (auto& offset : overlapping.offset) offset = offset >= 0 ? 0 : offset;
  EXPECT_NE(broken(schedule, overlapping).find("two live values"), std::string::npos) << broken(schedule, overlapping);
  Schedule lost = schedule;
  for (Step& step : lost.steps) step.operation = Contract{};
  EXPECT_NE(broken(lost, arena).find("loses a dim"), std::string::npos) << broken(lost, arena);
}

}  // namespace
}  // namespace plated::planner
