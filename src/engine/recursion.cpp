// Runs messages along a chain: fused where a kernel has the body's form, else the body's own schedule step by step.
#include "engine/recursion.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/aligned_memory.hpp"
#include "base/watch.hpp"
#include "engine/thread_pool.hpp"

namespace plated::engine {
namespace {

template <class T>
void normalise_rows(bool smallest, T* message, double* offset, std::int64_t rows, std::int64_t states) {
  for (std::int64_t r = 0; r < rows; ++r) {
    T* row = message + r * states;
    T best = row[0];
    for (std::int64_t k = 1; k < states; ++k) best = smallest ? std::min(best, row[k]) : std::max(best, row[k]);
    if (best == (smallest ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity())) continue;
    for (std::int64_t k = 0; k < states; ++k) row[k] -= best;
    offset[r] += static_cast<double>(best);
  }
}

bool exists(const Stretch& stretch, std::int64_t step, std::int64_t row) {
  return stretch.lengths == nullptr || stretch.first_slice + step * stretch.direction < stretch.lengths[row];
}

/// Adds what each step multiplies its rows by to the scalars that a stretch has left.
void add_factors(const Stretch& stretch, std::int64_t rows) {
  if (stretch.factor == nullptr) return;
  for (std::int64_t r = 0; r < rows; ++r) {
    base::check_wanted();
    double sum = 0;
    for (std::int64_t s = 0; s < stretch.steps; ++s) {
      if (exists(stretch, s, r)) sum += stretch.factor[s * rows + r];
      if (stretch.trace_offset != nullptr) stretch.trace_offset[s * stretch.trace_direction * rows + r] += sum;
    }
    stretch.offset[r] += sum;
  }
}

}  // namespace

std::int64_t stride_along(const Tensor& tensor, const std::vector<DimId>& axes, DimId dim) {
  std::int64_t stride = 0;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis] == dim) stride += tensor.strides()[axis];
  }
  return stride;
}

bool carries_offset(Semiring semiring) {
  return semiring == Semiring::log || semiring == Semiring::max_plus || semiring == Semiring::min_plus;
}

void normalise(Semiring semiring, Dtype dtype, void* message, double* offset, std::int64_t rows, std::int64_t states) {
  if (!carries_offset(semiring) || states == 0) return;
  const bool smallest = semiring == Semiring::min_plus;
  if (dtype == Dtype::float32) {
    normalise_rows(smallest, static_cast<float*>(message), offset, rows, states);
  } else {
    normalise_rows(smallest, static_cast<double*>(message), offset, rows, states);
  }
}

Recursion::Recursion(const planner::Schedule& body, std::size_t links, const std::vector<bool>& varies,
                     Semiring semiring, Dtype dtype)
    : body_(body), semiring_(semiring), dtype_(dtype) {
  const std::vector<DimId>& axes = body.operands[0];
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const std::int64_t size = body.extents[axes[axis]];
    (axis + links < axes.size() ? rows_ : states_) *= size;
    if (axis + links < axes.size()) row_dims_.push_back(axes[axis]);
  }
  if (links == 1 && states_ > 0 && carries_offset(semiring)) fused_ = fused_form(varies);
}

std::optional<Recursion::Fused> Recursion::fused_form(const std::vector<bool>& varies) const {
  const DimId source = body_.operands[0].back();
  const DimId target = body_.outputs[0].back();
  Fused form;
  bool has_matrix = false;
  for (std::size_t k = 1; k < body_.graph.factors().size(); ++k) {
    const std::vector<DimId>& axes = body_.operands[k];
    const auto count = [&](DimId d) { return std::count(axes.begin(), axes.end(), d); };
    const bool on_rows = std::all_of(axes.begin(), axes.end(), [&](DimId d) {
      return d == source || d == target ||
             (std::find(row_dims_.begin(), row_dims_.end(), d) != row_dims_.end() && count(d) == 1);
    });
    if (!on_rows || count(source) > 1 || count(target) > 1) return std::nullopt;
    if (count(source) == 1 && count(target) == 1) {
      if (has_matrix || varies[k - 1] || axes.size() != 2) return std::nullopt;
      has_matrix = true;
      form.matrix = k - 1;
    } else if (count(source) == 1 && !form.before) {
      form.before = k - 1;
    } else if (count(target) == 1 && !form.after) {
      form.after = k - 1;
    } else {
      return std::nullopt;
    }
  }
  if (!has_matrix) return std::nullopt;
  return form;
}

