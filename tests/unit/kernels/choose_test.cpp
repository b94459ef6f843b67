// Row kernels: gathering, the best state, draws, tables, random numbers, each against a simple loop.
#include "kernels/choose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/counter_random.hpp"
#include "base/random.hpp"
#include "hwy/highway.h"

namespace plated::kernels {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A tile of random log weights, some of them −inf and many equal.
template <class T>
struct RandomTile {
  std::vector<T> data;
  ChooseTile tile;
  RandomTile(std::int64_t states, std::int64_t lanes, std::uint64_t seed) {
    base::Random random(seed);
    const std::int64_t pitch = (lanes + choose_pitch - 1) / choose_pitch * choose_pitch;
    data.assign(static_cast<std::size_t>(states * pitch), T{0});
    for (T& x : data) x = random.below(5) == 0 ? static_cast<T>(-infinity) : static_cast<T>(random.below(6)) / 2;
    for (std::int64_t l = 0; l < lanes; ++l)
      data[static_cast<std::size_t>(random.below(static_cast<std::uint32_t>(states)) * pitch + l)] = T{1};
    tile = {data.data(), dtype_of<T>, pitch, states, lanes};
  }
  [[nodiscard]] T at(std::int64_t s, std::int64_t l) const {
    return data[static_cast<std::size_t>(s * tile.pitch + l)];
  }
};

template <class T>
class ChooseRows : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ChooseRows, Types);

TYPED_TEST(ChooseRows, FindTheLowestOfTheBest) {
  for (const std::int64_t lanes : {1, 3, 16, 37, 64}) {
    for (const std::int64_t states : {1, 2, 9, 70}) {
      const RandomTile<TypeParam> rows(states, lanes, static_cast<std::uint64_t>(lanes * 100 + states));
      for (const bool largest : {true, false}) {
        double top[choose_lanes];
        std::uint32_t state[choose_lanes];
        // In two pieces, as long rows come.
        const std::int64_t cut = std::max<std::int64_t>(1, states / 2);
        ChooseTile piece = rows.tile;
        piece.states = cut;
        choose_best(piece, largest, 0, top, state);
        if (states > cut) {
          piece.data = const_cast<TypeParam*>(rows.data.data()) + cut * piece.pitch;
          piece.states = states - cut;
          choose_best(piece, largest, cut, top, state);
        }
        for (std::int64_t l = 0; l < lanes; ++l) {
          std::uint32_t expected = 0;
          for (std::int64_t s = 1; s < states; ++s) {
            const TypeParam x = rows.at(s, l), best = rows.at(expected, l);
            if (largest ? x > best : x < best) expected = static_cast<std::uint32_t>(s);
          }
          EXPECT_EQ(state[l], expected) << lanes << " lanes, " << states << " states, lane " << l;
          EXPECT_EQ(top[l], static_cast<double>(rows.at(expected, l)));
        }
      }
    }
  }
}

