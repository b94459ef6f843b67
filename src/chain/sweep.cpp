// Runs a piece's messages.
#include "chain/sweep.hpp"

#include <algorithm>
#include <cstring>

#include "base/watch.hpp"
#include "chain/messages.hpp"
#include "semiring/dispatch.hpp"

namespace plated::chain {
namespace {

double one_of(Semiring semiring) {
  return semiring::dispatch(semiring, [](auto ring) { return decltype(ring)::one(); });
}
double zero_of(Semiring semiring) {
  return semiring::dispatch(semiring, [](auto ring) { return decltype(ring)::zero(); });
}

Tensor view_of(Dtype dtype, void* data, Tensor::Shape shape) {
  return dtype == Dtype::float32 ? Tensor::view(static_cast<float*>(data), std::move(shape))
                                 : Tensor::view(static_cast<double*>(data), std::move(shape));
}

Tensor copy_of_doubles(const Tensor& tensor) { return Tensor::of(tensor.shape(), tensor.values()); }

}  // namespace

Tensor Block::before() const {
  Tensor::Shape shape = forward.shape();
  shape[0] = count;
  return view_of(forward.dtype(), forward.mutable_data(), std::move(shape));
}

Tensor Block::after() const {
  Tensor::Shape shape = backward.shape();
  std::int64_t message = 1;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) message *= shape[axis];
  shape[0] = count;
  auto* data = static_cast<std::byte*>(backward.mutable_data());
  return view_of(backward.dtype(), data + message * static_cast<std::int64_t>(size_of(backward.dtype())),
                 std::move(shape));
}

Sweep::Sweep(const Program& program, std::size_t piece, std::span<const Tensor> operands, Semiring semiring,
             const Call& call, SweepSize size)
    : program_(program),
      piece_(program.pieces().pieces[piece]),
      body_(program.body(piece)),
      index_(piece),
      operands_(operands),
      semiring_(semiring),
      call_(call),
      size_(size),
      dtype_(engine::carries_offset(semiring) ? engine::element_dtype(operands.first(program.graph().factors().size()))
                                              : Dtype::float64),
      slices_(program.graph().dims()[piece_.chain].size),
      constant_(body_.preparations.size()),
      constant_offset_(body_.preparations.size()) {
  const FactorGraph& graph = program_.pieces().graph;
  std::vector<DimId> row_dims = piece_.rows;
  row_dims.insert(row_dims.end(), piece_.outer.begin(), piece_.outer.end());
  rows_ = elements(graph, row_dims);
  states_ = elements(graph, piece_.sources);
  if (const Ragged* ragged = call.ragged(piece_.chain)) {
    std::vector<std::int64_t> sizes;
    for (const DimId d : row_dims) sizes.push_back(graph.dims()[d].size);
    lengths_ = ragged->over(row_dims, sizes).values;
  }
}

engine::Recursion& Sweep::recursion(bool forward) {
  if (!step_[forward]) {
    std::unique_ptr<StepRun>& run =
        step_[forward].emplace(program_.step_pool(), StepPool::Key{index_, forward, semiring_, dtype_}).run();
    if (run) {
      run->recursion.forget_data();
    } else {
      std::vector<bool> varies;
      for (const BodyFactor& factor : body_.factors) varies.push_back(factor.varies);
      auto step = program_.step(index_, forward);
      const planner::Schedule& schedule = step->schedule();
      run.reset(
          new StepRun{std::move(step), engine::Recursion(schedule, piece_.links.size(), varies, semiring_, dtype_)});
    }
  }
  return step_[forward]->run()->recursion;
}

