// Paths of rows and samples, each walked through some slices before the next one is.
#include "adjoint/backtrace_path.hpp"

#include <algorithm>
#include <optional>

#include "adjoint/backtrace_rows.hpp"
#include "adjoint/backtrace_strategies.hpp"
#include "base/assert.hpp"
#include "base/watch.hpp"
#include "kernels/choose_path.hpp"
#include "tensor/numbers.hpp"
#include "tensor/offset.hpp"

namespace plated::adjoint {
namespace {

// Slices that a path is walked through at a time: what rows share of them stays in the second-level cache.
constexpr std::int64_t slices_at_once = 256;
constexpr std::int64_t visits_per_task = 1 << 14;

std::optional<std::size_t> index_of(const std::vector<DimId>& list, DimId v) {
  const auto at = std::find(list.begin(), list.end(), v);
  return at == list.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - list.begin()));
}

// Tables over what is known are held for each input.
constexpr std::int64_t most_known = 1 << 16;

/// Entries of a table that are worth a copy in which the states of a row lie side by side; 0 where they are too many.
std::int64_t packed_entries(const ChoiceStep& step, std::int64_t known) {
  constexpr std::int64_t most = 1 << 15;
  return known * step.states <= most ? known * step.states : 0;
}

/// Copies the rows at these offsets.
template <class T>
void copy_rows(const ChoiceStep::Input& from, const std::vector<std::int64_t>& rows, std::int64_t states,
               std::byte* copies) {
  auto* to = reinterpret_cast<T*>(copies);
  for (const std::int64_t row : rows) {
    const T* at = static_cast<const T*>(from.data) + row;
    for (std::int64_t s = 0; s < states; ++s) *to++ = at[s * from.state_stride[0]];
  }
}

/// The product of rows and samples need not fit.
std::int64_t workers_for(std::int64_t rows, const Choice& choice, int threads) {
  return std::min<std::int64_t>(threads, rows * std::min<std::int64_t>(threads, choice.count));
}

}  // namespace

