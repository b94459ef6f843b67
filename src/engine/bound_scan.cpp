// Binds and runs scans.
#include "engine/bound_scan.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked_size.hpp"
#include "base/watch.hpp"
#include "engine/recursion.hpp"
#include "engine/runnable.hpp"
#include "semiring/dispatch.hpp"

namespace plated::engine {
namespace {

using planner::Scan;
using planner::ValueId;

/// A tensor without data that lies as a slice of a value does.
Tensor slice_shape(const Layout& layout, const std::vector<DimId>& dims, const planner::Extents& extents) {
  Tensor::Shape shape;
  for (const DimId d : dims) shape.push_back(extents[d]);
  return layout.dtype == Dtype::float32
             ? Tensor::view(static_cast<float*>(nullptr), std::move(shape), layout.along(dims))
             : Tensor::view(static_cast<double*>(nullptr), std::move(shape), layout.along(dims));
}

/// Calls visit(k, index) for each index of some axes, in row-major order.
template <class Visit>
void for_each_row(const std::vector<std::int64_t>& extent, const Visit& visit) {
  std::vector<std::int64_t> at(extent.size(), 0);
  const std::int64_t count = base::checked_product(extent);
  for (std::int64_t k = 0; k < count; ++k) {
    visit(k, at);
    for (std::size_t axis = extent.size(); axis-- > 0 && ++at[axis] == extent[axis];) at[axis] = 0;
  }
}

double number(Dtype dtype, const void* data, std::int64_t at) {
  return dtype == Dtype::float32 ? static_cast<const float*>(data)[at] : static_cast<const double*>(data)[at];
}

}  // namespace

bool takes_shifts(Semiring semiring) { return carries_offset(semiring); }

Dtype message_dtype(Semiring semiring, Dtype element) { return takes_shifts(semiring) ? element : Dtype::float64; }

std::int64_t BoundScan::message_bytes() const {
  return base::checked_product(base::checked_product(rows, states), static_cast<std::int64_t>(size_of(dtype)));
}

std::int64_t BoundScan::bytes(int threads) const {
  std::int64_t sum = base::checked_sum(base::checked_product(message_bytes(), 2), base::checked_product(rows, 8));
  return base::checked_sum(sum, body.bound.bytes(threads));
}

void BoundScan::take_memory(int threads) {
  engine::take_memory(body, threads);
  const auto size = static_cast<std::size_t>(message_bytes());
  for (std::vector<std::byte>& buffer : message) buffer.resize(size);
  shift.resize(static_cast<std::size_t>(rows));
}

void BoundScan::first_message() {
  Tensor::Shape shape = extent;
  std::vector<double> values(static_cast<std::size_t>(rows * states));
  const auto [zero, one] = semiring::dispatch(semiring, [](auto ring) {
    return std::pair{decltype(ring)::zero(), decltype(ring)::one()};
  });
  for_each_row(extent, [&](std::int64_t k, const std::vector<std::int64_t>& at) {
    double& value = values[static_cast<std::size_t>(k)];
    value = zero;
    if (!std::all_of(same.begin(), same.end(), [&](const auto& pair) { return at[pair.first] == at[pair.second]; })) {
      return;
    }
    std::int64_t offset = 0;
    for (std::size_t axis = 0; starts && axis < at.size(); ++axis) offset += at[axis] * start_stride[axis];
    value = starts ? number(start_dtype, inputs[0], offset) : one;
  });
  std::fill(shift.begin(), shift.end(), 0.0);
  normalise(semiring, Dtype::float64, values.data(), shift.data(), rows, states);
  if (dtype == Dtype::float64) {
    std::memcpy(message[0].data(), values.data(), message[0].size());
  } else {
    std::copy(values.begin(), values.end(), reinterpret_cast<float*>(message[0].data()));
  }
}

void BoundScan::keep(const ScanMemory& memory, std::int64_t slice) const {
  if (memory.messages == nullptr) return;
  const auto size = static_cast<std::size_t>(message_bytes());
  if (size > 0)
    std::memcpy(static_cast<std::byte*>(memory.messages) + static_cast<std::size_t>(slice) * size, message[0].data(),
                size);
  if (memory.shifts == nullptr) return;
  if (takes_shifts(semiring)) {
    std::copy(shift.begin(), shift.end(), memory.shifts + slice * rows);
  } else {
    const double one = semiring::dispatch(semiring, [](auto ring) { return decltype(ring)::one(); });
    std::fill_n(memory.shifts + slice * rows, rows, one);
  }
}

void BoundScan::restore_absent(std::int64_t slice, const std::byte* before, std::byte* after) const {
  const auto* exists = static_cast<const double*>(inputs[starts ? 1 : 0]);
  const std::size_t size = static_cast<std::size_t>(states) * size_of(dtype);
  for (std::int64_t r = 0; r < rows; ++r) {
    if (exists[present[static_cast<std::size_t>(r)] + slice * present_step] != 0) continue;
    const std::size_t at = static_cast<std::size_t>(r) * size;
    std::memcpy(after + at, before + at, size);
  }
}

void BoundScan::run(const ScanMemory& memory, int threads) {
  first_message();
  const std::size_t first = (starts ? 1U : 0U) + (ragged ? 1U : 0U);
  for (std::int64_t s = 0; s < slices; ++s) {
    base::check_wanted();
    const std::int64_t slice = forward ? s : slices - 1 - s;
    keep(memory, slice);
    operands.clear();
    for (std::size_t k = 0; k < advance.size(); ++k) {
      operands.push_back(static_cast<const std::byte*>(inputs[first + k]) + slice * advance[k]);
    }
    operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(operand), message[0].data());
    void* next = message[1].data();
    run_prepared(body, std::span(&next, 1), operands, threads);
    if (ragged) restore_absent(slice, message[0].data(), message[1].data());
    std::swap(message[0], message[1]);
    normalise(semiring, dtype, message[0].data(), shift.data(), rows, states);
  }
  const bool shifted = takes_shifts(semiring);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = r * states; k < (r + 1) * states; ++k) {
      memory.output[k] = number(dtype, message[0].data(), k) + (shifted ? shift[static_cast<std::size_t>(r)] : 0.0);
    }
  }
}

