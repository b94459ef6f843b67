// Errors against long double, printed, and log space where a naive exp–GEMM–log underflows.
#include <gtest/gtest.h>

#include <iostream>

#include "plated/einsum.hpp"
#include "property/random_tensor.hpp"

namespace plated::test {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
constexpr Dtype both[] = {Dtype::float32, Dtype::float64};

double bound(Dtype dtype) { return dtype == Dtype::float32 ? 1e-6 : 1e-14; }

double relative_error(double value, long double exact) {
  return static_cast<double>(std::abs(value - exact) / std::max(1.0L, std::abs(exact)));
}

long double log_sum_exp(const std::vector<long double>& terms) {
  long double most = -oracle::infinity;
  for (const long double t : terms) most = std::max(most, t);
  if (most == -oracle::infinity) return most;
  long double sum = 0;
  for (const long double t : terms) sum += std::exp(t - most);
  return most + std::log(sum);
}

/// Entries of a given spread, not too regular.
Tensor spread_tensor(Dtype dtype, const Tensor::Shape& shape, double low, double high, std::uint64_t seed) {
  Random random(seed);
  const Tensor tensor(dtype, shape);
  for (std::int64_t k = 0; k < tensor.elements(); ++k) {
    const double value = random.uniform(low, high);
    if (dtype == Dtype::float32) {
      static_cast<float*>(tensor.mutable_data())[k] = static_cast<float>(value);
    } else {
      static_cast<double*>(tensor.mutable_data())[k] = value;
    }
  }
  return tensor;
}

/// The largest error of a log matrix product, relative to max(1, |result|).
double matrix_product_error(const Tensor& a, const Tensor& b) {
  const std::int64_t rows = a.shape()[0], inner = a.shape()[1], columns = b.shape()[1];
  const std::vector<double> x = a.values(), y = b.values();
  const std::vector<double> result = einsum("ab,bc->ac", {a, b}).values();
  double worst = 0;
  std::vector<long double> terms(static_cast<std::size_t>(inner));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t k = 0; k < inner; ++k) {
        terms[static_cast<std::size_t>(k)] = static_cast<long double>(x[static_cast<std::size_t>(r * inner + k)]) +
                                             y[static_cast<std::size_t>(k * columns + c)];
      }
      const long double exact = log_sum_exp(terms);
      const double value = result[static_cast<std::size_t>(r * columns + c)];
      if (exact == -oracle::infinity && value == minus_infinity) continue;
      const double error = relative_error(value, exact);
      worst = error <= worst ? worst : error;  // a NaN must not hide
    }
  }
  return worst;
}

void report(const std::string& what, Dtype dtype, double error, double most) {
  std::cout << "log " << name(dtype) << ", " << what << ": relative error " << error << "\n";
  EXPECT_LE(error, most) << what << ", " << name(dtype);
}

TEST(Precision, OfLogSums) {
  for (const Dtype dtype : both) {
    for (const std::int64_t length : {2, 10, 100, 1000, 10000}) {
      for (const double width : {1.0, 20.0}) {
        const Tensor t = spread_tensor(dtype, {length}, -width, width, 3);
        std::vector<long double> terms;
        for (const double v : t.values()) terms.push_back(v);
        report(std::to_string(length) + " terms within ±" + std::to_string(static_cast<int>(width)), dtype,
               relative_error(einsum("k->", {t}).item(), log_sum_exp(terms)), bound(dtype));
      }
    }
  }
}

TEST(Precision, OfLogMatrixProducts) {
  struct Sizes {
    std::int64_t rows, inner, columns;
  };
  for (const Dtype dtype : both) {
    for (const auto [rows, inner, columns] :
         {Sizes{64, 64, 64}, Sizes{200, 3, 150}, Sizes{17, 333, 9}, Sizes{1, 500, 1}, Sizes{130, 130, 130}}) {
      for (const double width : {1.0, 30.0, 300.0}) {
        const std::string what = std::to_string(rows) + "×" + std::to_string(inner) + "×" + std::to_string(columns) +
                                 " within ±" + std::to_string(static_cast<int>(width));
        const Tensor a = spread_tensor(dtype, {rows, inner}, -width, width, 5);
        const Tensor b = spread_tensor(dtype, {inner, columns}, -width, width, 6);
        report(what, dtype, matrix_product_error(a, b), bound(dtype));
      }
    }
  }
}