void Recursion::forget_data() {
  scan_.reset();
  posterior_.reset();
}

void Recursion::run(const Stretch& stretch, const Settings& settings) {
  if (stretch.steps == 0 || rows_ * states_ == 0) return;
  base::ask_whether_wanted();
  // The fused scan reads one type.
  const bool same_type = std::all_of(stretch.operands.begin(), stretch.operands.end(),
                                     [&](const BodyOperand& operand) { return operand.first.dtype() == dtype_; });
  if (fused_ && same_type) {
    run_fused(stretch, settings);
  } else {
    run_steps(stretch, settings);
  }
  add_factors(stretch, rows_);
}

std::vector<std::int64_t> Recursion::row_offsets(const Tensor& tensor, const std::vector<DimId>& axes) const {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(rows_), 0);
  std::int64_t inside = 1;
  for (std::size_t k = row_dims_.size(); k-- > 0;) {
    const std::int64_t size = body_.extents[row_dims_[k]];
    const std::int64_t stride = stride_along(tensor, axes, row_dims_[k]);
    for (std::int64_t r = 0; r < rows_ && stride != 0; ++r) offsets[r] += r / inside % size * stride;
    inside *= size;
  }
  return offsets;
}

kernels::SliceTerm Recursion::term(const BodyOperand& from, std::size_t operand,
                                   std::vector<std::int64_t>& row_offset) const {
  const std::vector<DimId>& axes = body_.operands[operand + 1];
  row_offset = row_offsets(from.first, axes);
  const DimId state = fused_->before == operand ? body_.operands[0].back() : body_.outputs[0].back();
  return {.data = from.first.data(),
          .step_stride = from.step,
          .state_stride = stride_along(from.first, axes, state),
          .row_offset = row_offset.data()};
}

kernels::ScanRun Recursion::scan_run(const Stretch& stretch) {
  kernels::ScanRun run;
  if (fused_->before) run.before = term(stretch.operands[*fused_->before], *fused_->before, before_offset_);
  if (fused_->after) run.after = term(stretch.operands[*fused_->after], *fused_->after, after_offset_);
  run.messages = stretch.message;
  run.offset = stretch.offset;
  run.steps = stretch.steps;
  if (stretch.trace != nullptr) {
    run.trace = {.messages = stretch.trace,
                 .step_stride = stretch.trace_direction * rows_ * states_,
                 .offsets = stretch.linear ? nullptr : stretch.trace_offset,
                 .offset_step_stride = stretch.trace_direction * rows_,
                 .linear = stretch.linear};
  }
  run.lengths = stretch.lengths;
  run.first_step = stretch.first_slice;
  run.direction = stretch.direction;
  return run;
}

void Recursion::run_fused(const Stretch& stretch, const Settings& settings) {
  const BodyOperand& matrix = stretch.operands[fused_->matrix];
  if (!scan_ || scanned_ != matrix.first.data()) {
    const bool by_source = body_.operands[fused_->matrix + 1][0] == body_.operands[0].back();
    scan_.emplace(kernels::ScanShape{.semiring = semiring_, .dtype = dtype_, .states = states_}, matrix.first.data(),
                  matrix.first.strides()[by_source ? 0 : 1], matrix.first.strides()[by_source ? 1 : 0]);
    scanned_ = matrix.first.data();
  }
  const kernels::ScanRun run = scan_run(stretch);
  if (stretch.lengths == nullptr && splits_time(stretch.steps)) return run_split(run, settings);
  run_rows(run, rows_, settings);
}

