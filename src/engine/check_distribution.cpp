// Checks that the rows of a declared distribution sum to one.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "engine/check_operands.hpp"
#include "engine/slices.hpp"
#include "plated/error.hpp"
#include "tensor/numbers.hpp"

namespace plated::engine {
namespace {

/// How far a conditional factor's sums may be from one: real files round their entries.
constexpr double tolerance = 1e-4;

}  // namespace

void check_distribution(const FactorGraph& graph, std::size_t operand, const Tensor& tensor, Semiring semiring,
                        const Tensor& absent, int threads, std::span<const Slice> within) {
  const DimId variable = graph.factors()[operand].distribution_of.value();
  const Diagonal whole(graph.factors()[operand].dims, tensor);
  const auto slice_of = [&](DimId d) {
    return std::find_if(within.begin(), within.end(), [&](const Slice& slice) { return slice.plate == d; });
  };
  const Tensor part = part_of(whole.dims, whole.tensor, within);
  std::vector<bool> is_inner;
  for (const DimId d : whole.dims) {
    if (slice_of(d) == within.end()) is_inner.push_back(d == variable);
  }
  const Slices rows(part, is_inner);
  const auto sum_of = [&](std::int64_t row) {
    double sum = 0;
    rows.visit(row, [&](std::int64_t, std::int64_t at) {
      const double entry = tensor::number_at(part.dtype(), part.data(), at);
      sum += semiring == Semiring::log ? std::exp(entry) : entry;
    });
    return sum;
  };
  const bool all_exist = absent.data() == nullptr;
  const Tensor gaps =
      all_exist ? part : part_of(whole.dims, Diagonal(graph.factors()[operand].dims, absent).tensor, within);
  const Slices missing(gaps, is_inner);
  const auto exists = [&](std::int64_t row) {
    return all_exist || rows.states() == 0 || static_cast<const double*>(gaps.data())[missing.first(row)] == 0;
  };
  std::atomic<std::int64_t> first_bad = rows.count();
  rows.for_each(threads, [&](std::int64_t row) {
    if (std::abs(sum_of(row) - 1) <= tolerance || !exists(row)) return;
    std::int64_t known = first_bad;
    while (row < known && !first_bad.compare_exchange_weak(known, row)) {
    }
  });
  if (first_bad == rows.count()) return;
  std::string where;
  std::int64_t rest = first_bad;
  for (std::size_t axis = whole.dims.size(); axis-- > 0;) {
    if (whole.dims[axis] == variable) continue;
    const auto slice = slice_of(whole.dims[axis]);
    const std::int64_t size = slice == within.end() ? whole.tensor.shape()[axis] : 1;
    const std::int64_t index = slice == within.end() ? rest % size : slice->index;
    std::string place = graph.dims()[whole.dims[axis]].name + " = " + std::to_string(index);
    if (!where.empty()) place += ", " + where;
    where = std::move(place);
    rest /= size;
  }
  throw ValueError(operand_name(graph, operand) + " is declared a distribution of '" + graph.dims()[variable].name +
                   "', but sums to " + std::to_string(sum_of(first_bad)) + (where.empty() ? "" : " at ") + where);
}

}  // namespace plated::engine
