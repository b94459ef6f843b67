// Plans a random graph; a graph refused as intractable must be so by the theorem.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "plated/plan.hpp"
#include "property/certificate_check.hpp"

namespace plated::test {

/// The plan; none where the graph is intractable. A certificate that proves nothing is a failure of the running test.
inline std::optional<Plan> compile_if_tractable(const FactorGraph& graph, const PlanOptions& options = {}) {
  try {
    return compile(graph, options);
  } catch (const IntractableError& error) {
    EXPECT_TRUE(proves_intractable(graph, error.certificate())) << graph.print() << error.what();
    return std::nullopt;
  }
}

}  // namespace plated::test
