// Certificates name the shortest path of factors, also through messages of eliminated components.
#include "planner/certificate.hpp"

#include <gtest/gtest.h>

#include "planned.hpp"
#include "plated/error.hpp"

namespace plated {
namespace {

Certificate certificate_of(const FactorGraph& graph) {
  try {
    (void)test::plan_of(graph);
  } catch (const IntractableError& error) {
    return error.certificate();
  }
  ADD_FAILURE() << "tractable:\n" << graph.print();
  return {};
}

/// Variable u in plate i and w in plate j, joined by `length` factors through variables in both plates and in k.
FactorGraph path(int length, bool deeper) {
  FactorGraph g;
  for (const char* plate : {"i", "j", "k"}) g.plate(plate, 2);
  g.variable("u", 2, {"i"});
  g.variable("w", 2, {"j"});
  std::vector<std::string> plates{"i", "j"};
  if (deeper) plates.push_back("k");
  for (int v = 1; v < length; ++v) g.variable("x" + std::to_string(v), 2, plates);
  for (int f = 0; f < length; ++f) {
    std::vector<std::string> dims = plates;
    dims.push_back(f == 0 ? "u" : "x" + std::to_string(f));
    dims.push_back(f + 1 == length ? "w" : "x" + std::to_string(f + 1));
    g.factor("g" + std::to_string(f), dims);
  }
  g.output({});
  return g;
}

TEST(Certificate, FollowsThePathThatJoinsTheVariables) {
  for (const bool deeper : {false, true}) {
    for (const int length : {1, 2, 3, 7}) {
      const Certificate certificate = certificate_of(path(length, deeper));
      EXPECT_EQ(certificate.u, "u");
      EXPECT_EQ(certificate.w, "w");
      EXPECT_EQ(certificate.a, "i");
      EXPECT_EQ(certificate.b, "j");
      ASSERT_EQ(certificate.factors.size(), static_cast<std::size_t>(length));
      for (int f = 0; f < length; ++f)
        EXPECT_EQ(certificate.factors[static_cast<std::size_t>(f)], "g" + std::to_string(f));
    }
  }
}

TEST(Certificate, TakesTheShortestOfTwoPaths) {
  FactorGraph g = path(5, false);
  g.factor("shortcut", {"i", "j", "x1", "w"});
  EXPECT_EQ(certificate_of(g).factors, (std::vector<std::string>{"g0", "shortcut"}));
}

TEST(Certificate, ConcernsTheScalarOutputAndEveryOther) {
  FactorGraph g = path(1, false);
  g.output({"i", "u"});
  EXPECT_EQ(certificate_of(g).factors, std::vector<std::string>{"g0"});
}

}  // namespace
}  // namespace plated
