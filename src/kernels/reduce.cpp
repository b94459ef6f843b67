// The reduce strategy: streams the operands once through fused sums and products, for any shape.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/aligned_memory.hpp"
#include "base/watch.hpp"
#include "kernels/ahead.hpp"
#include "kernels/reduce_kernels.hpp"
#include "kernels/reduce_plan.hpp"
#include "kernels/reduce_small.hpp"
#include "kernels/strategy.hpp"
#include "kernels/walk_cursor.hpp"
#include "kernels/write_output.hpp"

namespace plated::kernels {
namespace {

// Lanes below which rows are too short for the hardware's prefetcher.
constexpr std::int64_t short_rows = 256;

/// Where each piece of a task's scratch begins, in bytes; every piece is 64-byte aligned.
struct ScratchLayout {
  std::size_t kept_cursor, product_cursor, sum_cursor, top, sum, fold, product_top, product_sum, tile, bytes;
};

std::pair<std::int64_t, std::int64_t> part_of(std::int64_t count, std::int64_t part, std::int64_t parts) {
  const std::int64_t small = count / parts;
  const std::int64_t extra = count % parts;
  const std::int64_t begin = part * small + std::min(part, extra);
  return {begin, begin + small + (part < extra ? 1 : 0)};
}

class Reduce final : public Strategy {
 public:
  Reduce(const ContractionShape& shape, LoopNest nest)
      : semiring_(shape.semiring),
        // A sum of one term needs no logarithm: it is that term.
        kernel_semiring_(shape.semiring == Semiring::log && nest.sum == 1 ? Semiring::max_plus : shape.semiring),
        compute_(shape.compute_dtype),
        output_dtype_(shape.output_dtype),
        input_dtype_(shape.input_dtype),
        plan_(plan_reduce(shape, std::move(nest))) {
    // A lane's sum lies between 1 and its number of terms; so many can be multiplied without overflow.
    factors_per_settle_ =
        static_cast<std::int64_t>(900.0 / (1.0 + std::log2(static_cast<double>(plan_.nest.sum) + 1.0)));
    const std::size_t inputs = plan_.nest.base.size();
    const auto lanes = static_cast<std::size_t>(plan_.lanes.count);
    const std::size_t states = lanes * state_bytes(kernel_semiring_, compute_) + padding_bytes;
    const std::size_t doubles = lanes * sizeof(double) + padding_bytes;
    std::size_t sum_words = 0;
    for (const Pass& pass : plan_.passes) sum_words = std::max(sum_words, WalkCursor::words(pass.walk, inputs));
    std::size_t at = 0;
    const auto place = [&at](std::size_t bytes) { return std::exchange(at, at + base::in_whole_lines(bytes)); };
    layout_.kept_cursor = place(WalkCursor::words(plan_.kept, inputs) * 8);
    layout_.product_cursor = place(WalkCursor::words(plan_.product, inputs) * 8);
    layout_.sum_cursor = place(sum_words * 8);
    layout_.top = place(states);
    layout_.sum = place(states);
    layout_.fold = place(states);
    layout_.product_top = place(doubles);
    layout_.product_sum = place(doubles);
    layout_.tile = place(
        plan_.direct ? 0 : static_cast<std::size_t>(plan_.tile_rows * plan_.pitch) * size_of(compute_) + padding_bytes);
    layout_.bytes = at;
  }

  const char* name() const override { return "reduce"; }
  std::int64_t tasks() const override { return plan_.kept_parts * partials(); }
  std::size_t task_scratch_bytes() const override { return layout_.bytes; }
  std::size_t shared_scratch_bytes() const override {
    if (partials() == 1) return 0;
    const auto values = static_cast<std::size_t>(partials() * plan_.kept.count * plan_.accumulators);
    return values * sizeof(double) + WalkCursor::words(plan_.kept, plan_.nest.base.size()) * 8;
  }

  /// A product with zero may lose NaN.
  bool looks_at_input() const override {
    return plan_.nest.base.size() == 1 && kernel_semiring_ != Semiring::max_product &&
           kernel_semiring_ != Semiring::boolean;
  }
  double run_task(std::int64_t task, std::span<const void* const> inputs, void* output, std::byte* task_scratch,
                  std::byte* shared_scratch) const noexcept override;
  void finish(void* output, std::byte* shared_scratch) const noexcept override;

 private:
  struct Task {
    const ReduceKernels& kernels;
    std::span<const void* const> inputs;
    std::byte* scratch;
    const WalkCursor& kept;
    const WalkCursor& product;
    base::Pace& pace;
  };

  [[nodiscard]] std::int64_t partials() const { return plan_.product_parts * plan_.sum_parts; }
  [[nodiscard]] double* partial(std::byte* shared, std::int64_t part, std::int64_t kept) const {
    return reinterpret_cast<double*>(shared) + (part * plan_.kept.count + kept) * plan_.accumulators;
  }
  template <class T>
  [[nodiscard]] T* at(const Task& task, std::size_t offset) const {
    return reinterpret_cast<T*>(task.scratch + offset);
  }

