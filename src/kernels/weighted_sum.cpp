// Runs weighted sums: tasks, and the sums of their blocks.
#include "kernels/weighted_sum.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/assert.hpp"
#include "base/watch.hpp"
#include "hwy/cache_control.h"
#include "kernels/weighted_sum_impl.hpp"
#include "kernels/weighted_sum_layout.hpp"

namespace plated::kernels {
namespace {

/// Where all sums are zero: nothing is left of the inputs, and zero is what the loops write.
WeightedSumShape zero_shape(const WeightedSumShape& shape) {
  WeightedSumShape zero;
  for (std::size_t l = 0; l < shape.extent.size(); ++l) {
    if (shape.summed[l]) continue;
    zero.extent.push_back(shape.extent[l]);
    zero.summed.push_back(false);
    zero.output_stride.push_back(shape.output_stride[l]);
  }
  zero.output_dtype = shape.output_dtype;
  zero.compute_dtype = shape.compute_dtype;
  zero.scale = 0;
  zero.accumulate = shape.accumulate;
  return zero;
}

/// Without offsets the results are contiguous.
template <class T>
void write(const double* values, std::int64_t count, double scale, bool accumulate, T* out,
           const std::int64_t* offset) noexcept {
  if (accumulate) {
    for (std::int64_t i = 0; i < count; ++i) {
      T& element = out[offset == nullptr ? i : offset[i]];
      element = static_cast<T>(static_cast<double>(element) + scale * values[i]);
    }
  } else if (offset == nullptr) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(scale * values[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) out[offset[i]] = static_cast<T>(scale * values[i]);
  }
}

/// Rows of sums whose neighbours in the output are the rows: a cache line of each row at a time.
template <class T>
void write_columns(const double* values, std::int64_t slots, std::int64_t rows, double scale, bool accumulate, T* out,
                   const std::int64_t* slot_output) noexcept {
  constexpr std::int64_t line = 64 / sizeof(double);
  for (std::int64_t slot = 0; slot < slots; slot += line) {
    const std::int64_t end = std::min(slot + line, slots);
    for (std::int64_t row = 0; row < rows; ++row) {
      const double* from = values + row * slots;
      for (std::int64_t k = slot; k < end; ++k) {
        T& element = out[slot_output[k] + row];
        element = static_cast<T>((accumulate ? static_cast<double>(element) : 0.0) + scale * from[k]);
      }
    }
  }
}

}  // namespace

WeightedSum::Impl::Impl(WeightedSumShape given) : shape(std::move(given)) {
  // The surprisal of weights that are all 1 is 0.
  bool all_zero = shape.surprisal && shape.added.empty() && shape.subtracted.empty();
  for (std::size_t l = 0; l < shape.extent.size(); ++l) {
    if (shape.extent[l] == 0) (shape.summed[l] ? all_zero : nothing) = true;
  }
  if (nothing) return;
  run = all_zero ? zero_shape(shape) : shape;
  plan = plan_weighted_sum(run);
  for (const auto* input : inputs_of(run)) dtype.push_back(input->dtype);
  how.insert(how.end(), run.added.size(), Gather::add);
  how.insert(how.end(), run.subtracted.size(), Gather::subtract);
  how.insert(how.end(), run.factors.size(), Gather::multiply);
  direct = static_cast<std::size_t>(std::find(plan.part.begin(), plan.part.end(), Part::direct) - plan.part.begin());
  no_offset.assign(static_cast<std::size_t>(plan.rows.count), 0);
  arrays = place_scratch(plan, run.compute_dtype);
  looks = plan.direct_output && !plan.full_logs && !plan.full_factors && !run.accumulate && !run.surprisal;
}

void WeightedSum::Impl::drain(const Task& task) const noexcept {
  task.kernels.drain(task.at<void>(arrays.tile), plan.pitch * plan.sum_rows, task.at<double>(arrays.totals));
}

/// The block's sums, one row after the other.
void WeightedSum::Impl::fold(const Task& task, std::int64_t slots, std::int64_t sum_rows, double* to) const noexcept {
  SumTile tile;
  tile.doubles = plan.steps_per_drain > 0;
  tile.sums = task.at<void>(tile.doubles ? arrays.totals : arrays.tile);
  tile.pitch = plan.pitch;
  tile.rows = sum_rows;
  // Where a summed loop is cut, its last piece leaves lanes that earlier pieces have filled.
  tile.lanes = plan.lanes.count / plan.slots * slots;
  task.kernels.fold(tile, plan.fold.data(), plan.fold.size(), slots, to);
}

void WeightedSum::Impl::write_sums(const double* sums, std::int64_t slots, std::int64_t sum_rows, void* output,
                                   std::int64_t offset) const noexcept {
  const auto to = [&](auto* out) {
    const std::int64_t* slot_output = plan.slots_contiguous ? nullptr : plan.slot_output.data();
    out += offset;
    if (slots == 1) {  // one sum in each row
      return write(sums, sum_rows, plan.scale, run.accumulate, out, plan.sum_row_output.data());
    }
    if (plan.rows_contiguous) {  // neighbours in the output are rows
      write_columns(sums, slots, sum_rows, plan.scale, run.accumulate, out, plan.slot_output.data());
      return;
    }
    for (std::int64_t row = 0; row < sum_rows; ++row, sums += slots) {
      write(sums, slots, plan.scale, run.accumulate, out + plan.sum_row_output[static_cast<std::size_t>(row)],
            slot_output);
    }
  };
  if (run.output_dtype == Dtype::float32) {
    to(static_cast<float*>(output));
  } else {
    to(static_cast<double*>(output));
  }
}

WeightedSum::WeightedSum(WeightedSumShape shape) {
  PLATED_ASSERT(shape.summed.size() == shape.extent.size() && shape.output_stride.size() == shape.extent.size());
  impl_ = std::make_unique<Impl>(std::move(shape));
}
WeightedSum::WeightedSum(WeightedSum&&) noexcept = default;
WeightedSum& WeightedSum::operator=(WeightedSum&&) noexcept = default;
WeightedSum::~WeightedSum() = default;

const WeightedSumShape& WeightedSum::shape() const { return impl_->shape; }
std::int64_t WeightedSum::tasks() const { return impl_->nothing ? 0 : impl_->plan.kept_parts * impl_->plan.sum_parts; }
std::size_t WeightedSum::task_scratch_bytes() const { return impl_->arrays.bytes; }
std::size_t WeightedSum::shared_scratch_bytes() const {
  const WeightedSumPlan& plan = impl_->plan;
  if (impl_->nothing || plan.sum_parts == 1) return 0;
  const auto sums = static_cast<std::size_t>(plan.sum_parts * plan.kept.count() * plan.sum_rows * plan.slots);
  return (sums + OuterCursor::words(plan.kept, plan.inputs + 1)) * 8;
}

std::optional<std::size_t> WeightedSum::vouches_beside() const {
  return impl_->looks ? std::optional(impl_->direct) : std::nullopt;
}

double WeightedSum::run_task(std::int64_t task_index, std::span<const void* const> inputs, void* output,
                             std::byte* task_scratch, std::byte* shared_scratch) const noexcept {
  const Impl& impl = *impl_;
  const WeightedSumPlan& plan = impl.plan;
  const std::int64_t sum_part = task_index % plan.sum_parts;
  const std::int64_t kept_part = task_index / plan.sum_parts;
  const auto begin_of = [](std::int64_t count, std::int64_t part, std::int64_t parts) {
    return part * (count / parts) + std::min(part, count % parts);
  };
  const std::int64_t kept_begin = begin_of(plan.kept.count(), kept_part, plan.kept_parts);
  const std::int64_t kept_end = begin_of(plan.kept.count(), kept_part + 1, plan.kept_parts);
  const std::int64_t sum_begin = begin_of(plan.sum.count(), sum_part, plan.sum_parts);
  const std::int64_t sum_end = begin_of(plan.sum.count(), sum_part + 1, plan.sum_parts);

  OuterCursor kept(plan.kept, plan.inputs + 1, reinterpret_cast<std::int64_t*>(task_scratch + impl.arrays.kept));
  OuterCursor sum(plan.sum, plan.inputs + 1, reinterpret_cast<std::int64_t*>(task_scratch + impl.arrays.sum));
  Impl::Task task{
      weighted_sum_kernels(impl.run.compute_dtype), inputs, static_cast<std::byte*>(output), task_scratch, kept, sum};
  if (impl.direct == plan.inputs) {
    const bool is_factor = plan.log == LogForm::none;
    const auto fill = [&](auto* blank) {
      std::fill(blank, blank + plan.lanes.count, static_cast<std::remove_pointer_t<decltype(blank)>>(is_factor));
    };
    if (impl.run.compute_dtype == Dtype::float32) {
      fill(task.at<float>(impl.arrays.blank));
    } else {
      fill(task.at<double>(impl.arrays.blank));
    }
  }
  const auto tile = static_cast<std::size_t>(plan.pitch * plan.sum_rows);
  base::Pace pace;
  bool are_finite = true;
  kept.seek(kept_begin);
  for (std::int64_t k = kept_begin; k < kept_end; ++k) {
    if (!plan.direct_output) {
      std::memset(task.at<void>(impl.arrays.tile), 0, tile * size_of(impl.run.compute_dtype));
      if (plan.steps_per_drain > 0) std::memset(task.at<void>(impl.arrays.totals), 0, tile * 8);
    }
    sum.seek(sum_begin);
    std::int64_t steps = 0;
    for (std::int64_t s = sum_begin; s < sum_end; ++s) {
      task.lanes = kept.at_last_lanes() || sum.at_last_lanes() ? plan.last_lanes : plan.lanes.count;
      task.rows = kept.at_last_rows() || sum.at_last_rows() ? plan.last_rows : plan.rows.count;
      impl.find_rows(task);
      are_finite = impl.form_block(task) && are_finite;
      if (pace.stops(task.rows * task.lanes)) return 0;
      if (plan.steps_per_drain > 0 && ++steps == plan.steps_per_drain) {
        impl.drain(task);
        steps = 0;
      }
      if (s + 1 < sum_end) sum.advance();
    }
    if (!plan.direct_output) {
      if (steps > 0) impl.drain(task);
      const std::int64_t slots = kept.at_last_lanes() ? plan.last_slots : plan.slots;
      const std::int64_t sum_rows = kept.at_last_rows() ? plan.last_sum_rows : plan.sum_rows;
      const bool partial = plan.sum_parts > 1;
      double* sums = partial ? impl.partial(shared_scratch, sum_part, k) : task.at<double>(impl.arrays.slots);
      impl.fold(task, slots, sum_rows, sums);
      if (!partial) impl.write_sums(sums, slots, sum_rows, output, impl.output_offset(kept));
    }
    if (k + 1 < kept_end) kept.advance();
  }
  if (plan.stream) hwy::FlushStream();
  return are_finite ? 0.0 : std::numeric_limits<double>::infinity();
}

void WeightedSum::finish(void* output, std::byte* shared_scratch) const noexcept {
  const Impl& impl = *impl_;
  const WeightedSumPlan& plan = impl.plan;
  if (impl.nothing || plan.sum_parts == 1) return;
  auto* words = reinterpret_cast<std::int64_t*>(impl.partial(shared_scratch, plan.sum_parts, 0));
  OuterCursor kept(plan.kept, plan.inputs + 1, words);
  kept.seek(0);
  for (std::int64_t k = 0; k < plan.kept.count(); ++k) {
    const std::int64_t slots = kept.at_last_lanes() ? plan.last_slots : plan.slots;
    const std::int64_t sum_rows = kept.at_last_rows() ? plan.last_sum_rows : plan.sum_rows;
    double* total = impl.partial(shared_scratch, 0, k);
    for (std::int64_t part = 1; part < plan.sum_parts; ++part) {
      const double* other = impl.partial(shared_scratch, part, k);
      for (std::int64_t i = 0; i < slots * sum_rows; ++i) total[i] += other[i];
    }
    impl.write_sums(total, slots, sum_rows, output, impl.output_offset(kept));
    if (k + 1 < plan.kept.count()) kept.advance();
  }
}

}  // namespace plated::kernels