void Recursion::run_rows(const kernels::ScanRun& run, std::int64_t rows, const Settings& settings) const {
  // Rows are independent, so their grouping changes no bits.
  const std::int64_t work = run.steps * rows * states_ * states_;
  const std::int64_t groups = work < 100'000 ? 1 : std::min<std::int64_t>(settings.threads, (rows + 7) / 8);
  const std::int64_t grain = ((rows + groups - 1) / groups + 7) / 8 * 8;
  const auto scratch =
      static_cast<std::int64_t>((scan_->scratch_bytes() + base::cache_line - 1) / base::cache_line * base::cache_line);
  const Workspace::Memory memory(
      base::allocate_aligned(static_cast<std::size_t>(std::max<std::int64_t>(64, scratch * groups))));
  auto task = [&](std::int64_t t, int) {
    if (t * grain < rows) scan_->run(t * grain, std::min(rows, (t + 1) * grain), run, memory.get() + t * scratch);
  };
  parallel_for(groups, settings.threads, TaskRef(task));
}

void Recursion::run_steps(const Stretch& stretch, const Settings& settings) {
  const auto bytes = static_cast<std::size_t>(rows_ * states_) * size_of(dtype_);
  const std::size_t row_bytes = static_cast<std::size_t>(states_) * size_of(dtype_);
  next_.resize(bytes);
  std::vector<std::int64_t> shape;
  for (const DimId d : body_.operands[0]) shape.push_back(body_.extents[d]);
  std::vector<std::int64_t> next_shape;
  for (const DimId d : body_.outputs[0]) next_shape.push_back(body_.extents[d]);
  const auto view = [&](void* data, const std::vector<std::int64_t>& extents) {
    return dtype_ == Dtype::float32 ? Tensor::view(static_cast<float*>(data), extents)
                                    : Tensor::view(static_cast<double*>(data), extents);
  };
  std::vector<Tensor> operands{view(stretch.message, shape)};
  for (const BodyOperand& operand : stretch.operands) operands.push_back(operand.first);
  Settings quiet = settings;
  quiet.semiring = semiring_;
  quiet.memory_limit = 0;
  prepare(body_, std::vector<Tensor>{view(next_.data(), next_shape)}, operands, workspace_, quiet);

  std::vector<const void*> inputs;
  for (const Tensor& operand : operands) inputs.push_back(operand.data());
  std::vector<void*> outputs{next_.data()};
  auto* message = static_cast<std::byte*>(stretch.message);
  std::vector<double> before(static_cast<std::size_t>(rows_));
  base::Pace pace;
  const std::int64_t work = 256 + rows_ * states_;  // of a step at least, in nanoseconds
  for (std::int64_t s = 0; s < stretch.steps; ++s) {
    const base::PartOf part(s, stretch.steps);
    if (pace.stops(work)) base::throw_if_stopped();
    run_prepared(workspace_, outputs, inputs, settings.threads);
    std::copy_n(stretch.offset, rows_, before.data());
    normalise(semiring_, dtype_, next_.data(), stretch.offset, rows_, states_);
    for (std::int64_t r = 0; r < rows_; ++r) {
      if (exists(stretch, s, r)) {
        std::memcpy(message + r * row_bytes, next_.data() + r * row_bytes, row_bytes);
      } else {
        stretch.offset[r] = before[r];
      }
    }
    if (stretch.trace != nullptr) {
      const std::int64_t slot = s * stretch.trace_direction;
      std::memcpy(static_cast<std::byte*>(stretch.trace) + slot * static_cast<std::int64_t>(bytes), message, bytes);
      if (stretch.trace_offset != nullptr) std::copy_n(stretch.offset, rows_, stretch.trace_offset + slot * rows_);
    }
    for (std::size_t k = 0; k < stretch.operands.size(); ++k) {
      const Tensor& first = stretch.operands[k].first;
      inputs[k + 1] = static_cast<const std::byte*>(inputs[k + 1]) +
                      stretch.operands[k].step * static_cast<std::int64_t>(size_of(first.dtype()));
    }
  }
}

}  // namespace plated::engine