  double sum_lanes(const Task& task, std::int64_t lanes, std::int64_t part) const noexcept;
  void absorb(const Task& task, const Pass& pass, const WalkCursor& cursor, std::int64_t rows, std::int64_t lanes,
              bool first) const noexcept;

  Semiring semiring_;
  Semiring kernel_semiring_;
  Dtype compute_;
  Dtype output_dtype_;
  std::vector<Dtype> input_dtype_;
  ReducePlan plan_;
  std::int64_t factors_per_settle_ = 1;
  ScratchLayout layout_{};
};

/// Absorbs one block of rows, through a tile unless the lanes lie contiguous in a single input.
void Reduce::absorb(const Task& task, const Pass& pass, const WalkCursor& cursor, std::int64_t rows, std::int64_t lanes,
                    bool first) const noexcept {
  const std::size_t inputs = task.inputs.size();
  auto* top = at<void>(task, layout_.top);
  auto* sum = at<void>(task, layout_.sum);
  const auto source = [&](std::size_t i) {
    const std::int64_t offset = pass.base[i] + task.kept.input(i) + task.product.input(i) + cursor.input(i);
    return static_cast<const std::byte*>(task.inputs[i]) + offset * static_cast<std::int64_t>(size_of(input_dtype_[i]));
  };
  // Where an input's next block begins; null after the last.
  const auto next_of = [&](std::size_t i, const std::byte* base) -> const std::byte* {
    std::int64_t step = 0;
    const bool more = cursor.look_ahead(i, step) || task.product.look_ahead(i, step) || task.kept.look_ahead(i, step);
    return more ? base + step * static_cast<std::int64_t>(size_of(input_dtype_[i])) : nullptr;
  };
  if (plan_.direct) {
    const std::byte* base = source(0);
    task.kernels.absorb(base, lanes <= short_rows ? next_of(0, base) : nullptr, pass.rows.offset[0].data(), rows, lanes,
                        top, sum, first);
    return;
  }
  // The next tile is fetched while this one is summed, or where that takes no time while it is packed.
  const std::byte* next = next_of(plan_.nest.primary, source(plan_.nest.primary));
  const std::byte* next_while_packing = plan_.ahead_lines.empty() ? next : nullptr;
  const std::size_t lines = next == nullptr ? 0 : plan_.ahead_lines.size();
  const Ahead ahead = {next, plan_.ahead_lines.data(), static_cast<std::int64_t>(lines)};
  auto* tile = at<void>(task, layout_.tile);
  for (std::int64_t r = 0; r < rows; r += plan_.tile_rows) {
    const std::int64_t count = std::min(plan_.tile_rows, rows - r);
    const bool last = r + plan_.tile_rows >= rows;
    for (std::size_t n = 0; n < inputs; ++n) {
      // The primary input first: only what starts a tile is transposed in registers.
      const std::size_t i = n == 0 ? plan_.nest.primary : n - (n <= plan_.nest.primary ? 1 : 0);
      const std::vector<Run>& runs = plan_.lane_runs[i];
      const PackSource from = {source(i),
                               n == 0 ? next_while_packing : nullptr,
                               input_dtype_[i],
                               pass.rows.offset[i].data() + r,
                               plan_.lanes.offset[i].data(),
                               runs.empty() ? nullptr : runs.data(),
                               runs.size()};
      task.kernels.pack(tile, plan_.pitch, count, lanes, from, n > 0);
    }
    task.kernels.absorb_tile(tile, last ? ahead : Ahead{}, plan_.tile_row_offset.data(), count, lanes, top, sum,
                             first && r == 0);
  }
}

/// The states of all lanes at one outer index; only a part of the sum where it is split. Returns what it has seen.
double Reduce::sum_lanes(const Task& task, std::int64_t lanes, std::int64_t part) const noexcept {
  bool first = true;
  for (const Pass& pass : plan_.passes) {
    const bool main = &pass == plan_.passes.data();
    if (!main && part != plan_.sum_parts - 1) break;
    const auto [begin, end] =
        main ? part_of(pass.walk.count, part, plan_.sum_parts) : std::pair(std::int64_t{0}, pass.walk.count);
    WalkCursor cursor(pass.walk, task.inputs.size(), at<std::int64_t>(task, layout_.sum_cursor));
    cursor.seek(begin);
    for (std::int64_t s = begin; s < end; ++s) {
      const std::int64_t rows = cursor.at_last_piece() ? pass.last_rows : pass.rows.count;
      absorb(task, pass, cursor, rows, std::min(lanes, pass.lanes), first);
      first = false;
      if (task.pace.stops(rows * lanes)) return 0;
      if (s + 1 < end) cursor.advance();
    }
  }
  const double seen =
      looks_at_input() ? task.kernels.magnitude(lanes, at<void>(task, layout_.top), at<void>(task, layout_.sum)) : 0.0;
  if (plan_.folds) {
    task.kernels.fold(plan_.lanes.count, plan_.slots, plan_.fold_slot.data(), at<void>(task, layout_.top),
                      at<void>(task, layout_.sum), at<void>(task, layout_.fold));
  }
  return seen;
}

double Reduce::run_task(std::int64_t task_index, std::span<const void* const> inputs, void* output,
                        std::byte* task_scratch, std::byte* shared_scratch) const noexcept {
  const std::int64_t sum_part = task_index % plan_.sum_parts;
  const std::int64_t product_part = task_index / plan_.sum_parts % plan_.product_parts;
  const std::int64_t kept_part = task_index / partials();
  const auto [kept_begin, kept_end] = part_of(plan_.kept.count, kept_part, plan_.kept_parts);
  const auto [product_begin, product_end] = part_of(plan_.product.count, product_part, plan_.product_parts);

  WalkCursor kept(plan_.kept, inputs.size(), reinterpret_cast<std::int64_t*>(task_scratch + layout_.kept_cursor));
  WalkCursor product(plan_.product, inputs.size(),
                     reinterpret_cast<std::int64_t*>(task_scratch + layout_.product_cursor));
  base::Pace pace;
  const Task task = {reduce_kernels(kernel_semiring_, compute_), inputs, task_scratch, kept, product, pace};
  auto* top = at<void>(task, layout_.top);
  auto* sum = at<void>(task, layout_.sum);
  auto* product_top = at<double>(task, layout_.product_top);
  auto* product_sum = at<double>(task, layout_.product_sum);
  const bool settles_inside = plan_.factors > factors_per_settle_;
  double seen = 0;

  kept.seek(kept_begin);
  for (std::int64_t k = kept_begin; k < kept_end; ++k) {
    const bool last_kept = kept.at_last_piece();
    const std::int64_t accumulators = last_kept ? plan_.last_accumulators : plan_.accumulators;
    std::int64_t unsettled = 0;
    if (plan_.multiplies) {
      const double one = semiring::dispatch(semiring_, [](auto ring) { return ring.one(); });
      std::fill(product_top, product_top + accumulators, one);
      std::fill(product_sum, product_sum + accumulators, 1.0);
    }
    product.seek(product_begin);
    for (std::int64_t p = product_begin; p < product_end; ++p) {
      const std::int64_t lanes = last_kept || product.at_last_piece() ? plan_.last_lanes : plan_.lanes.count;
      const std::int64_t slots = plan_.folds ? plan_.slots : lanes;
      seen = std::max(seen, sum_lanes(task, lanes, sum_part));
      if (pace.stops(slots)) return 0;
      if (!plan_.multiplies) {
        task.kernels.value(slots, top, sum, product_top);
      } else {
        unsettled += plan_.factors;
        if (unsettled > factors_per_settle_) {
          task.kernels.settle(accumulators, product_top, product_sum);
          unsettled = plan_.factors;
        }
        task.kernels.accumulate(slots, plan_.product_runs.data(), plan_.product_runs.size(), top, sum, product_top,
                                product_sum, settles_inside ? factors_per_settle_ : 0);
      }
      if (p + 1 < product_end) product.advance();
    }
    if (plan_.multiplies) task.kernels.settle(accumulators, product_top, product_sum);
    if (partials() == 1) {
      write_output(semiring_, plan_.nest.power, product_top, accumulators, output, output_dtype_,
                   plan_.nest.output_base + kept.output(),
                   plan_.output_contiguous ? nullptr : plan_.output_offset.data());
    } else {
      std::copy(product_top, product_top + accumulators,
                partial(shared_scratch, product_part * plan_.sum_parts + sum_part, k));
    }
    if (k + 1 < kept_end) kept.advance();
  }
  return seen;
}

void Reduce::finish(void* output, std::byte* shared_scratch) const noexcept {
  if (partials() == 1) return;
  auto* words = reinterpret_cast<std::int64_t*>(partial(shared_scratch, partials(), 0));
  WalkCursor kept(plan_.kept, plan_.nest.base.size(), words);
  kept.seek(0);
  for (std::int64_t k = 0; k < plan_.kept.count; ++k) {
    const std::int64_t accumulators = kept.at_last_piece() ? plan_.last_accumulators : plan_.accumulators;
    double* total = partial(shared_scratch, 0, k);
    semiring::dispatch(semiring_, [&](auto ring) {
      for (std::int64_t part = 1; part < partials(); ++part) {
        const double* other = partial(shared_scratch, part, k);
        for (std::int64_t i = 0; i < accumulators; ++i) {
          total[i] = plan_.sum_parts > 1 ? ring.add(total[i], other[i]) : ring.multiply(total[i], other[i]);
        }
      }
    });
    write_output(semiring_, plan_.nest.power, total, accumulators, output, output_dtype_,
                 plan_.nest.output_base + kept.output(),
                 plan_.output_contiguous ? nullptr : plan_.output_offset.data());
    if (k + 1 < plan_.kept.count) kept.advance();
  }
}

}  // namespace

std::unique_ptr<Strategy> make_reduce(const ContractionShape& shape) {
  LoopNest nest = normalise(shape);
  if (auto small = make_small(shape, nest)) return small;
  return std::make_unique<Reduce>(shape, std::move(nest));
}

}  // namespace plated::kernels
