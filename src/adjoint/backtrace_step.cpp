// Reads steps for the backtrace.
#include "adjoint/backtrace_step.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string_view>

#include "base/assert.hpp"
#include "kernels/loop_nest.hpp"

namespace plated::adjoint {
namespace {

using planner::Schedule;
using planner::Step;

/// The inputs of a contraction in the order in which its kernel combines them: the largest comes first in a tile.
std::vector<std::size_t> combination_order(const kernels::Contraction& contraction) {
  std::vector<std::size_t> order(contraction.shape().input_stride.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() > 2 && std::string_view(contraction.strategy()) == "reduce") {
    const std::size_t primary = kernels::normalise(contraction.shape()).primary;
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(primary),
                order.begin() + static_cast<std::ptrdiff_t>(primary) + 1);
  }
  return order;
}

class Reader {
 public:
  Reader(const Schedule& schedule, std::size_t step, std::span<const Tensor> operands,
         const engine::Workspace& workspace)
      : schedule_(schedule),
        step_(schedule.steps[step]),
        extents_(workspace.bound.extents),
        bound_(workspace.bound.steps[step]),
        contraction_(*workspace.bound.kernels[bound_.kernel].contraction()),
        shape_(contraction_.shape()),
        loops_(schedule.loops(step_)),
        operands_(operands),
        workspace_(workspace) {}

  ChoiceStep read(Semiring semiring) {
    const planner::SortedSet& sum = summed(step_);
    result_.variables.assign(sum.begin(), sum.end());
    for (const DimId v : result_.variables) {
      PLATED_ASSERT(plates(v) == plates(result_.variables[0]));
      result_.extent.push_back(extents_[v]);
      result_.states *= result_.extent.back();
    }
    for (const DimId d : schedule_.values[step_.output].dims) {
      if (schedule_.problem.kind[d] != DimKind::variable) continue;
      result_.kept.push_back(d);
      result_.kept_extent.push_back(extents_[d]);
      result_.kept_states *= result_.kept_extent.back();
    }
    result_.combine =
        semiring == Semiring::max_product ? kernels::ChooseCombine::multiply : kernels::ChooseCombine::add;
    result_.largest = semiring != Semiring::min_plus;
    // Small contractions are computed in double whatever their inputs are.
    const bool small = std::string_view(contraction_.strategy()) == "small";
    result_.compute = small ? Dtype::float64 : shape_.compute_dtype;
    read_inputs();
    read_slices();
    return std::move(result_);
  }

 private:
  const base::SortedSet& plates(DimId v) const { return schedule_.problem.variable_plates[v]; }

  std::int64_t stride(std::size_t input, DimId d) const {
    const auto loop = std::find(loops_.begin(), loops_.end(), d);
    return loop == loops_.end() ? 0 : shape_.input_stride[input][static_cast<std::size_t>(loop - loops_.begin())];
  }

  void read_inputs() {
    order_ = combination_order(contraction_);
    for (const std::size_t i : order_) {
      const engine::Place& place = workspace_.bound.inputs(bound_)[i];
      ChoiceStep::Input input;
      input.data = place.space() == engine::Place::Space::operand
                       ? operands_[place.at()].data()
                       : static_cast<const void*>(workspace_.arena.get() + place.at());
      input.dtype = shape_.input_dtype[i];
      for (const DimId d : result_.kept) input.kept_stride.push_back(stride(i, d));
      for (const DimId d : result_.variables) input.state_stride.push_back(stride(i, d));
      result_.inputs.push_back(std::move(input));
    }
  }

  /// Batch dims, then plates, each in declaration order: the axes of a variable's assignment.
  std::vector<DimId> axes(DimId v) const {
    std::vector<DimId> list;
    for (DimId d = 0; d < schedule_.problem.kind.size(); ++d) {
      if (schedule_.problem.kind[d] == DimKind::batch) list.push_back(d);
    }
    list.insert(list.end(), plates(v).begin(), plates(v).end());
    return list;
  }

  /// How far a step along d goes in the row-major order of a variable's axes.
  std::int64_t number_stride(DimId v, DimId d) const {
    const std::vector<DimId> list = axes(v);
    const auto at = std::find(list.begin(), list.end(), d);
    if (at == list.end()) return 0;
    return planner::elements(extents_, {at + 1, list.end()});
  }

  void read_slices() {
    struct SliceDim {
      DimId dim;
      bool carried;
      std::int64_t step;  // in memory
    };
    std::vector<SliceDim> dims;
    for (const DimId d : axes(result_.variables[0])) {
      SliceDim slice{d, false, std::numeric_limits<std::int64_t>::max()};
      std::int64_t weight = 0;
      for (std::size_t i = 0; i < order_.size(); ++i) {
        const std::int64_t along = std::abs(stride(order_[i], d));
        if (along == 0) continue;
        slice.carried = true;
        // The largest input's memory order rules.
        const std::int64_t elements = planner::elements(extents_, schedule_.values[step_.inputs[order_[i]]].dims);
        if (elements > weight) {
          weight = elements;
          slice.step = along;
        }
      }
      dims.push_back(slice);
    }
    std::stable_sort(dims.begin(), dims.end(), [](const SliceDim& a, const SliceDim& b) {
      return a.carried != b.carried ? a.carried : a.carried && a.step > b.step;
    });
    const std::size_t offsets = 1 + result_.inputs.size() + result_.kept.size();
    result_.carried = result_.tied = result_.slices = SliceWalk(offsets);
    for (const SliceDim& slice : dims) {
      std::vector<std::int64_t> along{number_stride(result_.variables[0], slice.dim)};
      for (const std::size_t i : order_) along.push_back(stride(i, slice.dim));
      for (const DimId v : result_.kept) along.push_back(number_stride(v, slice.dim));
      const std::int64_t extent = extents_[slice.dim];
      (slice.carried ? result_.carried : result_.tied).add(extent, along);
      result_.slices.add(extent, std::move(along));
    }
  }

  const Schedule& schedule_;
  const Step& step_;
  const planner::Extents& extents_;
  const engine::BoundStep& bound_;
  const kernels::Contraction& contraction_;
  const kernels::ContractionShape& shape_;
  std::vector<DimId> loops_;
  std::span<const Tensor> operands_;
  const engine::Workspace& workspace_;
  std::vector<std::size_t> order_;
  ChoiceStep result_;
};

}  // namespace

ChoiceStep read_choice(const Schedule& schedule, std::size_t step, Semiring semiring, std::span<const Tensor> operands,
                       const engine::Workspace& workspace) {
  return Reader(schedule, step, operands, workspace).read(semiring);
}

}  // namespace plated::adjoint