void Sweep::first_message() {
  const FactorGraph& graph = program_.pieces().graph;
  const std::vector<std::int64_t> shape =
      engine::sizes(graph, message_axes(piece_, piece_.forward ? piece_.sources : piece_.targets));
  Tensor start(Dtype::float64, shape);
  auto* values = static_cast<double*>(start.mutable_data());
  offset_.assign(static_cast<std::size_t>(rows_), 0.0);
  if (const std::vector<double>* given = taken_up_[piece_.forward]) {
    const std::int64_t state = piece_.forward ? 0 : slices_;
    std::copy_n(given->begin() + state * rows_ * states_, rows_ * states_, values);
  } else if (!piece_.absorbed.empty()) {
    const auto part =
        program_.part("start " + std::to_string(index_), [&] { return start_graph(graph, piece_, false); });
    std::vector<Tensor> inputs;
    for (const std::size_t f : piece_.absorbed) inputs.push_back(operands_[f]);
    start = outputs(*part, {engine::shape_only(Dtype::float64, shape)}, inputs, InnerCall(call_, semiring_))[0];
    values = static_cast<double*>(start.mutable_data());
  } else {
    std::fill_n(values, rows_ * states_, one_of(semiring_));
    if (piece_.keeps_start) {
      for (std::int64_t r = 0; r < rows_; ++r) {
        for (std::int64_t k = 0; k < states_; ++k) {
          if (r % states_ != k) values[r * states_ + k] = zero_of(semiring_);
        }
      }
    }
  }
  engine::normalise(semiring_, Dtype::float64, values, offset_.data(), rows_, states_);
  message_ = converted(start, dtype_);
}

const Tensor& Sweep::tensor_of(const BodyFactor& factor, const Slices& slices) const {
  if (factor.is_prepared) return slices.prepared[factor.index];
  return slices
      .operands[std::find(piece_.factors.begin(), piece_.factors.end(), factor.index) - piece_.factors.begin()];
}

std::vector<engine::BodyOperand> Sweep::body_operands(const Slices& slices, std::int64_t first,
                                                      std::int64_t direction) const {
  std::vector<engine::BodyOperand> list;
  for (const BodyFactor& factor : body_.factors) {
    const Tensor& tensor = tensor_of(factor, slices);
    list.push_back({selected(tensor, factor.axes, piece_.chain, factor.varies ? first : 0),
                    direction * engine::stride_along(tensor, factor.axes, piece_.chain)});
  }
  return list;
}

void Sweep::add_to_message(const double* given) {
  std::vector<double> sum = message_.values();
  for (std::int64_t k = 0; k < rows_ * states_; ++k) {
    const double own = sum[k] + offset_[k / states_];
    sum[k] = semiring::dispatch(semiring_, [&](auto ring) { return decltype(ring)::add(own, given[k]); });
  }
  start_back(Tensor::of(message_.shape(), sum));
}

void Sweep::run(bool forward, std::int64_t first, std::int64_t count, const Slices& slices, void* trace,
                double* offsets, bool linear) {
  const std::vector<double>* given = taken_up_[forward];
  if (given == nullptr) return run_stretch(forward, first, 0, count, slices, trace, offsets, linear);
  const auto bytes = static_cast<std::size_t>(rows_ * states_) * size_of(dtype_);
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t slice = forward ? k : count - 1 - k;
    const std::int64_t slot = forward ? slice + 1 : slice;
    run_stretch(forward, first, slice, 1, slices, nullptr, nullptr, linear);
    add_to_message(given->data() + (first + slot) * rows_ * states_);
    if (trace == nullptr || bytes == 0) continue;
    std::memcpy(static_cast<std::byte*>(trace) + static_cast<std::size_t>(slot) * bytes, message_.data(), bytes);
    std::copy_n(offset_.data(), rows_, offsets + slot * rows_);
  }
}