class PathChooser::Worker {
 public:
  explicit Worker(const PathChooser& of)
      : of_(of),
        inputs_(of.step_.inputs.size()),
        scratch_(static_cast<std::size_t>(kernels::choose_path_scratch(of.step_.states))) {
    const ChoiceStep& step = of.step_;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      inputs_[i].dtype = step.inputs[i].dtype;
      inputs_[i].stride = i == of.packed_input_ ? 1 : step.inputs[i].state_stride.back();
      if (step.variables.size() > 1) inputs_[i].state_offset = of.state_offset_[i].data();
      inputs_[i].known_offset = of.known_offset_[i].data();
    }
    path_ = {.inputs = inputs_.data(),
             .count = inputs_.size(),
             .dtype = step.compute,
             .combine = step.combine,
             .largest = step.largest,
             .states = step.states,
             .scratch = scratch_.data()};
    if (of.from_state_.empty()) return;
    path_.from_state = of.from_state_.data();
    path_.from_known = of.from_known_.data();
  }

  /// The memory that one takes.
  static std::int64_t bytes(const ChoiceStep& step) {
    return 8 * kernels::choose_path_scratch(step.states) + static_cast<std::int64_t>(sizeof(Worker));
  }

  void run(const SliceRange& range, std::int64_t first_path, std::int64_t last_path) {
    const std::int64_t slices = range.last - range.first;
    const std::int64_t work = 2 * of_.step_.states;  // of a slice
    base::Pace pace(static_cast<double>(work * slices) * static_cast<double>(last_path - first_path));
    for (std::int64_t done = 0; done < slices; done += slices_at_once) {
      count_ = std::min(slices_at_once, slices - done);
      first_ = of_.scan_.forward ? range.last - 1 - done : range.first + done;
      const bool goes_on = done + count_ < slices;
      for (std::int64_t p = first_path; p < last_path; ++p) {
        walk(range, p / rows(), p % rows());
        write(p / rows(), count_ + (goes_on ? 1 : 0));
        if (pace.stops(count_ * work)) return;
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(of_.rows_.list.size()); }
  [[nodiscard]] std::int64_t direction() const { return of_.scan_.forward ? -1 : 1; }

  void walk(const SliceRange& range, std::int64_t sample, std::int64_t row) {
    const std::int64_t* offset = of_.offset_.data() + row * static_cast<std::int64_t>(of_.step_.slices.offsets());
    const std::int64_t along = direction() * of_.rows_.along;
    for (std::int64_t k = 0, number = offset[0] + first_ * of_.rows_.along; k <= count_; ++k, number += along) {
      number_[k] = number;
      sample_[k] = sample;
    }
    if (of_.choice_.draw) {
      std::int64_t numbered[slices_at_once];
      std::fill(numbered, numbered + count_, of_.choice_.first + sample);
      kernels::choose_uniforms(of_.choice_.seed, of_.step_.variables[0], numbered, number_, count_, uniform_);
    }
    std::uint32_t known = 0;
    for (std::size_t l = 0; l < of_.scan_.after.size(); ++l) {
      known = known * static_cast<std::uint32_t>(of_.known_extent_[l]) +
              of_.states_.of(of_.scan_.after[l], number_[0])[sample];
    }
    const ScanRows::Row& present = of_.rows_.list[static_cast<std::size_t>(row)];
    PLATED_ASSERT(present.number == offset[0]);
    for (std::int64_t k = 0, end = 0; k < count_; k = end) {
      const bool exists = of_.rows_.exists(present, first_ + k * direction());
      for (end = of_.rows_.present == nullptr ? count_ : k + 1;
           end < count_ && of_.rows_.exists(present, first_ + end * direction()) == exists;) {
        ++end;
      }
      if (!exists) {  // which changes nothing
        std::fill(chosen_ + k, chosen_ + end, 0U);
        std::fill(known_ + k, known_ + end, known);
        continue;
      }
      aim(offset, first_ + k * direction(), range.origin, sample);
      known = kernels::choose_path(path_, known, end - k, of_.choice_.draw ? uniform_ + k : nullptr, chosen_ + k,
                                   known_ + k);
    }
    known_[count_] = known;
  }

  /// Points the inputs at a slice.
  void aim(const std::int64_t* offset, std::int64_t slice, std::int64_t origin, std::int64_t sample) {
    const ChoiceStep& step = of_.step_;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::size_t o = step.input_offset(i);
      if (i == of_.packed_input_) {
        inputs_[i].data = of_.packed_.data();
        continue;
      }
      std::int64_t at = offset[o] + step.along_chain[o] * (slice - (step.from_origin[o] ? origin : 0));
      for (std::size_t v = 0; v < step.kept.size(); ++v) {
        if (index_of(of_.scan_.after, step.kept[v])) continue;
        at += of_.states_.of(step.kept[v], offset[step.kept_offset(v)])[sample] * step.inputs[i].kept_stride[v];
      }
      const auto size = static_cast<std::int64_t>(size_of(inputs_[i].dtype));
      inputs_[i].data = static_cast<const std::byte*>(step.inputs[i].data) + at * size;
      inputs_[i].step = direction() * step.along_chain[o];
    }
  }

  /// What is known in the slice after the last one is written where the walk goes on.
  void write(std::int64_t sample, std::int64_t known) {
    of_.states_.write_pairs(of_.step_, number_, sample_, count_, chosen_);
    for (std::size_t l = of_.scan_.after.size(); l-- > 0;) {
      std::uint32_t* states = of_.states_.of(of_.scan_.after[l], 0);
      const auto extent = static_cast<std::uint32_t>(of_.known_extent_[l]);
      for (std::int64_t k = 0; k < known; ++k) {
        const std::uint32_t state = l == 0 ? known_[k] : known_[k] % extent;
        if (l > 0) known_[k] /= extent;
        states[number_[k] * of_.states_.samples() + sample] = state;
      }
    }
  }

  const PathChooser& of_;
  std::vector<kernels::ChoosePath::Input> inputs_;
  std::vector<double> scratch_;
  kernels::ChoosePath path_;
  std::int64_t first_ = 0;  // slice of those at work, as they are walked
  std::int64_t count_ = 0;
  std::int64_t number_[slices_at_once + 1], sample_[slices_at_once + 1];
  double uniform_[slices_at_once];
  std::uint32_t chosen_[slices_at_once], known_[slices_at_once + 1];
};

bool PathChooser::suits(const planner::Scan& scan, const std::vector<planner::Step>& traced,
                        const planner::Extents& extents, const ChoiceStep& step, const Choice& choice) {
  const bool passes = std::all_of(scan.before.begin(), scan.before.end(),
                                  [&](DimId v) { return index_of(step.variables, v) || index_of(scan.after, v); });
  const bool knows = std::all_of(step.kept.begin(), step.kept.end(),
                                 [&](DimId v) { return index_of(scan.after, v) || index_of(scan.kept, v); });
  return traced.size() == 1 && passes && knows && planner::elements(extents, scan.after) <= most_known &&
         RowChooser::in_one_piece(step) && !tables_pay(step, choice);
}

