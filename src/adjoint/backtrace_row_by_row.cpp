// Chooses row by row: each lane of a tile is one slice of one sample.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "adjoint/backtrace_rows.hpp"
#include "adjoint/backtrace_strategies.hpp"
#include "base/watch.hpp"
#include "engine/thread_pool.hpp"

namespace plated::adjoint {
namespace {

// States that are worth a task of their own, and as few as are worth another thread.
constexpr std::int64_t states_per_task = 1 << 17;
constexpr std::int64_t fewest_states_per_task = 1 << 12;
// Pairs of a slice and a sample that are put in order together.
constexpr std::int64_t pairs_at_once = 1024;

class Worker {
 public:
  Worker(const ChoiceStep& step, const Choice& choice, ChosenStates& states, std::int64_t slices)
      : step_(step),
        choice_(choice),
        states_(states),
        rows_(step),
        offset_(static_cast<std::size_t>(slices) * step.slices.offsets()),
        pair_(static_cast<std::size_t>(most_pairs(choice, slices))),
        sorted_(sorts(step) ? pair_.size() : 0),
        begin_(sorts(step) ? static_cast<std::size_t>(step.kept_states) + 1 : 0) {}

  /// The memory that one takes besides its chooser.
  static std::int64_t bytes(const ChoiceStep& step, const Choice& choice, std::int64_t slices) {
    const auto offsets = static_cast<std::int64_t>(step.slices.offsets());
    return 8 * (slices * offsets + (sorts(step) ? step.kept_states + 1 : 0)) +
           (sorts(step) ? 2 : 1) * most_pairs(choice, slices) * static_cast<std::int64_t>(sizeof(Pair));
  }

  void run(std::int64_t first, std::int64_t count) {
    const std::size_t offsets = step_.slices.offsets();
    step_.slices.visit(first, count, [&](std::int64_t k, const std::int64_t* offset) {
      std::copy(offset, offset + offsets, offset_.data() + static_cast<std::size_t>(k) * offsets);
    });
    // Slices inside, samples outside: neighbouring pairs are neighbours in memory.
    const std::int64_t pairs = count * choice_.count;
    base::Pace pace(2 * static_cast<double>(pairs) * static_cast<double>(step_.states));
    for (std::int64_t begin = 0; begin < pairs; begin += pairs_at_once) {
      const std::int64_t some = std::min(pairs_at_once, pairs - begin);
      find_pairs(begin, some, count);
      for (std::int64_t p = 0; p < some; p += rows_.lanes()) {
        choose(pair_.data() + p, std::min(rows_.lanes(), some - p));
        if (pace.stops(2 * rows_.lanes() * step_.states)) return;
      }
    }
  }

 private:
  struct Pair {
    const std::int64_t* offset;
    std::int64_t sample;
    std::int64_t kept;  // the state of the kept variables
  };
  static constexpr std::size_t most = kernels::choose_lanes;

  /// A few where there are few: each is written before it is read.
  [[nodiscard]] static std::int64_t most_pairs(const Choice& choice, std::int64_t slices) {
    return std::min(pairs_at_once, slices * std::min(pairs_at_once, choice.count));
  }
  [[nodiscard]] static bool sorts(const ChoiceStep& step) {
    return step.kept_states > 1 && step.kept_states <= pairs_at_once;
  }

  /// Rows of the same kept state lie next to each other, often in one page of memory: pairs are brought in their order.
  void find_pairs(std::int64_t begin, std::int64_t count, std::int64_t slices) {
    const std::size_t offsets = step_.slices.offsets();
    for (std::int64_t p = 0, sample = begin / slices, k = begin % slices; p < count; ++p) {
      pair_[static_cast<std::size_t>(p)] = {offset_.data() + static_cast<std::size_t>(k) * offsets, sample, 0};
      if (++k == slices) k = 0, ++sample;
    }
    for (std::size_t v = 0; v < step_.kept.size(); ++v) {
      const std::uint32_t* states = states_.of(step_.kept[v], 0);
      const std::int64_t samples = states_.samples(), extent = step_.kept_extent[v];
      const std::size_t o = step_.kept_offset(v);
      for (std::int64_t p = 0; p < count; ++p) {
        Pair& pair = pair_[static_cast<std::size_t>(p)];
        pair.kept = pair.kept * extent + states[pair.offset[o] * samples + pair.sample];
      }
    }
    if (!sorts(step_)) return;
    std::fill(begin_.begin(), begin_.end(), 0);
    for (std::int64_t p = 0; p < count; ++p)
      ++begin_[static_cast<std::size_t>(pair_[static_cast<std::size_t>(p)].kept) + 1];
    for (std::size_t k = 1; k < begin_.size(); ++k) begin_[k] += begin_[k - 1];
    for (std::int64_t p = 0; p < count; ++p) {
      const Pair& pair = pair_[static_cast<std::size_t>(p)];
      sorted_[static_cast<std::size_t>(begin_[static_cast<std::size_t>(pair.kept)]++)] = pair;
    }
    std::swap(pair_, sorted_);
  }

