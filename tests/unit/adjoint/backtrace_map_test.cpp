// MAP: against brute force, ties, bits of the score, threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "unit/adjoint/backtrace_case.hpp"

namespace plated::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<std::vector<std::int64_t>> values_of(const std::vector<Integers>& assignment) {
  std::vector<std::vector<std::int64_t>> values;
  for (const Integers& a : assignment) values.push_back(a.values);
  return values;
}

const std::vector<std::set<std::string>> pass_choices = {
    {}, {"fuse_products"}, {"fuse_elementwise", "deliver_directly"}, {"drop_unit_dims"}};

TEST(BacktraceMap, IsTheBestOfAllAssignments) {
  base::Random random(1);
  for (const auto& [name, graph] : small_models()) {
    for (const auto& without : pass_choices) {
      BacktraceCase c(graph, without);
      for (const Semiring semiring : {Semiring::max_plus, Semiring::min_plus}) {
        const double sign = semiring == Semiring::max_plus ? 1 : -1;
        c.fill<double>([&] { return random.uniform() * 4 - 2; });
        const std::vector<double> score = c.run(semiring);
        const auto found = c.backtrace(semiring, {});
        double best = -infinity;
        c.visit_assignments([&](const auto& values) { best = std::max(best, sign * c.weight(values)); });
        double total = 0;
        for (const double s : score) total += s;
        EXPECT_NEAR(sign * best, total, 1e-12) << name;
        EXPECT_NEAR(c.weight(values_of(found)), total, 1e-12) << name;
        for (DimId v = 0; v < found.size(); ++v) {
          for (const std::int64_t state : found[v].values) {
            EXPECT_TRUE(state >= 0 && state < graph.dims()[v].size) << name;
          }
        }
      }
    }
  }
}

TEST(BacktraceMap, WorksOnProductsOfWeights) {
  base::Random random(2);
  for (const auto& [name, graph] : small_models()) {
    BacktraceCase c(graph);
    c.fill<double>([&] { return random.below(4) == 0 ? 0.0 : 0.5 + random.uniform(); });
    const std::vector<double> score = c.run(Semiring::max_product);
    if (std::find(score.begin(), score.end(), 0.0) != score.end()) continue;
    const auto found = c.backtrace(Semiring::max_product, {});
    for (Tensor& t : c.operands) {
      auto* data = static_cast<double*>(t.mutable_data());
      for (std::int64_t k = 0; k < t.elements(); ++k) data[k] = std::log(data[k]);
    }
    double total = 0;
    for (const double s : score) total += std::log(s);
    EXPECT_NEAR(c.weight(values_of(found)), total, 1e-12) << name;
  }
}

TEST(BacktraceMap, TakesTheLowestOfEqualStates) {
  for (const auto& [name, graph] : small_models()) {
    BacktraceCase c(graph);
    c.fill<float>([] { return 0.25; });
    (void)c.run(Semiring::max_plus);
    for (const Integers& a : c.backtrace(Semiring::max_plus, {})) {
      EXPECT_EQ(a.values, std::vector<std::int64_t>(a.values.size(), 0)) << name;
    }
  }
}

/// All entries that the assignment does not use become the semiring's zero; what is left evaluates to the same bits.
void expect_same_bits(BacktraceCase& c, const std::string& name) {
  const std::vector<double> score = c.run(Semiring::max_plus);
  const auto found = c.backtrace(Semiring::max_plus, {});
  std::vector<std::vector<bool>> used;
  for (const Tensor& t : c.operands) used.emplace_back(static_cast<std::size_t>(t.elements()), false);
  c.visit_entries(
      [&](DimId v, const auto& index) { return found[v].values[static_cast<std::size_t>(c.slice(v, index))]; },
      [&](std::size_t f, std::int64_t flat, const auto&) { used[f][static_cast<std::size_t>(flat)] = true; });
  for (std::size_t f = 0; f < c.operands.size(); ++f) {
    auto* data = static_cast<float*>(c.operands[f].mutable_data());
    for (std::size_t k = 0; k < used[f].size(); ++k) {
      if (!used[f][k]) data[k] = -std::numeric_limits<float>::infinity();
    }
  }
  const std::vector<double> again = c.run(Semiring::max_plus);
  for (std::size_t k = 0; k < score.size(); ++k) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(score[k]), std::bit_cast<std::uint64_t>(again[k])) << name;
  }
}

