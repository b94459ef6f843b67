// Paths: every state is the one that a tile of one lane finds in its row.
#include "kernels/choose_path.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/random.hpp"

namespace plated::kernels {
namespace {

constexpr std::int64_t steps = 40;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Inputs over known and chosen states, which change with the slice, but for the second.
template <class T>
struct RandomPath {
  std::int64_t states, known;
  std::vector<std::vector<T>> data;
  std::vector<std::vector<std::int64_t>> state_offset, known_offset;
  std::vector<ChoosePath::Input> inputs;
  std::vector<std::uint32_t> from_state, from_known;
  std::vector<double> scratch;
  ChoosePath path;

  RandomPath(std::int64_t of, std::int64_t links, std::size_t count, bool plain, std::uint64_t seed)
      : states(of), known(links == 1 ? of : of * of), data(count), inputs(count) {
    base::Random random(seed);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::int64_t k = 0; k < (i == 1 ? 1 : steps) * known * states; ++k) {
        const std::uint32_t kind = random.below(12);
        const double x = kind == 0 ? -infinity : static_cast<double>(random.below(8)) / 2;
        data[i].push_back(static_cast<T>(kind == 1 ? std::numeric_limits<double>::quiet_NaN() : x));
      }
      const bool side_by_side = plain || i == 0;
      state_offset.emplace_back();
      known_offset.emplace_back();
      for (std::int64_t s = 0; s < states; ++s) state_offset[i].push_back(side_by_side ? s : s * known);
      for (std::int64_t k = 0; k < known; ++k) known_offset[i].push_back(side_by_side ? k * states : k);
    }
    for (std::size_t i = 0; i < count; ++i) {
      inputs[i] = {.data = data[i].data(),
                   .dtype = dtype_of<T>,
                   .step = i == 1 ? 0 : known * states,
                   .stride = plain || i == 0 ? 1 : known,
                   .state_offset = !plain && i == 2 ? state_offset[i].data() : nullptr,
                   .known_offset = known_offset[i].data()};
    }
    for (std::int64_t s = 0; s < states; ++s) from_state.push_back(static_cast<std::uint32_t>(s * states));
    for (std::int64_t k = 0; k < known; ++k) from_known.push_back(static_cast<std::uint32_t>(k / states));
    scratch.resize(static_cast<std::size_t>(choose_path_scratch(states)));
    path = {.inputs = inputs.data(),
            .count = count,
            .dtype = dtype_of<T>,
            .states = states,
            .from_state = links == 1 ? nullptr : from_state.data(),
            .from_known = links == 1 ? nullptr : from_known.data(),
            .scratch = scratch.data()};
  }

  /// What a tile finds in one slice.
  std::uint32_t choose(std::int64_t step, std::uint32_t at, const double* uniform) {
    std::vector<T> row(static_cast<std::size_t>(states * choose_pitch));
    const ChooseTile tile{row.data(), dtype_of<T>, choose_pitch, states, 1};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::int64_t lane = step * inputs[i].step + known_offset[i][at];
      choose_gather(tile, {data[i].data(), dtype_of<T>, &lane, state_offset[i].data()},
                    i == 0 ? ChooseCombine::store : path.combine);
    }
    double top[choose_lanes], total[choose_lanes] = {}, passed[choose_lanes] = {}, target[choose_lanes] = {};
    std::uint32_t state[choose_lanes] = {};
    if (uniform == nullptr) {
      choose_best(tile, path.largest, 0, top, state);
      return state[0];
    }
    choose_top(tile, true, top);
    choose_weigh(tile, top, total);
    target[0] = total[0] * uniform[step];
    choose_pass(tile, target, static_cast<std::uint32_t>(states - 1), passed, state);
    return state[0];
  }
};

template <class T>
class ChoosePaths : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ChoosePaths, Types);

TYPED_TEST(ChoosePaths, FindWhatTilesFind) {
  std::vector<double> uniform;
  base::Random random(3);
  for (std::int64_t k = 0; k < steps; ++k) uniform.push_back(random.uniform());
  std::uint64_t seed = 0;
  for (const std::int64_t states : {1, 2, 3, 7, 8, 17, 64, 70}) {
    for (const std::int64_t links : {1, 2}) {
      for (const std::size_t count : {1U, 2U, 3U, 4U}) {
        for (const bool plain : {true, false}) {
          if (links == 2 && states > 8) continue;
          RandomPath<TypeParam> made(states, links, count, plain, ++seed);
          for (const int how : {0, 1, 2, 3}) {  // the largest, the least, the largest product, a draw
            made.path.largest = how != 1;
            made.path.combine = how == 2 ? ChooseCombine::multiply : ChooseCombine::add;
            const double* numbers = how == 3 ? uniform.data() : nullptr;
            std::uint32_t chosen[steps], known[steps];
            const std::uint32_t last = choose_path(made.path, 0, steps, numbers, chosen, known);
            std::uint32_t at = 0;
            for (std::int64_t k = 0; k < steps; ++k) {
              ASSERT_EQ(known[k], at);
              ASSERT_EQ(chosen[k], made.choose(k, at, numbers))
                  << states << " states, " << links << " links, " << count << " inputs, slice " << k << ", how " << how;
              at = links == 1 ? chosen[k] : made.from_state[chosen[k]] + made.from_known[at];
            }
            EXPECT_EQ(last, at);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace plated::kernels