  void choose(const Pair* pair, std::int64_t lanes) {
    std::array<std::int64_t, most> sample, slice;
    for (std::int64_t l = 0; l < lanes; ++l) {
      sample[l] = pair[l].sample;
      slice[l] = pair[l].offset[0];
    }
    for (std::size_t i = 0; i < step_.inputs.size(); ++i) {
      const std::vector<std::int64_t>& stride = step_.inputs[i].kept_stride;
      std::int64_t* to = rows_.lane_offset(i);
      for (std::int64_t l = 0; l < lanes; ++l) {
        to[l] = pair[l].offset[step_.input_offset(i)];
        std::int64_t rest = pair[l].kept;
        for (std::size_t v = stride.size(); v-- > 0;) {
          const std::int64_t state = v == 0 ? rest : rest % step_.kept_extent[v];
          to[l] += state * stride[v];
          if (v > 0) rest /= step_.kept_extent[v];
        }
      }
    }
    std::array<std::uint32_t, most> tuple;
    if (choice_.draw) {
      std::array<double, most> uniform;
      std::array<std::int64_t, most> number;
      for (std::int64_t l = 0; l < lanes; ++l) number[l] = choice_.first + sample[l];
      kernels::choose_uniforms(choice_.seed, step_.variables[0], number.data(), slice.data(), lanes, uniform.data());
      rows_.draw(lanes, uniform.data(), tuple.data());
    } else {
      rows_.best(lanes, tuple.data());
    }
    states_.write_pairs(step_, slice.data(), sample.data(), lanes, tuple.data());
  }

  const ChoiceStep& step_;
  const Choice& choice_;
  ChosenStates& states_;
  RowChooser rows_;
  std::vector<std::int64_t> offset_;  // [slice of the block][offset]
  std::vector<Pair> pair_;            // slice and sample
  std::vector<Pair> sorted_;
  std::vector<std::int64_t> begin_;  // [kept state]: where its pairs begin in sorted_
};

/// How the slices of a step are shared out.
struct RowTasks {
  RowTasks(const ChoiceStep& step, const Choice& choice, int threads) : slices(step.slices.size()) {
    block = std::clamp<std::int64_t>(states_per_task / step.states, kernels::choose_pitch, pairs_at_once);
    // Each row is chosen by itself: what is found does not depend on the blocks.
    const std::int64_t shared = (slices + 4 * threads - 1) / (4 * threads);
    const std::int64_t fewest =
        std::clamp<std::int64_t>(fewest_states_per_task / step.states / choice.count, kernels::choose_pitch, block);
    if (threads > 1) block = std::clamp(shared, fewest, block);
    tasks = (slices + block - 1) / block;
    workers = std::min<std::int64_t>(threads, tasks);
  }

  std::int64_t slices;
  std::int64_t block = 1;
  std::int64_t tasks = 0;
  std::int64_t workers = 0;
};

class RowByRow : public Chooser {
 public:
  RowByRow(const ChoiceStep& step, const Choice& choice, int threads, ChosenStates& states)
      : share_(step, choice, threads), threads_(threads) {
    while (static_cast<std::int64_t>(workers_.size()) < share_.workers) {
      workers_.push_back(std::make_unique<Worker>(step, choice, states, std::min(share_.block, share_.slices)));
    }
  }

  void run() override {
    auto task = [&](std::int64_t t, int worker) {
      workers_[static_cast<std::size_t>(worker)]->run(t * share_.block,
                                                      std::min(share_.block, share_.slices - t * share_.block));
    };
    engine::parallel_for(share_.tasks, threads_, engine::TaskRef(task));
  }

 private:
  RowTasks share_;
  int threads_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

std::int64_t row_by_row_bytes(const ChoiceStep& step, const Choice& choice, int threads) {
  const RowTasks share(step, choice, threads);
  return share.workers * (RowChooser::bytes(step) + Worker::bytes(step, choice, std::min(share.block, share.slices)));
}

std::unique_ptr<Chooser> row_by_row(const ChoiceStep& step, const Choice& choice, int threads, ChosenStates& states) {
  return std::make_unique<RowByRow>(step, choice, threads, states);
}

}  // namespace plated::adjoint
