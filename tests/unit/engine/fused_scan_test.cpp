// Fused scans: a way that is cut where messages settle gives the bits of the whole way.
#include "engine/fused_scan.hpp"

#include <gtest/gtest.h>

#include <random>

namespace plated::engine {
namespace {

struct Case {
  Semiring semiring;
  std::int64_t states, rows, slices;
  bool forward, linear, ragged;
};

/// What a scan leaves: messages and what was taken out of them, after every step and at the end.
template <class T>
struct Left {
  std::vector<T> message, traced;
  std::vector<double> shift, traced_shift;
  bool operator==(const Left&) const = default;
};

template <class T>
class Chain {
 public:
  explicit Chain(const Case& c) : case_(c) {
    std::mt19937 random(7);
    std::uniform_real_distribution<T> uniform(-4, 0);
    const auto fill = [&](std::vector<T>& to, std::int64_t count) {
      for (std::int64_t k = 0; k < count; ++k) to.push_back(uniform(random));
    };
    fill(matrix_, c.states * c.states);
    fill(terms_, c.slices * c.rows * c.states);
    fill(first_, c.rows * c.states);
    // Some steps reach too deep for real space.
    for (std::size_t k = 0; k < terms_.size(); k += 997) terms_[k] -= 2000;
    for (std::int64_t r = 0; r < c.rows && c.ragged; ++r) lengths_.push_back(c.slices - r * c.slices / c.rows);
    scan_.shape = {
        .semiring = c.semiring, .dtype = sizeof(T) == 4 ? Dtype::float32 : Dtype::float64, .states = c.states};
    scan_.forward = c.forward;
    scan_.slices = c.slices;
    scan_.rows = c.rows;
    scan_.matrix = 0;
    scan_.matrix_stride[0] = c.states;
    scan_.matrix_stride[1] = 1;
    scan_.after = FusedTerm{.operand = 1, .slice_stride = c.rows * c.states, .row_offset = {}};
    for (std::int64_t r = 0; r < c.rows; ++r) scan_.after->row_offset.push_back(r * c.states);
  }

  [[nodiscard]] std::int64_t settles_after() const { return scan_.settles_after(); }

  /// In stretches that end at multiples of so many slices.
  [[nodiscard]] Left<T> run(std::int64_t at_once, int threads) const {
    MemoryLayout count;
    (void)scan_.take(count, threads);
    const std::unique_ptr<std::byte, void (*)(std::byte*)> block(
        base::allocate_aligned(static_cast<std::size_t>(count.bytes())), base::free_aligned);
    MemoryLayout layout(block.get());
    const FusedScan::Memory memory = scan_.take(layout, threads);
    const std::vector<const void*> operands = {matrix_.data(), terms_.data()};
    const kernels::Scan packed = scan_.pack(operands, memory);
    const auto [semiring, states, rows, slices, forward, linear, ragged] = case_;
    Left<T> left{.message = first_,
                 .traced = std::vector<T>(static_cast<std::size_t>(slices * rows * states)),
                 .shift = std::vector<double>(static_cast<std::size_t>(rows)),
                 .traced_shift = std::vector<double>(static_cast<std::size_t>(slices * rows))};
    for (std::int64_t step = 0, steps = 0; step < slices; step += steps) {
      const std::int64_t slice = forward ? step : slices - 1 - step;
      steps = forward ? std::min(at_once, slices - step) : slice % at_once + 1;
      scan_.run(packed, operands,
                {.first = step,
                 .steps = steps,
                 .message = left.message.data(),
                 .shift = left.shift.data(),
                 .lengths = ragged ? lengths_.data() : nullptr,
                 .trace = {.messages = left.traced.data() + step * rows * states,
                           .step_stride = rows * states,
                           .offsets = left.traced_shift.data() + step * rows,
                           .offset_step_stride = rows,
                           .linear = linear}},
                memory, threads);
    }
    return left;
  }

 private:
  Case case_;
  std::vector<T> matrix_, terms_, first_;
  std::vector<std::int64_t> lengths_;
  FusedScan scan_;
};

template <class T>
void expect_cuts_to_change_nothing(const Case& c) {
  const Chain<T> chain(c);
  const Left<T> whole = chain.run(c.slices, 1);
  for (const std::int64_t blocks : {1, 3}) {
    for (const int threads : {1, 2}) {
      EXPECT_EQ(chain.run(blocks * chain.settles_after(), threads), whole)
          << name(c.semiring) << ", " << c.states << " states, " << c.rows << " rows, " << sizeof(T) << " bytes";
    }
  }
}

TEST(FusedScan, GivesTheSameBitsWhereItsWayIsCut) {
  for (const Semiring semiring : {Semiring::log, Semiring::max_plus, Semiring::min_plus}) {
    for (const std::int64_t states : {2, 3, 8, 16, 70}) {
      for (const std::int64_t rows : {2, 9, 20}) {
        const bool odd = (states + rows) % 2 != 0;
        FusedScan sizes{.shape = {.states = states}, .rows = rows};
        Case c{semiring, states, rows, 4 * sizes.settles_after() + 5, odd, semiring == Semiring::log && !odd,
               rows == 9};
        expect_cuts_to_change_nothing<float>(c);
        expect_cuts_to_change_nothing<double>(c);
      }
    }
  }
}

TEST(FusedScan, GivesTheSameBitsWhereASplitWayIsCut) {
  expect_cuts_to_change_nothing<float>({Semiring::log, 2, 1, 4 * 65536 + 3000, true, false, false});
  expect_cuts_to_change_nothing<double>({Semiring::max_plus, 3, 1, 2 * 65536 + 100, false, false, false});
  expect_cuts_to_change_nothing<float>({Semiring::log, 2, 1, 2 * 65536, true, true, true});
}

}  // namespace
}  // namespace plated::engine