TEST(BacktraceMap, EvaluatesToTheScoreBitForBit) {
  base::Random random(4);
  // Sums of these round differently in different orders and are often nearly equal.
  const auto near_tie = [&] {
    const double scale = random.below(3) == 0 ? 1000.0 : 1.0;
    return scale * (1.0 + 1e-7 * static_cast<double>(random.below(8))) + 0.1 * static_cast<double>(random.below(3));
  };
  for (int repeat = 0; repeat < 20; ++repeat) {
    for (const auto& [name, graph] : small_models()) {
      BacktraceCase c(graph, pass_choices[static_cast<std::size_t>(repeat) % pass_choices.size()]);
      c.fill<float>(near_tie);
      expect_same_bits(c, name);
    }
    const auto size = [&](int low, int high) { return static_cast<std::int64_t>(random.between(low, high)); };
    // Larger ones, which take the kernels that small models do not.
    const std::map<char, std::int64_t> sizes{{'a', size(3, 20)}, {'b', size(3, 20)}, {'c', size(3, 20)},
                                             {'d', size(3, 20)}, {'e', size(3, 20)}, {'i', size(2, 7)},
                                             {'j', size(2, 7)}};
    for (const char* equation : {"a,abi,bcij,adj,deij->", "ab,bc,cd,da->", "abc,bcd,cde,abe->", "ab,ab,ab,abi,bi->",
                                 "abc,ab,bc,ac,a,b->", "ai,abi,abi,bi,bcij,bcij,cij->", "ab,bc,cd,de,ea,ac,bd->"}) {
      BacktraceCase c(graph_of(equation, sizes, "ij"));
      c.fill<float>(near_tie);
      expect_same_bits(c, equation);
    }
  }
}

TEST(BacktraceMap, ReadsOperandsOfAnyStridesAndTypes) {
  base::Random random(5);
  const std::map<char, std::int64_t> sizes{{'a', 5}, {'b', 6}, {'c', 7}, {'d', 4}, {'e', 3}, {'i', 9}, {'j', 70}};
  BacktraceCase c(graph_of("a,abi,bcij,adj,deij->", sizes, "ij"));
  c.fill<float>([&] { return random.uniform(); });
  (void)c.run(Semiring::max_plus);
  const auto expected = c.backtrace(Semiring::max_plus, {});
  std::vector<std::vector<float>> memory;
  for (Tensor& t : c.operands) {  // column-major copies, and one operand in double
    const std::vector<double> values = t.values();
    const auto shape = t.shape();
    if (shape.size() < 4) {
      t = Tensor::of<double>(shape, values);
      continue;
    }
    Tensor::Shape strides(shape.size(), 1);
    for (std::size_t a = 1; a < shape.size(); ++a) strides[a] = strides[a - 1] * shape[a - 1];
    memory.emplace_back(values.size());
    Tensor copy = Tensor::view(memory.back().data(), shape, strides);
    std::int64_t flat = 0;
    for (const double value : values) {
      std::int64_t rest = flat++, offset = 0;
      for (std::size_t a = shape.size(); a-- > 0;) {
        offset += rest % shape[a] * strides[a];
        rest /= shape[a];
      }
      memory.back()[static_cast<std::size_t>(offset)] = static_cast<float>(value);
    }
    t = copy;
  }
  (void)c.run(Semiring::max_plus);
  EXPECT_EQ(c.backtrace(Semiring::max_plus, {}), expected);
}

TEST(BacktraceMap, FindsRowsLongerThanATile) {
  BacktraceCase c(graph_of("abc->", {{'a', 30}, {'b', 40}, {'c', 50}}));
  base::Random random(6);
  c.fill<float>([&] { return random.uniform(); });
  auto* data = static_cast<float*>(c.operands[0].mutable_data());
  data[(17 * 40 + 23) * 50 + 31] = data[(17 * 40 + 23) * 50 + 32] = 2.0F;
  (void)c.run(Semiring::max_plus);
  const auto found = c.backtrace(Semiring::max_plus, {});
  EXPECT_EQ(found[0].values[0], 17);
  EXPECT_EQ(found[1].values[0], 23);
  EXPECT_EQ(found[2].values[0], 31);
}

TEST(BacktraceMap, IsTheSameOnAnyNumberOfThreads) {
  const std::map<char, std::int64_t> sizes{{'a', 8}, {'b', 8}, {'c', 8}, {'d', 8}, {'e', 8}, {'i', 60}, {'j', 70}};
  BacktraceCase c(graph_of("a,abi,bcij,adj,deij->", sizes, "ij"));
  base::Random random(7);
  c.fill<float>([&] { return static_cast<double>(random.below(5)); });
  (void)c.run(Semiring::max_plus);
  const auto expected = c.backtrace(Semiring::max_plus, {}, 1);
  for (const int threads : {2, 3, 8}) EXPECT_EQ(c.backtrace(Semiring::max_plus, {}, threads), expected);
}

}  // namespace
}  // namespace plated::test
