// Checks and times one matrix product.
#include "matmul/product_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <stdexcept>

#include "matmul/blas.hpp"

namespace bench {
namespace {

using plated::Semiring;
using plated::Tensor;

template <class T>
Tensor random_tensor(std::vector<std::int64_t> shape, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<T> uniform(T{-2}, T{2});
  Tensor tensor(plated::dtype_of<T>, std::move(shape));
  auto* entries = static_cast<T*>(tensor.mutable_data());
  std::generate(entries, entries + tensor.elements(), [&] { return uniform(generator); });
  return tensor;
}

/// Entry (row, column) of the product, in double, as the semiring defines it.
template <class T>
double exact_entry(Semiring semiring, const T* row, const T* column, std::int64_t k, std::int64_t stride) {
  std::vector<double> terms(static_cast<std::size_t>(k));
  for (std::int64_t t = 0; t < k; ++t) {
    const double a = row[t];
    const double b = column[t * stride];
    terms[static_cast<std::size_t>(t)] = semiring == Semiring::real ? a * b : a + b;
  }
  const double top = *std::max_element(terms.begin(), terms.end());
  if (semiring == Semiring::max_plus) return top;
  double sum = 0;
  for (const double term : terms) sum += semiring == Semiring::real ? term : std::exp(term - top);
  return semiring == Semiring::real ? sum : top + std::log(sum);
}

/// Holds entries of a result against exact ones: all of a small one, of a large one 4,096 spread over it.
template <class T>
void check(const ProductSize& size, Semiring semiring, const std::string& who, const Tensor& a, const Tensor& b,
           const Tensor& c) {
  const auto* left = static_cast<const T*>(a.data());
  const auto* right = static_cast<const T*>(b.data());
  const auto* result = static_cast<const T*>(c.data());
  // A sum of k products of up to 4 each may lose that many roundings; the others lose a few, relatively.
  const double epsilon = std::numeric_limits<T>::epsilon();
  const double tolerance = semiring == Semiring::real ? 4 * epsilon * static_cast<double>(size.k) : 64 * epsilon;
  const std::int64_t step = std::max<std::int64_t>(1, c.elements() / 4096) | 1;  // odd: visits every column
  for (std::int64_t at = 0; at < c.elements(); at += step) {
    const std::int64_t row = at / size.n;  // counted through the batch
    const std::int64_t matrix = row / size.m;
    const double expected =
        exact_entry(semiring, left + row * size.k, right + matrix * size.k * size.n + at % size.n, size.k, size.n);
    if (std::abs(result[at] - expected) <= tolerance * std::max(1.0, std::abs(expected))) continue;
    char text[160];
    std::snprintf(text, sizeof(text), " at %lld: %.9g, but it must be %.9g", static_cast<long long>(at),
                  static_cast<double>(result[at]), expected);
    throw std::runtime_error("wrong result of " + who + ", " + std::string(name(semiring)) + text);
  }
}

}  // namespace

template <class T>
ProductTimes time_product(const ProductSize& size, const std::vector<Semiring>& semirings, Budget budget) {
  const auto shape = [&](std::int64_t rows, std::int64_t columns) {
    return size.batch > 0 ? std::vector{size.batch, rows, columns} : std::vector{rows, columns};
  };
  const std::vector<Tensor> operands = {random_tensor<T>(shape(size.m, size.k), 1),
                                        random_tensor<T>(shape(size.k, size.n), 2)};
  const Tensor result(plated::dtype_of<T>, shape(size.m, size.n));
  const Tensor blas_result(plated::dtype_of<T>, shape(size.m, size.n));

  std::vector<std::function<void()>> runners;
  runners.emplace_back([&] {
    const auto* a = static_cast<const T*>(operands[0].data());
    const auto* b = static_cast<const T*>(operands[1].data());
    auto* c = static_cast<T*>(blas_result.mutable_data());
    for (std::int64_t i = 0; i < std::max<std::int64_t>(1, size.batch); ++i) {
      gemm(size.m, size.k, size.n, a + i * size.m * size.k, b + i * size.k * size.n, c + i * size.m * size.n);
    }
  });
  runners.back()();
  check<T>(size, Semiring::real, "OpenBLAS", operands[0], operands[1], blas_result);

  const std::vector<std::vector<std::int64_t>> shapes = {operands[0].shape(), operands[1].shape()};
  const plated::Plan plan = compile(plated::FactorGraph::from_equation(size.batch > 0 ? "bij,bjk->bik" : "ij,jk->ik",
                                                                       shapes, {.batch = size.batch > 0 ? "b" : ""}));
  std::vector<plated::Workspace> workspaces;
  workspaces.reserve(semirings.size());
  for (const Semiring semiring : semirings) {
    plated::RunOptions options;
    options.semiring = semiring;
    options.threads = 1;
    plated::Workspace& workspace = workspaces.emplace_back(plan);
    runners.emplace_back([&, options] { plan.run_into({result}, operands, workspace, options); });
    runners.back()();
    check<T>(size, semiring, "Plated", operands[0], operands[1], result);
  }

  std::vector<double> best = best_times(runners, budget, calls_for_a_turn(runners.front()));
  ProductTimes times;
  times.blas = best.front();
  times.plated.assign(best.begin() + 1, best.end());
  return times;
}

template ProductTimes time_product<float>(const ProductSize&, const std::vector<Semiring>&, Budget);
template ProductTimes time_product<double>(const ProductSize&, const std::vector<Semiring>&, Budget);

}  // namespace bench
