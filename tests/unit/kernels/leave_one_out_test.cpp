// Leave-one-out products against the definition, with zeros.
#include "kernels/leave_one_out.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "semiring/dispatch.hpp"

namespace plated::kernels {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A kept dim of 3, product dims of 2 × 4, the input [p0, kept, p1], the output [p1, p0, kept].
LeaveOneOutShape three_by_eight(Semiring semiring, std::int64_t repeats) {
  return {semiring, {3}, {4}, {1}, {2, 4}, {12, 1}, {3, 6}, repeats};
}

TEST(LeaveOneOut, MatchesTheDefinition) {
  for (const Semiring which : {Semiring::real, Semiring::log, Semiring::max_plus, Semiring::min_plus,
                               Semiring::max_product, Semiring::boolean}) {
    for (const std::int64_t repeats : {1, 2, 5}) {
      SCOPED_TRACE(std::string(name(which)) + " repeats " + std::to_string(repeats));
      semiring::dispatch(which, [&](auto ring) {
        std::vector<double> in(24);
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = 0.5 + 0.1 * static_cast<double>(i % 7);
        in[4] = ring.zero();           // kept 1: one zero
        in[8] = in[23] = ring.zero();  // kept 2: two zeros
        std::vector<double> out(24, -1.0);
        const auto shape = three_by_eight(which, repeats);
        leave_one_out(shape, in.data(), out.data(), 0, 2);
        leave_one_out(shape, in.data(), out.data(), 2, 3);
        for (std::size_t k = 0; k < 3; ++k) {
          for (std::size_t p = 0; p < 8; ++p) {
            double expected = ring.one();
            for (std::int64_t r = 0; r < repeats; ++r) {
              for (std::size_t q = 0; q < 8; ++q) {
                if (q == p && r == 0) continue;  // one slice is left out, its repetitions stay
                expected = ring.multiply(expected, in[(q / 4) * 12 + k * 4 + q % 4]);
              }
            }
            const double value = out[(p % 4) * 6 + (p / 4) * 3 + k];
            if (std::isinf(expected)) {
              EXPECT_EQ(value, expected);
            } else {
              EXPECT_NEAR(value, expected, 1e-12 * std::max(1.0, std::abs(expected)));
            }
          }
        }
      });
    }
  }
}

TEST(LeaveOneOut, IsNotUndoneBySubtraction) {
  // Subtracting 1e20 from the total would leave 0 of the small ones.
  const double in[] = {1e20, 1.5, 2.5};
  double out[3];
  leave_one_out({Semiring::log, {}, {}, {}, {3}, {1}, {1}, 1}, in, out, 0, 1);
  EXPECT_EQ(out[0], 4.0);
  const double zero[] = {-infinity, 1.0, 2.0};
  leave_one_out({Semiring::log, {}, {}, {}, {3}, {1}, {1}, 1}, zero, out, 0, 1);
  EXPECT_EQ(out[0], 3.0);
  EXPECT_EQ(out[1], -infinity);
}

TEST(LeaveOneOut, OfASingleSliceIsOne) {
  const double in[] = {7.0};
  double out[1];
  leave_one_out({Semiring::real, {}, {}, {}, {}, {}, {}, 1}, in, out, 0, 1);
  EXPECT_EQ(out[0], 1.0);
  leave_one_out({Semiring::real, {}, {}, {}, {}, {}, {}, 3}, in, out, 0, 1);
  EXPECT_EQ(out[0], 49.0);
}

}  // namespace
}  // namespace plated::kernels
