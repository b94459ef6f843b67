// Derivatives of leave-one-out products against the product rule, written out over every position.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/leave_one_out.hpp"

namespace plated::kernels {
namespace {

using Slices = std::vector<double>;

/// All slices `repeats` times over, but slice `left_out` one time fewer.
Slices multiplied(const Slices& in, std::size_t left_out, std::int64_t repeats) {
  Slices list;
  for (std::size_t q = 0; q < in.size(); ++q) {
    for (std::int64_t r = q == left_out ? 1 : 0; r < repeats; ++r) list.push_back(in[q]);
  }
  return list;
}

/// The product with positions `i` and `j` taken out; equal positions are taken out once.
double product_without(const Slices& list, std::size_t i, std::size_t j) {
  double product = 1;
  for (std::size_t k = 0; k < list.size(); ++k) product *= k == i || k == j ? 1 : list[k];
  return product;
}

double first_derivative(const Slices& in, const Slices& u, std::size_t p, std::int64_t repeats) {
  const Slices x = multiplied(in, p, repeats), dx = multiplied(u, p, repeats);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += dx[i] * product_without(x, i, i);
  return sum;
}

double mixed_derivative(const Slices& in, const Slices& u, const Slices& v, std::size_t p, std::int64_t repeats) {
  const Slices x = multiplied(in, p, repeats), du = multiplied(u, p, repeats), dv = multiplied(v, p, repeats);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) sum += i == j ? 0 : du[i] * dv[j] * product_without(x, i, j);
  }
  return sum;
}

LeaveOneOutShape one_plate(std::int64_t slices, std::int64_t repeats) {
  return {Semiring::real, {}, {}, {}, {slices}, {1}, {1}, repeats};
}

Slices derivative(const Slices& in, const Slices& u, const Slices* v, std::int64_t repeats) {
  Slices out(in.size()), scratch(4 * in.size());
  leave_one_out_derivative(one_plate(static_cast<std::int64_t>(in.size()), repeats), in.data(), u.data(),
                           v == nullptr ? nullptr : v->data(), out.data(), scratch.data(), 0, 1);
  return out;
}

const std::vector<Slices> inputs = {
    {1.5, -0.5, 2.0, 0.75},  // no zero
    {1.5, 0.0, 2.0, 0.75},   // one
    {0.0, -0.5, 0.0, 0.75},  // two
    {0.0, 0.0, 0.0, 2.0},    // three: a first derivative is zero everywhere, a mixed one is not
    {0.0, 0.0, 0.0, 0.0},   {3.0},
};
const Slices along = {0.3, -1.2, 0.7, 2.0};
const Slices further = {-0.4, 0.9, 1.1, 0.2};

Slices first(const Slices& values, std::size_t count) {
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)};
}

TEST(LeaveOneOutDerivative, IsTheProductRule) {
  for (const Slices& in : inputs) {
    for (const std::int64_t repeats : {1, 2, 3}) {
      const Slices u = first(along, in.size()), v = first(further, in.size());
      const Slices one = derivative(in, u, nullptr, repeats), two = derivative(in, u, &v, repeats);
      for (std::size_t p = 0; p < in.size(); ++p) {
        const double want = first_derivative(in, u, p, repeats), mixed = mixed_derivative(in, u, v, p, repeats);
        EXPECT_NEAR(one[p], want, 1e-13 * (1 + std::abs(want))) << "slice " << p << ", repeats " << repeats;
        EXPECT_NEAR(two[p], mixed, 1e-12 * (1 + std::abs(mixed))) << "slice " << p << ", repeats " << repeats;
      }
    }
  }
}

TEST(LeaveOneOutDerivative, AgreesWithFiniteDifferencesOfTheProducts) {
  const Slices in = inputs[0];
  for (const std::int64_t repeats : {1, 4}) {
    const auto products = [&](double step) {
      Slices moved = in, out(in.size());
      for (std::size_t p = 0; p < in.size(); ++p) moved[p] += step * along[p];
      leave_one_out(one_plate(4, repeats), moved.data(), out.data(), 0, 1);
      return out;
    };
    const double step = 1e-5;
    const Slices after = products(step), before = products(-step), exact = derivative(in, along, nullptr, repeats);
    for (std::size_t p = 0; p < in.size(); ++p) {
      EXPECT_NEAR(exact[p], (after[p] - before[p]) / (2 * step), 1e-6 * (1 + std::abs(exact[p])));
    }
  }
}

TEST(LeaveOneOutDerivative, IsItsOwnTranspose) {
  for (const Slices& in : inputs) {
    if (in.size() != along.size()) continue;
    for (const std::int64_t repeats : {1, 2}) {
      const Slices of_u = derivative(in, along, nullptr, repeats), of_v = derivative(in, further, nullptr, repeats);
      double left = 0, right = 0;
      for (std::size_t p = 0; p < in.size(); ++p) {
        left += of_u[p] * further[p];
        right += of_v[p] * along[p];
      }
      EXPECT_NEAR(left, right, 1e-12 * (1 + std::abs(left)));
    }
  }
}

TEST(LeaveOneOutDerivative, ReadsAndWritesAnyLayout) {
  // A kept dim of 3, product dims of 2 × 4, the input [p0, kept, p1], the output [p1, p0, kept].
  const LeaveOneOutShape shape{Semiring::real, {3}, {4}, {1}, {2, 4}, {12, 1}, {3, 6}, 2};
  Slices in(24), u(24), v(24), one(24, -1), two(24, -1), scratch(32);
  for (std::size_t k = 0; k < 24; ++k) {
    in[k] = k == 4 || k == 8 || k == 23 ? 0.0 : 0.6 + 0.1 * static_cast<double>(k % 7);
    u[k] = 0.5 - 0.2 * static_cast<double>(k % 5);
    v[k] = 0.1 * static_cast<double>(k % 11);
  }
  leave_one_out_derivative(shape, in.data(), u.data(), nullptr, one.data(), scratch.data(), 0, 2);
  leave_one_out_derivative(shape, in.data(), u.data(), nullptr, one.data(), scratch.data(), 2, 3);
  leave_one_out_derivative(shape, in.data(), u.data(), v.data(), two.data(), scratch.data(), 0, 3);
  for (std::size_t k = 0; k < 3; ++k) {
    const auto slices = [&](const Slices& all) {
      Slices list;
      for (std::size_t q = 0; q < 8; ++q) list.push_back(all[(q / 4) * 12 + k * 4 + q % 4]);
      return list;
    };
    for (std::size_t p = 0; p < 8; ++p) {
      const std::size_t at = (p % 4) * 6 + (p / 4) * 3 + k;
      const double want = first_derivative(slices(in), slices(u), p, 2);
      const double mixed = mixed_derivative(slices(in), slices(u), slices(v), p, 2);
      EXPECT_NEAR(one[at], want, 1e-13 * (1 + std::abs(want)));
      EXPECT_NEAR(two[at], mixed, 1e-12 * (1 + std::abs(mixed)));
    }
  }
}

}  // namespace
}  // namespace plated::kernels