std::shared_ptr<BoundScan> bind_scan(const planner::Extents& extents, const planner::Step& step, const Layouts& layouts,
                                     const BindOptions& options) {
  const Scan& scan = *step.as<Scan>();
  auto bound = std::make_shared<BoundScan>();
  bound->semiring = scan.semiring.value_or(options.semiring);
  bound->dtype = message_dtype(bound->semiring, layouts.element());
  bound->operand = scan.message;
  bound->forward = scan.forward;
  bound->starts = scan.starts;
  bound->ragged = scan.ragged;
  bound->keeps = scan.messages != planner::none;
  bound->keeps_shifts = scan.shifts != planner::none;
  bound->slices = extents[scan.chain];
  bound->rows = planner::elements(extents, scan.kept);
  bound->states = planner::elements(extents, scan.before);
  for (const DimId d : scan.kept) bound->extent.push_back(extents[d]);
  for (const DimId d : scan.before) bound->extent.push_back(extents[d]);

  std::size_t input = 0;
  if (scan.starts) {
    const Layout start = layouts(step.inputs[input++], extents);
    bound->start_dtype = start.dtype;
    bound->start_stride = start.along(scan.kept);
    for (const std::int64_t stride : start.along(scan.start)) bound->start_stride.push_back(stride);
  }
  for (std::size_t link = 0; link < scan.start.size(); ++link) {
    const auto carried = std::find(scan.kept.begin(), scan.kept.end(), scan.start[link]);
    if (carried == scan.kept.end()) continue;
    bound->same.emplace_back(static_cast<std::size_t>(carried - scan.kept.begin()), scan.kept.size() + link);
    if (scan.starts) bound->start_stride[scan.kept.size() + link] = 0;  // read along the other name of the state
  }
  if (scan.ragged) {
    const Layout present = layouts(step.inputs[input++], extents);
    bound->present_step = present.along(scan.chain);
    const std::vector<std::int64_t> stride = present.along(scan.kept);
    std::vector<std::int64_t> kept;
    for (const DimId d : scan.kept) kept.push_back(extents[d]);
    for_each_row(kept, [&](std::int64_t, const std::vector<std::int64_t>& at) {
      std::int64_t offset = 0;
      for (std::size_t axis = 0; axis < at.size(); ++axis) offset += at[axis] * stride[axis];
      bound->present.push_back(offset);
    });
  }
  const planner::Schedule& body = *scan.body;
  std::vector<Tensor> operands;
  for (std::size_t k = 0; k < body.operands.size(); ++k) {
    if (k == scan.message) {
      operands.push_back(slice_shape(row_major(bound->dtype, body.operands[k], extents), body.operands[k], extents));
      continue;
    }
    const Layout layout = layouts(step.inputs[input++], extents);
    operands.push_back(slice_shape(layout, body.operands[k], extents));
    bound->advance.push_back(layout.along(scan.chain) * static_cast<std::int64_t>(size_of(layout.dtype)));
  }
  bound->shapes = operands;
  bound->shapes.push_back(slice_shape(row_major(bound->dtype, body.outputs[0], extents), body.outputs[0], extents));
  bound->body_options = {.semiring = options.semiring, .element = message_dtype(options.semiring, layouts.element())};
  bound->body.bound = engine::bind(body, extents, std::span(bound->shapes).last(1), operands, bound->body_options);
  return bound;
}

BoundSchedule bind_body(const BoundScan& bound, const planner::Schedule& body, const planner::Extents& extents) {
  const std::span<const Tensor> shapes = bound.shapes;
  return engine::bind(body, extents, shapes.last(1), shapes.first(shapes.size() - 1), bound.body_options);
}

}  // namespace plated::engine