TEST(Precision, OfAMillionSlices) {
  const std::int64_t slices = 1000000;
  for (const Dtype dtype : both) {
    const Tensor t = spread_tensor(dtype, {slices, 4}, -13, -10, 7);
    const std::vector<double> values = t.values();
    long double exact = 0;
    for (std::size_t i = 0; i < values.size(); i += 4) {
      exact += log_sum_exp({values[i], values[i + 1], values[i + 2], values[i + 3]});
    }
    EXPECT_LT(exact, -9e6L);
    const double result = einsum("ix->", {t}, {.plates = "i"}).item();
    report("1e6 slices", dtype, relative_error(result, exact), dtype == Dtype::float32 ? 1e-6 : 1e-14);
  }
}

/// Writes [0, −g] into a row of a and [−g, 0] into a column of b; their other entries are `rest`.
void plant(const Tensor& a, const Tensor& b, std::int64_t row, std::int64_t column, double g, double rest) {
  const auto write = [](const Tensor& t, std::int64_t index, double value) {
    if (t.dtype() == Dtype::float32) {
      static_cast<float*>(t.mutable_data())[index] = static_cast<float>(value);
    } else {
      static_cast<double*>(t.mutable_data())[index] = value;
    }
  };
  const std::int64_t inner = a.shape()[1], columns = b.shape()[1];
  for (std::int64_t k = 0; k < inner; ++k) {
    // The two that matter are as far apart as they can be.
    write(a, row * inner + k, k == 0 ? 0 : k == inner - 1 ? -g : rest);
    write(b, k * columns + column, k == 0 ? -g : k == inner - 1 ? 0 : rest);
  }
}

TEST(Precision, WhereMaximaDoNotAlign) {
  for (const Dtype dtype : both) {
    for (const double g : {50.0, 200.0, 1e4, 1e30}) {
      const Tensor a = Tensor(dtype, {1, 2}), b = Tensor(dtype, {2, 1});
      plant(a, b, 0, 0, g, 0);
      const double gap = -a.at({0, 1});  // g as the element type holds it
      const double exact = -gap + std::log(2.0);
      EXPECT_NEAR(einsum("k,k->", {a.select(0, 0), b.select(1, 0)}).item(), exact, bound(dtype) * gap) << g;
      for (const auto& [rows, inner, columns] :
           {std::tuple{64, 64, 64}, std::tuple{200, 3, 150}, std::tuple{200, 150, 140}}) {
        for (const double rest : {minus_infinity, -3 * g}) {
          Tensor x = spread_tensor(dtype, {rows, inner}, -5, 5, 8),
                 y = spread_tensor(dtype, {inner, columns}, -5, 5, 9);
          plant(x, y, rows / 2, columns / 3, g, rest);
          const Tensor result = einsum("ab,bc->ac", {x, y});
          EXPECT_NEAR(result.at({rows / 2, columns / 3}), exact, bound(dtype) * gap)
              << name(dtype) << " g " << g << " in " << rows << "×" << inner << "×" << columns << " rest " << rest;
          if (rows * inner * columns > 300000) continue;  // long double is slow
          EXPECT_LE(matrix_product_error(x, y), bound(dtype)) << name(dtype) << " g " << g << " rest " << rest;
        }
      }
    }
  }
}

TEST(Precision, OfStructuralZeros) {
  for (const Dtype dtype : both) {
    for (const auto& [rows, inner, columns] : {std::tuple{2, 2, 2}, std::tuple{64, 64, 64}, std::tuple{200, 3, 150}}) {
      const Tensor x = spread_tensor(dtype, {rows, inner}, -5, 5, 8),
                   y = spread_tensor(dtype, {inner, columns}, -5, 5, 9);
      plant(x, y, rows - 1, columns - 1, -minus_infinity, minus_infinity);
      const Tensor result = einsum("ab,bc->ac", {x, y});
      // Row and column are [0, −inf, …] and [−inf, …, 0]: no term is left.
      EXPECT_EQ(result.at({rows - 1, columns - 1}), minus_infinity);
      for (const double value : result.values()) EXPECT_FALSE(std::isnan(value));
    }
    const std::vector<double> entries(70 * 70, minus_infinity);
    const Tensor all = dtype == Dtype::float64 ? Tensor::of<double>({70, 70}, entries)
                                               : Tensor::of<float>({70, 70}, std::vector<float>(70 * 70, -INFINITY));
    for (const double value : einsum("ab,bc->ac", {all, all}).values()) EXPECT_EQ(value, minus_infinity);
    EXPECT_EQ(einsum("ab,bc->", {all, all}).item(), minus_infinity);
    EXPECT_EQ(einsum("ia->", {all}, {.plates = "i"}).item(), minus_infinity);
    for (const double value : einsum("ia->ia", {all}, {.plates = "i"}).values()) EXPECT_EQ(value, minus_infinity);
    EXPECT_EQ(einsum("k,k->", {all.select(0, 0), all.select(0, 1)}).item(), minus_infinity);
  }
}

}  // namespace
}  // namespace plated::test