void Sweep::run_stretch(bool forward, std::int64_t first, std::int64_t begin, std::int64_t count, const Slices& slices,
                        void* trace, double* offsets, bool linear) {
  engine::Stretch stretch;
  const std::int64_t from = forward ? begin : begin + count - 1;
  stretch.first_slice = first + from;
  stretch.steps = count;
  stretch.direction = forward ? 1 : -1;
  stretch.operands = body_operands(slices, from, stretch.direction);
  stretch.linear = linear;
  stretch.message = message_.mutable_data();
  stretch.offset = offset_.data();
  std::vector<double> reversed;
  if (!slices.factor.empty()) {
    const double* factor = slices.factor.data() + begin * rows_;
    stretch.factor = factor;
    if (!forward) {
      reversed.resize(static_cast<std::size_t>(count * rows_));
      for (std::int64_t s = 0; s < count; ++s) {
        std::copy_n(factor + (count - 1 - s) * rows_, rows_, reversed.data() + s * rows_);
      }
      stretch.factor = reversed.data();
    }
  }
  if (trace != nullptr) {
    const std::int64_t slot = forward ? 1 : count - 1;
    stretch.trace =
        static_cast<std::byte*>(trace) + slot * rows_ * states_ * static_cast<std::int64_t>(size_of(dtype_));
    if (offsets != nullptr) stretch.trace_offset = offsets + slot * rows_;
    stretch.trace_direction = stretch.direction;
  }
  if (!lengths_.empty()) stretch.lengths = lengths_.data();
  recursion(forward).run(stretch, call_.settings);
}

Tensor Sweep::result(bool will_return) {
  first_message();
  const bool forward = piece_.forward;
  const auto bytes = static_cast<std::size_t>(rows_ * states_) * size_of(dtype_);
  const bool all = will_return && size_.keeps_all;
  if (will_return) {
    const std::int64_t slots = all ? slices_ + 1 : blocks();
    kept_.resize(static_cast<std::size_t>(slots) * bytes);
    kept_offset_.resize(static_cast<std::size_t>(slots * rows_));
  }
  const auto keep = [&](std::int64_t slot) {
    if (bytes > 0) std::memcpy(kept_.data() + static_cast<std::size_t>(slot) * bytes, message_.data(), bytes);
    std::copy_n(offset_.data(), rows_, kept_offset_.data() + slot * rows_);
  };
  if (all) keep(forward ? 0 : slices_);
  const bool all_linear = will_return && keeps_all_linear_;
  if (all_linear) {
    kept_linear_.resize(static_cast<std::size_t>(slices_ + 1) * bytes);
    write_linear(kept_linear_.data() + static_cast<std::size_t>(forward ? 0 : slices_) * bytes);
  }
  for (std::int64_t k = 0; k < blocks(); ++k) {
    const base::PartOf part(k, blocks());
    const std::int64_t block = forward ? k : blocks() - 1 - k;
    const std::int64_t first = block * size_.block;
    const std::int64_t count = std::min(size_.block, slices_ - first);
    if (will_return && !all) keep(block);
    if (all_linear) {
      run(forward, first, count, slices_of(first, count), kept_linear_.data() + static_cast<std::size_t>(first) * bytes,
          nullptr, true);
      continue;
    }
    run(forward, first, count, slices_of(first, count),
        all ? kept_.data() + static_cast<std::size_t>(first) * bytes : nullptr,
        all ? kept_offset_.data() + first * rows_ : nullptr);
  }
  const FactorGraph& graph = program_.pieces().graph;
  Tensor result(Dtype::float64, engine::sizes(graph, message_axes(piece_, piece_.result())));
  auto* values = static_cast<double*>(result.mutable_data());
  const std::vector<double> relative = message_.values();
  for (std::int64_t r = 0; r < rows_; ++r) {
    for (std::int64_t k = 0; k < states_; ++k) values[r * states_ + k] = relative[r * states_ + k] + offset_[r];
  }
  return result;
}

Tensor Sweep::trace_tensor(void* data, std::int64_t count) const {
  std::vector<std::int64_t> shape = engine::sizes(program_.pieces().graph, message_axes(piece_, piece_.sources));
  shape.insert(shape.begin(), count + 1);
  return view_of(dtype_, data, std::move(shape));
}

Tensor Sweep::exists(std::int64_t first, std::int64_t count) const {
  std::vector<std::int64_t> shape{count};
  for (const DimId d : without(slice_batch(piece_), piece_.chain)) {
    shape.push_back(program_.pieces().graph.dims()[d].size);
  }
  if (lengths_.empty()) return Tensor::scalar(1.0).broadcast(shape);
  Tensor flags(Dtype::float64, shape);
  auto* values = static_cast<double*>(flags.mutable_data());
  for (std::int64_t s = 0; s < count; ++s) {
    for (std::int64_t r = 0; r < rows_; ++r) values[s * rows_ + r] = first + s < lengths_[r] ? 1.0 : 0.0;
  }
  return flags;
}

