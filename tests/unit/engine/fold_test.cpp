// Folds of blocks' results: one tree, however it is stored.
#include "engine/fold.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.hpp"

namespace plated::engine {
namespace {

class FoldOfBlocks : public testing::TestWithParam<std::int64_t> {
 protected:
  static constexpr std::int64_t elements = 3;

  FoldOfBlocks() {
    base::Random random(7);
    for (std::int64_t k = 0; k < GetParam() * elements; ++k) results.push_back(2 * random.uniform() - 1);
  }
  [[nodiscard]] Fold fold(bool keeps_all) const {
    return {.semiring = Semiring::log, .adds = true, .elements = elements, .count = GetParam(), .keeps_all = keeps_all};
  }
  [[nodiscard]] std::vector<double> streamed() const {
    const Fold stream = fold(false);
    std::vector<double> tree(static_cast<std::size_t>(stream.size()));
    for (std::int64_t b = 0; b < GetParam(); ++b) stream.add(b, results.data() + b * elements, tree.data(), 1);
    const double* total = stream.total(tree.data(), 1);
    return {total, total + elements};
  }
  std::vector<double> results;
};

TEST_P(FoldOfBlocks, HasTheSameBitsWhetherNodesAreKeptOrNot) {
  const Fold kept = fold(true);
  std::vector<double> tree(static_cast<std::size_t>(kept.size()));
  std::copy(results.begin(), results.end(), tree.begin());
  const double* total = kept.refold(0, GetParam(), tree.data(), 2);
  EXPECT_EQ(std::vector<double>(total, total + elements), streamed());
}

TEST_P(FoldOfBlocks, FollowsAChangedBlock) {
  const Fold kept = fold(true);
  std::vector<double> tree(static_cast<std::size_t>(kept.size()));
  std::copy(results.begin(), results.end(), tree.begin());
  (void)kept.refold(0, GetParam(), tree.data(), 1);
  for (const std::int64_t block : {std::int64_t{0}, GetParam() / 2, GetParam() - 1}) {
    results[static_cast<std::size_t>(block * elements + 1)] += 0.25;
    kept.leaf(block, tree.data())[1] += 0.25;
    const double* total = kept.refold(block, block + 1, tree.data(), 1);
    EXPECT_EQ(std::vector<double>(total, total + elements), streamed()) << "block " << block;
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, FoldOfBlocks, testing::Values(1, 2, 63, 64, 65, 128, 4095, 4096, 4097, 5000));

}  // namespace
}  // namespace plated::engine