std::int64_t PathChooser::bytes(const planner::Scan& scan, const planner::Extents& extents, const ChoiceStep& step,
                                const Choice& choice, int threads) {
  const auto inputs = static_cast<std::int64_t>(step.inputs.size());
  const auto offsets = static_cast<std::int64_t>(step.slices.offsets());
  const std::int64_t rows = step.slices.size(), known = planner::elements(extents, scan.after);
  return workers_for(rows, choice, threads) * Worker::bytes(step) +
         8 * (rows * offsets + (inputs + 1) * (known + step.states) + packed_entries(step, known));
}

PathChooser::PathChooser(const planner::Scan& scan, const planner::Extents& extents, const ScanRows& rows,
                         const ChoiceStep& step, const Choice& choice, std::int64_t slices, int threads,
                         ChosenStates& states)
    : scan_(scan), rows_(rows), step_(step), choice_(choice), states_(states) {
  const std::size_t offsets = step.slices.offsets();
  offset_.resize(rows.list.size() * offsets);
  step.slices.visit(0, step.slices.size(), [&](std::int64_t, const std::int64_t* offset) {
    const auto row = std::lower_bound(rows.list.begin(), rows.list.end(), offset[0],
                                      [](const ScanRows::Row& r, std::int64_t number) { return r.number < number; });
    std::copy(offset, offset + offsets, offset_.data() + static_cast<std::size_t>(row - rows.list.begin()) * offsets);
  });
  for (const DimId v : scan.after) known_extent_.push_back(extents[v]);
  for (const ChoiceStep::Input& input : step.inputs) {
    std::vector<std::int64_t> stride;
    for (const DimId v : scan.after) {
      const auto kept = index_of(step.kept, v);
      stride.push_back(kept ? input.kept_stride[*kept] : 0);
    }
    known_offset_.push_back(tensor::all_offsets(known_extent_, stride));
    if (step.variables.size() > 1) state_offset_.push_back(tensor::all_offsets(step.extent, input.state_stride));
  }
  if (step.variables != scan.before) {
    std::vector<std::int64_t> chosen(step.variables.size(), 0), known(scan.after.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t l = scan.before.size(); l-- > 0; stride *= known_extent_[l]) {
      const auto variable = index_of(step.variables, scan.before[l]);
      (variable ? chosen[*variable] : known[*index_of(scan.after, scan.before[l])]) += stride;
    }
    from_state_ = tensor::all_offsets<std::uint32_t>(step.extent, chosen);
    from_known_ = tensor::all_offsets<std::uint32_t>(known_extent_, known);
  }
  find_packed(slices);
  const auto all = static_cast<std::int64_t>(rows.list.size());
  workers_.emplace(threads, workers_for(all, choice, threads), [&] { return std::make_unique<Worker>(*this); });
}

PathChooser::~PathChooser() = default;

void PathChooser::begin() {
  if (packed_.empty()) return;
  const ChoiceStep::Input& from = step_.inputs[packed_input_];
  tensor::of_type(from.dtype, [&]<class T>(T) { copy_rows<T>(from, packed_from_, step_.states, packed_.data()); });
}

void PathChooser::find_packed(std::int64_t slices) {
  const auto known = static_cast<std::int64_t>(known_offset_[0].size());
  if (step_.variables.size() > 1 || packed_entries(step_, known) == 0 || slices < 2 * known) return;
  for (std::size_t i = 0; i < step_.inputs.size(); ++i) {
    const ChoiceStep::Input& from = step_.inputs[i];
    const std::size_t o = step_.input_offset(i), offsets = step_.slices.offsets();
    bool same = from.state_stride[0] > 1 && step_.along_chain[o] == 0;
    for (std::size_t row = 0; row < rows_.list.size() && same; ++row) same = offset_[row * offsets + o] == 0;
    for (std::size_t v = 0; v < step_.kept.size() && same; ++v) {
      same = from.kept_stride[v] == 0 || index_of(scan_.after, step_.kept[v]);
    }
    if (!same) continue;
    packed_.resize(static_cast<std::size_t>(packed_entries(step_, known)) * size_of(from.dtype));
    packed_from_ = known_offset_[i];
    for (std::size_t k = 0; k < packed_from_.size(); ++k) {
      known_offset_[i][k] = static_cast<std::int64_t>(k) * step_.states;
    }
    packed_input_ = i;
    return;
  }
}

void PathChooser::walk(const SliceRange& range) {
  const std::int64_t paths = static_cast<std::int64_t>(rows_.list.size()) * choice_.count;
  const std::int64_t work = std::max<std::int64_t>(1, (range.last - range.first) * step_.states);
  const std::int64_t each = std::clamp<std::int64_t>(visits_per_task / work, 1, paths);
  workers_->share((paths + each - 1) / each, [&](std::int64_t t, Worker& worker) {
    worker.run(range, t * each, std::min(paths, (t + 1) * each));
  });
  base::check_wanted();
}

}  // namespace plated::adjoint
