// Binds a schedule: first the kernels of its steps, then their order and places.
#include "engine/bound_schedule.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/aligned_memory.hpp"
#include "base/checked_size.hpp"
#include "engine/arrange.hpp"
#include "engine/bound_scan.hpp"
#include "engine/kernel_pool.hpp"
#include "engine/looks.hpp"
#include "engine/step_shapes.hpp"
#include "planner/passes.hpp"
#include "planner/scan_form.hpp"
#include "planner/schedule_cost.hpp"

namespace plated::engine {
namespace {

using planner::Schedule;
using planner::Step;
using planner::Value;
using planner::ValueId;

// What stays in the cache of loops along a chain.
constexpr std::int64_t looped_bytes = 1 << 20;
// Results of blocks that wait to be folded.
constexpr std::int64_t group_bytes = 1 << 20;

class Binder {
 public:
  Binder(const Schedule& schedule, const planner::Extents& extents, std::span<const Tensor> outputs,
         std::span<const Tensor> operands, const BindOptions& options)
      : schedule_(schedule),
        extents_(extents),
        options_(options),
        // What a question brings along, cotangents and the like, does not widen the arithmetic.
        element_(options.element ? *options.element : element_dtype(operands.first(schedule.graph.factors().size()))),
        layouts_(schedule, extents, outputs, operands, element_, message_dtype(options.semiring, element_)),
        shapes_(schedule, extents, options.semiring, layouts_),
        pool_(bound_.kernels),
        first_step_(options.kept != nullptr ? schedule.forward_steps : 0) {}

  BoundSchedule run() {
    {
      const planner::Arena arena = planner::place_buffers(schedule_, extents_, element_bytes(), first_step_);
      if (schedule_.verified) planner::verify_places(schedule_, arena, extents_, element_bytes(), first_step_);
      // What other runs read is laid out as the schedule says.
      if (schedule_.reuses_buffers || options_.recalls) {
        blocking_ = blocking_of_run(schedule_, extents_, layouts_, reused_bytes(arena.bytes), first_step_);
      }
    }
    if (blocking_) {
      const DimId dim = blocking_->blocks.dim;
      const bool is_chain = schedule_.problem.kind[dim] == DimKind::chain;
      layouts_.store_in_blocks(blocking_->in_blocks, is_chain ? std::optional(dim) : std::nullopt);
      bound_.blocks = blocking_->blocks;
    }
    bound_.extents = extents_;
    bound_.outputs = schedule_.outputs.size();
    bound_.cleared = cleared();
    find_unread();
    const ToArrange work = to_arrange();
    if (blocking_) descends_ = descending_steps(work);
    bind_steps();
    Arrangement arrangement(work, element_bytes(), options_.kept, blocking_, bound_);
    arrangement.whole();
    if (options_.limit > 0 && bound_.bytes(options_.threads) > options_.limit) {
      arrangement.cut(options_.limit - bound_.bytes(options_.threads) + bound_.arena_bytes);
    } else if (blocking_ && schedule_.problem.kind[blocking_->blocks.dim] == DimKind::chain) {
      arrangement.cut_if_free(looped_bytes);  // a value takes as much for a longer chain
    }
    find_looks(schedule_, bound_);
    return std::move(bound_);
  }

 private:
  planner::ElementBytes element_bytes() const {
    const auto size = [](Dtype dtype) { return static_cast<std::int64_t>(size_of(dtype)); };
    return {size(element_), size(message_dtype(options_.semiring, element_))};
  }

  /// What intermediates take where their places are taken again: values that are kept do not change the blocks, so that
  /// totals have the bits of a run that keeps none.
  std::int64_t reused_bytes(std::int64_t bytes) const {
    if (schedule_.reuses_buffers || bytes < least_blocked_bytes.load(std::memory_order_relaxed)) return bytes;
    return planner::place_buffers(schedule_, extents_, element_bytes(), first_step_, true).bytes;
  }

  ToArrange to_arrange() const {
    ToArrange work{.schedule = schedule_, .first = first_step_, .along = {}, .recalled = {}, .unread = unread_};
    if (blocking_) {
      work.dim = blocking_->blocks.dim;
      for (const Step& step : schedule_.steps) work.along.push_back(blocking_->along(schedule_, step));
    }
    if (options_.recalls) {
      work.recalled.assign(schedule_.values.size(), false);
      for (const Step& step : schedule_.steps) {
        const auto* scan = step.as<planner::Scan>();
        if (scan != nullptr && scan->messages != planner::none) work.recalled[scan->messages] = true;
        for (const ValueId v : scan != nullptr || !summed(step).empty() ? step.inputs : std::vector<ValueId>{}) {
          work.recalled[v] = true;
        }
      }
    }
    return work;
  }

