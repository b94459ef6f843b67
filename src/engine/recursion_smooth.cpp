// Computes posteriors of slices from messages of both directions, by a dedicated kernel.
#include <algorithm>
#include <atomic>
#include <type_traits>

#include "base/aligned_memory.hpp"
#include "engine/recursion.hpp"
#include "engine/thread_pool.hpp"

namespace plated::engine {

bool Recursion::smooth(const Smoothing& smoothing, const Settings& settings) {
  const BodyOperand& matrix = smoothing.operands[fused_->matrix];
  const bool by_source = body_.operands[fused_->matrix + 1][0] == body_.operands[0].back();
  if (!posterior_) {
    posterior_.emplace(dtype_, states_, matrix.first.data(), matrix.first.strides()[by_source ? 0 : 1],
                       matrix.first.strides()[by_source ? 1 : 0]);
  }
  const kernels::ChainPosterior& posterior = *posterior_;
  std::vector<std::int64_t> source_offset, target_offset;
  kernels::PosteriorRun run;
  if (fused_->before) run.source_term = term(smoothing.operands[*fused_->before], *fused_->before, source_offset);
  if (fused_->after) run.target_term = term(smoothing.operands[*fused_->after], *fused_->after, target_offset);
  run.forward = {.data = smoothing.forward, .step_stride = rows_ * states_};
  run.backward = {.data = smoothing.backward, .step_stride = rows_ * states_};
  run.weight = smoothing.weight;
  run.lengths = smoothing.lengths;
  // One place of each kind at a time; statistics with the first.
  struct Round {
    const Smoothing::Place* before = nullptr;
    const Smoothing::Place* after = nullptr;
  };
  std::vector<Round> rounds(1);
  for (const Smoothing::Place& place : smoothing.places) {
    const auto at = std::find_if(rounds.begin(), rounds.end(), [&](const Round& round) {
      return (place.target ? round.after : round.before) == nullptr;
    });
    Round& round = at == rounds.end() ? rounds.emplace_back() : *at;
    (place.target ? round.after : round.before) = &place;
  }
  // Tasks are cut by sizes alone: totals are added up in their order.
  const std::int64_t row_grain = 32;
  const std::int64_t step_grain = std::max<std::int64_t>(2048, (smoothing.steps + 15) / 16);
  const std::int64_t row_tasks = (rows_ + row_grain - 1) / row_grain;
  const std::int64_t tasks = row_tasks * ((smoothing.steps + step_grain - 1) / step_grain);
  const auto pairs = static_cast<std::size_t>(states_ * states_);
  std::vector<double> totals(smoothing.pairs != nullptr ? static_cast<std::size_t>(tasks) * pairs : 0, 0.0);
  const auto scratch = static_cast<std::int64_t>((posterior.scratch_bytes() + base::cache_line - 1) / base::cache_line *
                                                 base::cache_line);
  const Workspace::Memory memory(
      base::allocate_aligned(static_cast<std::size_t>(std::max<std::int64_t>(64, scratch * settings.threads))));
  std::atomic<bool> safe = true;
  for (std::size_t k = 0; k < rounds.size(); ++k) {
    std::vector<std::int64_t> before_rows, after_rows;
    const auto place_of = [&](const Smoothing::Place* place, std::vector<std::int64_t>& rows) {
      if (place == nullptr) return kernels::PosteriorPlace{};
      const auto is_state = [&](DimId d) {
        return d != smoothing.chain && std::find(row_dims_.begin(), row_dims_.end(), d) == row_dims_.end();
      };
      const DimId state = *std::find_if(place->axes.begin(), place->axes.end(), is_state);
      rows = row_offsets(place->tensor, place->axes);
      return kernels::PosteriorPlace{.data = place->tensor.mutable_data(),
                                     .dtype = place->tensor.dtype(),
                                     .step_stride = stride_along(place->tensor, place->axes, smoothing.chain),
                                     .state_stride = stride_along(place->tensor, place->axes, state),
                                     .row_offset = rows.data()};
    };
    const kernels::PosteriorPlace before = place_of(rounds[k].before, before_rows);
    const kernels::PosteriorPlace after = place_of(rounds[k].after, after_rows);
    auto task = [&](std::int64_t t, int worker) {
      const std::int64_t first_row = t % row_tasks * row_grain;
      const std::int64_t first = t / row_tasks * step_grain;
      const auto advance = [&](auto* data, Dtype dtype, std::int64_t elements) {
        using Byte =
            std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(data)>>, const std::byte, std::byte>;
        return data == nullptr ? data
                               : static_cast<decltype(data)>(static_cast<Byte*>(data) +
                                                             elements * static_cast<std::int64_t>(size_of(dtype)));
      };
      kernels::PosteriorRun part = run;
      part.first_step = smoothing.first_slice + first;
      part.steps = std::min(step_grain, smoothing.steps - first);
      part.forward.data = advance(run.forward.data, dtype_, first * rows_ * states_);
      part.backward.data = advance(run.backward.data, dtype_, first * rows_ * states_);
      part.source_term.data = advance(run.source_term.data, dtype_, first * run.source_term.step_stride);
      part.target_term.data = advance(run.target_term.data, dtype_, first * run.target_term.step_stride);
      part.before = before;
      part.before.data = advance(before.data, before.dtype, first * before.step_stride);
      part.after = after;
      part.after.data = advance(after.data, after.dtype, first * after.step_stride);
      part.totals = k == 0 && !totals.empty() ? totals.data() + static_cast<std::size_t>(t) * pairs : nullptr;
      if (!posterior.run(first_row, std::min(rows_, first_row + row_grain), part, memory.get() + scratch * worker)) {
        safe = false;
      }
    };
    parallel_for(tasks, settings.threads, TaskRef(task));
    if (!safe) return false;
  }
  if (smoothing.pairs != nullptr) {
    for (std::int64_t t = 1; t < tasks; ++t) {
      for (std::size_t k = 0; k < pairs; ++k) totals[k] += totals[static_cast<std::size_t>(t) * pairs + k];
    }
    if (tasks > 0) posterior.finish(totals.data(), totals.data());
    for (std::size_t k = 0; k < pairs && tasks > 0; ++k) smoothing.pairs[k] += totals[k];
  }
  return true;
}

}  // namespace plated::engine
