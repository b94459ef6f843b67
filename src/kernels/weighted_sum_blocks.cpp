// Gathers what the terms of a block have in common, over lanes and over rows, and forms the terms.
#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/check_kernels.hpp"
#include "kernels/weighted_sum_impl.hpp"

namespace plated::kernels {

bool WeightedSum::Impl::has_numbers(const Task& task, const WeightBlock& block) const noexcept {
  const auto are_numbers = [](const auto* array, std::int64_t count, auto least) {
    return array == nullptr || all_within(array, count, least, std::numeric_limits<decltype(least)>::max());
  };
  constexpr double none = -std::numeric_limits<double>::infinity();
  const auto are_weights = [&]<class T>(T least) {
    return are_numbers(static_cast<const T*>(block.lane_weight), task.lanes, least) &&
           are_numbers(static_cast<const T*>(block.row_weight), task.rows, least);
  };
  return are_numbers(block.lane_log, task.lanes, none) && are_numbers(block.row_log, task.rows, none) &&
         (run.compute_dtype == Dtype::float32 ? are_weights(std::numeric_limits<float>::lowest())
                                              : are_weights(std::numeric_limits<double>::lowest()));
}

/// Puts all inputs of one part into an array: over lanes, or over rows, or for Part::full over the lanes of one row.
void WeightedSum::Impl::gather(const Task& task, Part part, bool factors, double* to, std::int64_t row) const noexcept {
  for (std::size_t i = 0; i < plan.inputs; ++i) {
    if (plan.part[i] != part || (how[i] == Gather::multiply) != factors) continue;
    const bool by_row = part == Part::rows;
    const std::vector<Run>& runs = by_row ? plan.row_runs[i] : plan.lane_runs[i];
    const std::vector<std::int64_t>& offset = by_row ? plan.rows.offset[i] : plan.lanes.offset[i];
    PackSource source;
    source.base = base(task, i) +
                  plan.rows.offset[i][static_cast<std::size_t>(row)] * static_cast<std::int64_t>(size_of(dtype[i]));
    source.dtype = dtype[i];
    source.lane_offset = offset.data();
    source.runs = runs.empty() ? nullptr : runs.data();
    source.run_count = runs.size();
    task.kernels.gather(to, by_row ? task.rows : task.lanes, source, how[i]);
  }
}

void WeightedSum::Impl::gather_lanes(const Task& task, WeightBlock& block) const noexcept {
  if (plan.log == LogForm::doubles || plan.log == LogForm::lanes) {
    auto* log = task.at<double>(arrays.lane_log);
    std::fill(log, log + task.lanes, 0.0);
    gather(task, Part::lanes, false, log, 0);
    block.lane_log = log;
    if (plan.log == LogForm::lanes) {
      auto* high = task.at<float>(arrays.lane_high);
      auto* low = task.at<float>(arrays.lane_low);
      task.kernels.split(log, task.lanes, high, low);
      block.lane_high = high;
      block.lane_low = low;
    }
  }
  if (plan.weight == WeightForm::rows || plan.weight == WeightForm::none) return;
  auto* factor = task.at<double>(arrays.lane_factor);
  // The scale of terms that are written as they are; where rows have weights, it is theirs.
  std::fill(factor, factor + task.lanes, plan.direct_output && plan.weight == WeightForm::lanes ? plan.scale : 1.0);
  gather(task, Part::lanes, true, factor, 0);
  task.kernels.round(factor, task.lanes, task.at<void>(arrays.lane_weight));
  block.lane_weight = task.at<void>(arrays.lane_weight);
}

void WeightedSum::Impl::gather_rows(const Task& task, WeightBlock& block) const noexcept {
  if (plan.log == LogForm::doubles || plan.log == LogForm::rows) {
    auto* log = task.at<double>(arrays.row_log);
    std::fill(log, log + task.rows, 0.0);
    gather(task, Part::rows, false, log, 0);
    block.row_log = log;
    if (plan.log == LogForm::rows) {
      auto* high = task.at<float>(arrays.row_high);
      auto* low = task.at<float>(arrays.row_low);
      task.kernels.split(log, task.rows, high, low);
      block.row_high = high;
      block.row_low = low;
    }
  }
  if (plan.weight == WeightForm::lanes || plan.weight == WeightForm::none) return;
  auto* factor = task.at<double>(arrays.row_factor);
  std::fill(factor, factor + task.rows, plan.direct_output ? plan.scale : 1.0);
  gather(task, Part::rows, true, factor, 0);
  task.kernels.round(factor, task.rows, task.at<void>(arrays.row_weight));
  block.row_weight = task.at<void>(arrays.row_weight);
}

void WeightedSum::Impl::find_rows(Task& task) const noexcept {
  const std::byte* rows = direct < plan.inputs ? base(task, direct) : task.at<std::byte>(arrays.blank);
  if (task.direct != nullptr) task.ahead = rows - task.direct;
  task.direct = rows;
}

bool WeightedSum::Impl::form_block(const Task& task) const noexcept {
  WeightBlock block;
  block.rows = task.rows;
  block.lanes = task.lanes;
  block.surprisal = run.surprisal;
  block.direct = task.direct;
  block.direct_offset = direct < plan.inputs ? plan.rows.offset[direct].data() : no_offset.data();
  block.next = task.direct + task.ahead;
  block.to_offset = plan.row_to.data();
  if (plan.direct_output) {
    block.to = task.output + output_offset(task.kept) * static_cast<std::int64_t>(size_of(run.output_dtype));
    block.add = run.accumulate;
    block.stream = plan.stream;
  } else {
    block.to = task.at<void>(arrays.tile);
    block.add = true;
    block.padded = true;
  }
  gather_lanes(task, block);
  gather_rows(task, block);
  const auto weigh = task.kernels.weigh[static_cast<std::size_t>(plan.log)][static_cast<std::size_t>(plan.weight)];
  if (!plan.full_logs && !plan.full_factors) {
    weigh(block);
    return !looks || has_numbers(task, block);
  }

  // Something depends on rows and lanes both, and cannot be read where it lies: row by row.
  const double* lane_log = block.lane_log;
  const auto* lane_factor = task.at<double>(arrays.lane_factor);
  const auto lanes = static_cast<std::size_t>(task.lanes);
  block.rows = 1;
  for (std::int64_t row = 0; row < task.rows; ++row) {
    if (plan.full_logs) {
      auto* log = task.at<double>(arrays.full_log);
      std::memcpy(log, lane_log, lanes * sizeof(double));
      gather(task, Part::full, false, log, row);
      block.lane_log = log;
    }
    if (plan.full_factors) {
      auto* factor = task.at<double>(arrays.full_factor);
      std::memcpy(factor, lane_factor, lanes * sizeof(double));
      gather(task, Part::full, true, factor, row);
      task.kernels.round(factor, task.lanes, task.at<void>(arrays.lane_weight));
    }
    weigh(block);
    ++block.direct_offset;
    ++block.to_offset;
    if (block.row_log != nullptr) ++block.row_log;
    if (block.row_high != nullptr) ++block.row_high, ++block.row_low;
    if (block.row_weight != nullptr) {
      block.row_weight = static_cast<const std::byte*>(block.row_weight) + size_of(run.compute_dtype);
    }
  }
  return true;
}

}  // namespace plated::kernels
