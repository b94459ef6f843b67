// Choosing one of many states, for several rows at once: the best, or one drawn by its weight.
//
// A tile holds the states of up to choose_lanes rows side by side: state s of lane l is at [s · pitch + l]. Rows that
// are longer than a tile come in pieces; what is known of them so far is in the running arrays, one entry a lane.
//
// Whatever the entries are, a chosen state is one of the row's: it is an index for all that is chosen after it. NaN is
// never chosen where there is anything else, and where no state has a weight, any of them is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plated/tensor.hpp"

namespace plated::kernels {

/// The most lanes of a tile. Pitches are multiples of choose_pitch, and running arrays have choose_lanes entries, so
/// that whole vectors can be read and written; what lies beyond the lanes in use is ignored.
inline constexpr std::int64_t choose_lanes = 64;
inline constexpr std::int64_t choose_pitch = 16;

/// A piece of rows, in float32 or float64.
struct ChooseTile {
  void* data = nullptr;
  Dtype dtype = Dtype::float32;
  std::int64_t pitch = choose_lanes;
  std::int64_t states = 0;
  std::int64_t lanes = 0;
};

/// Where an input's entries are: base + lane_offset[l] + state_offset[s], in elements.
struct ChooseSource {
  const void* base = nullptr;
  Dtype dtype = Dtype::float32;
  const std::int64_t* lane_offset = nullptr;
  const std::int64_t* state_offset = nullptr;
};

/// How entries of several inputs are combined.
enum class ChooseCombine : std::uint8_t {
  store,     ///< the first input
  add,       ///< log weights
  multiply,  ///< weights, whose zero annihilates
};

/// Reads one input into a tile, or combines it with what the tile holds.
void choose_gather(const ChooseTile& tile, const ChooseSource& source, ChooseCombine combine) noexcept;

/// The largest (or least) entry of each lane and its state, the lowest among equals. `top` and `state` are running;
/// `first` is the number of the tile's first state, 0 in the first piece.
void choose_best(const ChooseTile& tile, bool largest, std::int64_t first, double* top, std::uint32_t* state) noexcept;

/// Drawing, piece after piece: the largest log weight; weights in place of their logarithms, −inf and NaN being exactly
/// 0, and their total; and how many states lie wholly below the target, a number in [0, total). That many is the state
/// drawn: its weight is not 0. It is never more than `last`, the row's last state, even where the total is not a
/// positive number.
void choose_top(const ChooseTile& tile, bool first, double* top) noexcept;
void choose_weigh(const ChooseTile& tile, const double* top, double* total) noexcept;
void choose_pass(const ChooseTile& tile, const double* target, std::uint32_t last, double* passed,
                 std::uint32_t* state) noexcept;

/// Tables for many draws from the same rows: the running sums of each lane's weights in units of total / 2^32, rounded,
/// less 2^31; from the last state on the largest integer, up to the row's length, a multiple of choose_pitch. Lane l's
/// row begins at table + l · lane_pitch.
void choose_tabulate(const ChooseTile& weights, const double* total, std::int32_t* table, std::int64_t lane_pitch,
                     std::int64_t length) noexcept;

/// What choose_pass would find for numbers of which the first 32 bits are known, or choose_unsure where these and the
/// rounded sums do not tell. Rows of the table follow each other. Returns how many are unsure.
inline constexpr std::uint32_t choose_unsure = 0xFFFFFFFFU;
std::int64_t choose_look_up(const std::int32_t* table, std::int64_t length, const std::uint32_t* row,
                            const std::uint32_t* word, std::int64_t count, std::uint32_t* state) noexcept;

/// base::draw_word of samples first … first + count − 1 in one slice.
void choose_words(std::uint64_t seed, std::uint32_t variable, std::int64_t slice, std::int64_t first,
                  std::int64_t count, std::uint32_t* word) noexcept;
/// base::draw_uniform of pairs of a sample and a slice.
void choose_uniforms(std::uint64_t seed, std::uint32_t variable, const std::int64_t* sample, const std::int64_t* slice,
                     std::int64_t count, double* uniform) noexcept;

}  // namespace plated::kernels