TYPED_TEST(ChooseRows, DrawWhatTheWeightsSayFromTilesAndFromTables) {
  for (const std::int64_t lanes : {1, 16, 37}) {
    for (const std::int64_t states : {1, 2, 9, 33, 200}) {
      RandomTile<TypeParam> rows(states, lanes, static_cast<std::uint64_t>(lanes * 1000 + states));
      const RandomTile<TypeParam> logs = rows;
      double top[choose_lanes] = {}, total[choose_lanes] = {};
      choose_top(rows.tile, true, top);
      choose_weigh(rows.tile, top, total);
      const std::int64_t length = (states + choose_pitch - 1) / choose_pitch * choose_pitch;
      std::vector<std::int32_t> table(static_cast<std::size_t>(lanes * length));
      choose_tabulate(rows.tile, total, table.data(), length, length);
      for (int repeat = 0; repeat < 40; ++repeat) {
        double target[choose_lanes] = {}, passed[choose_lanes] = {};
        std::uint32_t state[choose_lanes] = {}, row[choose_lanes], word[choose_lanes], looked_up[choose_lanes];
        for (std::int64_t l = 0; l < lanes; ++l) {
          const auto sample = static_cast<std::uint64_t>(repeat), slice = static_cast<std::uint64_t>(l);
          word[l] = repeat == 0 ? 0U : repeat == 1 ? 0xFFFFFFFFU : base::draw_word(5, sample, 1, slice);
          target[l] = base::unit_interval(word[l], repeat == 0 ? 0U : 0xFFFFFFFFU) * total[l];
          row[l] = static_cast<std::uint32_t>(l);
        }
        choose_pass(rows.tile, target, static_cast<std::uint32_t>(states - 1), passed, state);
        const std::int64_t unsure = choose_look_up(table.data(), length, row, word, lanes, looked_up);
        EXPECT_EQ(unsure, std::count(looked_up, looked_up + lanes, choose_unsure));
        // Numbers in general position are sure.
        if (repeat > 1) {
          EXPECT_EQ(unsure, 0);
        }
        for (std::int64_t l = 0; l < lanes; ++l) {
          double sum = 0, expected_total = 0;
          for (std::int64_t s = 0; s < states; ++s)
            expected_total += std::exp(static_cast<double>(logs.at(s, l)) - top[l]);
          ASSERT_NEAR(total[l], expected_total, 1e-6 * expected_total);
          ASSERT_LT(state[l], states);
          EXPECT_GT(logs.at(state[l], l), -infinity) << "a state of weight 0 was drawn";
          for (std::int64_t s = 0; s < state[l]; ++s) sum += static_cast<double>(rows.at(s, l));
          EXPECT_LE(sum, target[l]);
          EXPECT_GT(sum + static_cast<double>(rows.at(state[l], l)), target[l]);
          if (looked_up[l] != choose_unsure) {
            EXPECT_EQ(looked_up[l], state[l]);
          }
        }
      }
    }
  }
}

/// Rows of entries that are hardly numbers, for every target that this machine can run.
template <class T>
class ChooseAnything : public testing::Test {
 protected:
  static void use(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  void TearDown() override { use(0); }

  static void fill(RandomTile<T>& rows, std::uint64_t seed) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<std::vector<double>> kinds = {
        {nan}, {-infinity}, {infinity}, {nan, -infinity}, {nan, 1, 2}, {infinity, 0}, {nan, infinity, -infinity, 3}};
    base::Random random(seed);
    for (std::int64_t l = 0; l < rows.tile.lanes; ++l) {
      const std::vector<double>& kind = kinds[static_cast<std::size_t>(l) % kinds.size()];
      for (std::int64_t s = 0; s < rows.tile.states; ++s) {
        rows.data[static_cast<std::size_t>(s * rows.tile.pitch + l)] =
            static_cast<T>(kind[random.below(static_cast<std::uint32_t>(kind.size()))]);
      }
    }
  }
};
TYPED_TEST_SUITE(ChooseAnything, Types);

TYPED_TEST(ChooseAnything, IsAStateOfTheRow) {
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    this->use(left & -left);
    SCOPED_TRACE(hwy::TargetName(left & -left));
    // Rows that fill a table to its end among them.
    for (const std::int64_t states : {1, 2, 16, 48, 64, 200, 256}) {
      const std::int64_t lanes = 37;
      RandomTile<TypeParam> rows(states, lanes, 1);
      this->fill(rows, static_cast<std::uint64_t>(states));
      const auto last = static_cast<std::uint32_t>(states - 1);
      double top[choose_lanes] = {}, total[choose_lanes] = {};
      std::uint32_t state[choose_lanes] = {};
      for (const bool largest : {true, false}) {
        choose_best(rows.tile, largest, 0, top, state);
        for (std::int64_t l = 0; l < lanes; ++l) {
          ASSERT_LE(state[l], last);
          bool any = false;
          for (std::int64_t s = 0; s < states; ++s) any |= !std::isnan(rows.at(s, l)) && !std::isinf(rows.at(s, l));
          if (any) {
            EXPECT_FALSE(std::isnan(rows.at(state[l], l))) << states << " states, lane " << l;
          }
        }
      }
      const RandomTile<TypeParam> logs = rows;
      choose_top(rows.tile, true, top);
      choose_weigh(rows.tile, top, total);
      const std::int64_t length = (states + choose_pitch - 1) / choose_pitch * choose_pitch;
      std::vector<std::int32_t> table(static_cast<std::size_t>(lanes * length));
      choose_tabulate(rows.tile, total, table.data(), length, length);
      for (const std::uint32_t draw : {0U, 1U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFEU, 0xFFFFFFFFU}) {
        double target[choose_lanes] = {}, passed[choose_lanes] = {};
        std::uint32_t drawn[choose_lanes] = {}, row[choose_lanes], word[choose_lanes], looked_up[choose_lanes];
        for (std::int64_t l = 0; l < lanes; ++l) {
          word[l] = draw;
          target[l] = base::unit_interval(draw, draw) * total[l];
          row[l] = static_cast<std::uint32_t>(l);
        }
        choose_pass(rows.tile, target, last, passed, drawn);
        (void)choose_look_up(table.data(), length, row, word, lanes, looked_up);
        for (std::int64_t l = 0; l < lanes; ++l) {
          ASSERT_LE(drawn[l], last);
          if (looked_up[l] != choose_unsure) {
            ASSERT_LE(looked_up[l], last);
          }
          if (total[l] > 0) {
            EXPECT_GT(logs.at(drawn[l], l), -infinity) << states << " states, lane " << l;
          }
        }
      }
    }
  }
}

