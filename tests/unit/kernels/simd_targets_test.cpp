// Every SIMD target that this machine can run gives right answers, not just the best one.
#include <gtest/gtest.h>

#include <random>

#include "hwy/highway.h"
#include "kernels/strategy.hpp"
#include "unit/kernels/random_contraction.hpp"

namespace plated::kernels {
namespace {

class SimdTargets : public ::testing::Test {
 protected:
  static void use(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  void TearDown() override { use(0); }
};

TEST_F(SimdTargets, AgreeWithNestedLoops) {
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    use(target);
    SCOPED_TRACE(hwy::TargetName(target));
    for (const Semiring semiring : {Semiring::real, Semiring::log, Semiring::max_plus, Semiring::min_plus,
                                    Semiring::max_product, Semiring::boolean}) {
      std::mt19937 random(11u + static_cast<unsigned>(semiring));
      for (int trial = 0; trial < 60; ++trial) {
        const testing::Case c = testing::random_case(random, semiring, 20000);
        const double error = testing::worst_error(c, *make_reduce(c.shape));
        ASSERT_LE(error, testing::tolerance(c.shape)) << "trial " << trial << " " << testing::describe(c.shape);
      }
    }
  }
}

}  // namespace
}  // namespace plated::kernels