void Sweep::run_again(std::int64_t block, std::int64_t count, const Slices& slices, std::byte* trace, double* offsets,
                      bool linear) {
  const auto bytes = static_cast<std::size_t>(rows_ * states_) * size_of(dtype_);
  Tensor message = Tensor::uninitialised(dtype_, message_.shape());
  std::vector<double> offset(kept_offset_.begin() + block * rows_, kept_offset_.begin() + (block + 1) * rows_);
  const std::size_t from = static_cast<std::size_t>(block) * bytes;
  if (bytes > 0) std::memcpy(message.mutable_data(), kept_.data() + from, bytes);
  const std::int64_t slot = piece_.forward ? 0 : count;
  if (bytes > 0) std::memcpy(trace + static_cast<std::size_t>(slot) * bytes, kept_.data() + from, bytes);
  if (offsets != nullptr) std::copy(offset.begin(), offset.end(), offsets + slot * rows_);
  std::swap(message, message_);
  std::swap(offset, offset_);
  if (linear) write_linear(trace + static_cast<std::size_t>(slot) * bytes);
  run(piece_.forward, block * size_.block, count, slices, trace, offsets, linear);
  std::swap(message, message_);
  std::swap(offset, offset_);
}

void Sweep::start_back(const Tensor& context) {
  const Tensor start = copy_of_doubles(context);
  offset_.assign(static_cast<std::size_t>(rows_), 0.0);
  engine::normalise(semiring_, Dtype::float64, start.mutable_data(), offset_.data(), rows_, states_);
  message_ = converted(start, dtype_);
}

void Sweep::back(const Tensor& context, const std::function<void(const Block&)>& visit) {
  const bool forward = piece_.forward;
  const auto bytes = static_cast<std::size_t>(rows_ * states_) * size_of(dtype_);
  start_back(context);
  std::vector<std::byte> own(size_.keeps_all ? 0 : static_cast<std::size_t>(size_.block + 1) * bytes);
  std::vector<double> own_offset(size_.keeps_all ? 0 : static_cast<std::size_t>((size_.block + 1) * rows_));
  std::vector<std::byte> returning(static_cast<std::size_t>(std::min(size_.block, slices_) + 1) * bytes);
  std::vector<double> returning_offset(static_cast<std::size_t>((std::min(size_.block, slices_) + 1) * rows_));
  for (std::int64_t k = 0; k < blocks(); ++k) {
    const base::PartOf part(k, blocks());
    const std::int64_t number = forward ? blocks() - 1 - k : k;
    Block block;
    block.first = number * size_.block;
    block.count = std::min(size_.block, slices_ - block.first);
    const std::int64_t count = block.count;
    const Slices slices = slices_of(block.first, count);
    std::byte* mine = own.data();
    double* mine_offset = own_offset.data();
    if (size_.keeps_all) {
      mine = kept_.data() + static_cast<std::size_t>(block.first) * bytes;
      mine_offset = kept_offset_.data() + block.first * rows_;
    } else {
      run_again(number, count, slices, mine, mine_offset);
    }
    const std::int64_t slot = forward ? count : 0;
    if (bytes > 0) std::memcpy(returning.data() + static_cast<std::size_t>(slot) * bytes, message_.data(), bytes);
    std::copy(offset_.begin(), offset_.end(), returning_offset.begin() + slot * rows_);
    run(!forward, block.first, count, slices, returning.data(), returning_offset.data());

    block.operands = slices.operands;
    block.forward = trace_tensor(forward ? mine : returning.data(), count);
    block.backward = trace_tensor(forward ? returning.data() : mine, count);
    block.forward_offset = forward ? mine_offset : returning_offset.data();
    block.backward_offset = forward ? returning_offset.data() : mine_offset;
    block.exists = exists(block.first, count);
    visit(block);
  }
}

}  // namespace plated::chain