  void bind_steps() {
    bound_.steps.reserve(schedule_.steps.size() - first_step_);
    for (std::size_t s = first_step_; s < schedule_.steps.size(); ++s) {
      const Step& step = schedule_.steps[s];
      BoundStep& bound = bound_.steps.emplace_back();
      if (is_unread(s)) continue;
      bound.inputs = static_cast<std::uint32_t>(step.inputs.size());
      bound.flops = planner::step_flops(schedule_, extents_, step);
      bound_.flops += bound.flops;
      if (const auto* scan = step.as<planner::Scan>()) {
        const std::optional<Blocks> blocks = blocks_of(step);
        if (blocks) bind_ranges(bound, step, *blocks);
        bound.scan = static_cast<std::uint32_t>(bound_.scans.size());
        bound_.scans.push_back(
            bind_scan(schedule_, extents_, step, layouts_, options_, blocks ? blocks->size : extents_[scan->chain]));
        join_scans(step);
      } else if (const std::optional<Blocks> blocks = blocks_of(step)) {
        bind_blocks(bound, s, *blocks, along(schedule_, step, blocks->dim));
      } else {
        bound.kernel = reserved(shapes_.shape(step, extents_));
      }
    }
  }

  /// Steps of slices that a scan answers for, besides whatever nothing reads.
  void find_unread() {
    const auto is_scan = [](const Step& step) { return step.is<planner::Scan>(); };
    if (!schedule_.reuses_buffers || options_.recalls ||
        std::none_of(schedule_.steps.begin(), schedule_.steps.end(), is_scan))
      return;
    unread_.assign(schedule_.steps.size(), false);
    reads_.assign(schedule_.values.size(), 0);
    for (std::size_t s = schedule_.steps.size(); s-- > first_step_;) {
      const Step& step = schedule_.steps[s];
      unread_[s] = true;
      for_each_output(step, [&](ValueId v) {
        if (reads_[v] > 0 || schedule_.values[v].kind == Value::Kind::output) unread_[s] = false;
      });
      for (const ValueId v : unread_[s] ? std::vector<ValueId>{} : step.inputs) ++reads_[v];
    }
  }
  [[nodiscard]] bool is_unread(std::size_t s) const { return !unread_.empty() && unread_[s]; }

  /// A scan whose messages only the one that was bound last reads, and which can smooth them, writes them for that.
  void join_scans(const Step& step) {
    if (reads_.empty()) return;
    BoundScan& back = *bound_.scans.back();
    const auto& scan = *step.as<planner::Scan>();
    if (scan.messages != planner::none) writer_of_[scan.messages] = bound_.scans.back();
    if (scan.shifts != planner::none && reads_[scan.shifts] > 0) writer_of_.erase(scan.messages);
    if (!back.smoothing) return;
    const ValueId messages = step.inputs[scan.smoothing->messages];
    const auto writer = writer_of_.find(messages);
    const bool smooths = writer != writer_of_.end() && writer->second->fused && reads_[messages] == 1 &&
                         writer->second->most == back.most;
    if (smooths) back.smooths(writer->second);
  }

  std::optional<Blocks> blocks_of(const Step& step) const {
    if (options_.updatable) return blocks_of_kept_step(schedule_, extents_, step);
    if (!blocking_ || blocking_->along(schedule_, step) == Along::none) return std::nullopt;
    return blocking_->blocks;
  }

  /// A scan along the dim.
  void bind_ranges(BoundStep& bound, const Step& step, const Blocks& blocks) {
    BlockedStep blocked{.blocks = blocks};
    const auto advance = [&](ValueId v) {
      blocked.advance.push_back(layouts_.bytes_along(v, blocks.dim, blocks.size));
    };
    for (const ValueId v : step.inputs) advance(v);
    for_each_output(step, advance);
    // Which slices exist is read by their numbers.
    if (step.as<planner::Scan>()->ragged) blocked.advance[step.inputs.size() - 1] = 0;
    bound.in_blocks = static_cast<std::uint32_t>(bound_.blocked.size());
    bound_.blocked.push_back(std::move(blocked));
  }