TEST(ChooseGather, ReadsAnyStridesAndCombines) {
  std::vector<float> memory(4000);
  base::Random random(3);
  for (float& x : memory) x = static_cast<float>(random.uniform());
  const std::int64_t strides[][2] = {{1, 60}, {60, 1}, {0, 7}, {7, 0}, {50, 3}, {1, 60}};
  int round = 0;
  for (const auto& [lane_stride, state_stride] : strides) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      const std::int64_t lanes = 19, states = 33;
      std::vector<std::int64_t> lane, state;
      // The last time in two runs of neighbours.
      const std::int64_t gap = round == 10 || round == 11 ? 100 : 0;
      ++round;
      for (std::int64_t l = 0; l < lanes; ++l) lane.push_back(l * lane_stride + (l < 9 ? 0 : gap));
      for (std::int64_t s = 0; s < states; ++s) state.push_back(s * state_stride);
      std::vector<double> room(static_cast<std::size_t>(states * 32));
      const ChooseTile tile{room.data(), dtype, 32, states, lanes};
      const ChooseSource source{memory.data(), Dtype::float32, lane.data(), state.data()};
      for (const ChooseCombine combine : {ChooseCombine::add, ChooseCombine::multiply}) {
        choose_gather(tile, source, ChooseCombine::store);
        choose_gather(tile, source, combine);
        for (std::int64_t s = 0; s < states; ++s) {
          for (std::int64_t l = 0; l < lanes; ++l) {
            const float x = memory[static_cast<std::size_t>(lane[l] + state[s])];
            const auto combined = [&](auto y) { return combine == ChooseCombine::add ? y + y : y * y; };
            if (dtype == Dtype::float32) {
              EXPECT_EQ(reinterpret_cast<const float*>(room.data())[s * 32 + l], combined(x));
            } else {
              EXPECT_EQ(room[s * 32 + l], combined(static_cast<double>(x)));
            }
          }
        }
      }
    }
  }
}

TEST(ChooseRandom, IsTheCounterBasedOne) {
  const std::int64_t big = (std::int64_t{1} << 40) + 5;
  for (const std::int64_t first : {std::int64_t{0}, std::int64_t{3}, big, (std::int64_t{1} << 34) - 6}) {
    for (const std::int64_t slice : {std::int64_t{0}, big}) {
      constexpr std::int64_t count = 150;
      std::vector<std::uint32_t> word(count);
      std::vector<double> uniform(count);
      std::vector<std::int64_t> samples, slices;
      choose_words(99, 4, slice, first, count, word.data());
      for (std::int64_t s = 0; s < count; ++s) {
        EXPECT_EQ(word[s],
                  base::draw_word(99, static_cast<std::uint64_t>(first + s), 4, static_cast<std::uint64_t>(slice)));
        samples.push_back(first + s / 3);
        slices.push_back(slice + s * 5);
      }
      choose_uniforms(99, 4, samples.data(), slices.data(), count, uniform.data());
      for (std::int64_t s = 0; s < count; ++s) {
        const double expected =
            base::draw_uniform(99, static_cast<std::uint64_t>(samples[s]), 4, static_cast<std::uint64_t>(slices[s]));
        EXPECT_EQ(uniform[s], expected);
      }
    }
  }
}

}  // namespace
}  // namespace plated::kernels