  void bind_blocks(BoundStep& bound, std::size_t s, const Blocks& blocks, Along role) {
    const Step& step = schedule_.steps[s];
    BlockedStep blocked{.blocks = blocks, .descends = !options_.updatable && descends_[s]};
    blocked.folds = role != Along::kept;
    if (blocked.folds) {
      blocked.fold.semiring = semiring_of(step);
      blocked.fold.adds = role == Along::summed;
      blocked.fold.elements = planner::elements(extents_, schedule_.values[step.output].dims);
      blocked.fold.count = blocks.count();
      blocked.fold.keeps_all = options_.updatable;
      const std::int64_t bytes = std::max<std::int64_t>(1, blocked.fold.elements) * 8;
      blocked.group = std::clamp<std::int64_t>(group_bytes / bytes, 1, blocks.count());
      blocked.delivery = reserved(shapes_.delivery(step));
    }
    planner::Extents loops = extents_;
    const auto kernel = [&](std::int64_t size) {
      loops[blocks.dim] = size;
      return reserved(blocked.folds ? shapes_.partial(step, loops) : shapes_.shape(step, loops), true);
    };
    bound.kernel = kernel(blocks.size);
    blocked.last_kernel = kernel(blocks.last());
    const auto advance = [&](ValueId v) { return layouts_.bytes_along(v, blocks.dim, blocks.size); };
    for (const ValueId v : step.inputs) blocked.advance.push_back(advance(v));
    blocked.advance.push_back(blocked.folds ? 0 : advance(step.output));
    bound.in_blocks = static_cast<std::uint32_t>(bound_.blocked.size());
    bound_.blocked.push_back(std::move(blocked));
  }

  /// The semiring in which a step's blocks are folded.
  Semiring semiring_of(const Step& step) const {
    if (const auto* contract = step.as<planner::Contract>()) return contract->semiring.value_or(options_.semiring);
    if (const auto* gather = step.as<planner::Gather>()) return gather->semiring.value_or(options_.semiring);
    return Semiring::real;
  }

  /// A kernel that has room for its scratch; a worker that runs all of its tasks has the shared one for itself.
  std::uint32_t reserved(KernelShape shape, bool on_one_worker = false) {
    const std::uint32_t index = pool_(std::move(shape));
    const Kernel& kernel = bound_.kernels[index];
    const std::size_t shared = base::in_whole_lines(kernel.shared_scratch_bytes());
    const std::size_t task = base::in_whole_lines(kernel.task_scratch_bytes()) + (on_one_worker ? shared : 0);
    bound_.task_scratch_bytes = std::max(bound_.task_scratch_bytes, task);
    bound_.shared_scratch_bytes = std::max(bound_.shared_scratch_bytes, shared);
    return index;
  }

  std::vector<std::size_t> cleared() const {
    std::vector<bool> whole(schedule_.outputs.size(), false);
    for (const Step& step : schedule_.steps) {
      for_each_output(step, [&](ValueId v) {
        const Value& value = schedule_.values[v];
        if (value.kind != Value::Kind::output) return;
        const std::vector<DimId>& axes = schedule_.outputs[value.index];
        whole[value.index] = base::sorted(axes).size() == axes.size();
      });
    }
    std::vector<std::size_t> list;
    for (std::size_t o = options_.kept != nullptr ? options_.kept->outputs : 0; o < whole.size(); ++o) {
      if (!whole[o]) list.push_back(o);
    }
    return list;
  }

  const Schedule& schedule_;
  const planner::Extents& extents_;
  const BindOptions& options_;
  Dtype element_;
  Layouts layouts_;
  StepShapes shapes_;
  BoundSchedule bound_;
  KernelPool pool_;
  std::size_t first_step_;
  std::vector<bool> unread_;                                 // [step]; empty: none is
  std::vector<int> reads_;                                   // [value]: by steps that are bound
  std::map<ValueId, std::shared_ptr<BoundScan>> writer_of_;  // [messages]
  std::optional<Blocking> blocking_;
  std::vector<bool> descends_;  // [step]
};

}  // namespace

std::int64_t BoundSchedule::bytes(int threads) const {
  const auto scratch = static_cast<std::int64_t>(task_scratch_bytes) * threads;
  std::int64_t sum = base::checked_sum(arena_bytes, scratch + static_cast<std::int64_t>(shared_scratch_bytes));
  for (const auto& scan : scans) sum = base::checked_sum(sum, scan->bytes(threads));
  return sum;
}

Dtype element_dtype(std::span<const Tensor> operands) {
  const auto any = [&](Dtype dtype) {
    return std::any_of(operands.begin(), operands.end(), [&](const Tensor& t) { return t.dtype() == dtype; });
  };
  return any(Dtype::float64) || !any(Dtype::float32) ? Dtype::float64 : Dtype::float32;
}

BoundSchedule bind(const Schedule& schedule, const planner::Extents& extents, std::span<const Tensor> outputs,
                   std::span<const Tensor> operands, const BindOptions& options) {
  return Binder(schedule, extents, outputs, operands, options).run();
}

}  // namespace plated::engine
