// Chooses row by row: each lane of a tile is one slice of one sample.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "adjoint/backtrace_rows.hpp"
#include "adjoint/backtrace_strategies.hpp"
#include "engine/thread_pool.hpp"

namespace plated::adjoint {
namespace {

// States that are worth a task of their own.
constexpr std::int64_t states_per_task = 1 << 17;

class Worker {
 public:
  Worker(const ChoiceStep& step, const Choice& choice, ChosenStates& states)
      : step_(step), choice_(choice), states_(states), rows_(step), offset_(step.slices.offsets() * most) {}

  /// Slices first … first + count − 1, at most rows() of them.
  void run(std::int64_t first, std::int64_t count) {
    step_.slices.visit(first, count, [&](std::int64_t k, const std::int64_t* offset) {
      for (std::size_t o = 0; o < step_.slices.offsets(); ++o) offset_[o * most + static_cast<std::size_t>(k)] = offset[o];
    });
    // Slices inside, samples outside: neighbouring lanes are neighbours in memory.
    const std::int64_t pairs = count * choice_.count;
    for (std::int64_t begin = 0; begin < pairs; begin += rows_.lanes()) {
      choose(begin, std::min(rows_.lanes(), pairs - begin), count);
    }
  }
  [[nodiscard]] std::int64_t rows() const { return rows_.lanes(); }

 private:
  static constexpr std::size_t most = kernels::choose_lanes;
  using Numbers = std::array<std::int64_t, most>;

  void choose(std::int64_t begin, std::int64_t lanes, std::int64_t slices) {
    Numbers at, sample, slice;
    for (std::int64_t l = 0, s = begin / slices, k = begin % slices; l < lanes; ++l) {
      at[l] = k;
      sample[l] = s;
      slice[l] = offset_[static_cast<std::size_t>(k)];
      if (++k == slices) k = 0, ++s;
    }
    for (std::size_t i = 0; i < step_.inputs.size(); ++i) {
      const std::int64_t* base = offset_.data() + step_.input_offset(i) * most;
      std::int64_t* to = rows_.lane_offset(i);
      for (std::int64_t l = 0; l < lanes; ++l) to[l] = base[at[l]];
    }
    for (std::size_t v = 0; v < step_.kept.size(); ++v) {
      const std::int64_t* base = offset_.data() + step_.kept_offset(v) * most;
      Numbers state;
      for (std::int64_t l = 0; l < lanes; ++l) state[l] = states_.of(step_.kept[v], base[at[l]])[sample[l]];
      for (std::size_t i = 0; i < step_.inputs.size(); ++i) {
        const std::int64_t stride = step_.inputs[i].kept_stride[v];
        std::int64_t* to = rows_.lane_offset(i);
        for (std::int64_t l = 0; stride != 0 && l < lanes; ++l) to[l] += state[l] * stride;
      }
    }
    std::array<std::uint32_t, most> tuple;
    if (choice_.draw) {
      std::array<double, most> uniform;
      Numbers number;
      for (std::int64_t l = 0; l < lanes; ++l) number[l] = choice_.first + sample[l];
      kernels::choose_uniforms_of_pairs(choice_.seed, step_.variables[0], number.data(), slice.data(), lanes,
                                        uniform.data());
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
  std::vector<std::int64_t> offset_;  // [offset][slice of the block]
};

}  // namespace

void choose_row_by_row(const ChoiceStep& step, const Choice& choice, int threads, ChosenStates& states) {
  const std::int64_t slices = step.slices.size();
  std::vector<std::unique_ptr<Worker>> workers;
  workers.push_back(std::make_unique<Worker>(step, choice, states));
  const std::int64_t block = workers[0]->rows();
  const std::int64_t blocks = (slices + block - 1) / block;
  const std::int64_t blocks_per_task =
      std::max<std::int64_t>(1, states_per_task / std::max<std::int64_t>(1, block * step.states * choice.count));
  const std::int64_t tasks = (blocks + blocks_per_task - 1) / blocks_per_task;
  while (static_cast<std::int64_t>(workers.size()) < std::min<std::int64_t>(threads, tasks)) {
    workers.push_back(std::make_unique<Worker>(step, choice, states));
  }
  auto task = [&](std::int64_t t, int worker) {
    for (std::int64_t b = t * blocks_per_task; b < std::min(blocks, (t + 1) * blocks_per_task); ++b) {
      workers[static_cast<std::size_t>(worker)]->run(b * block, std::min(block, slices - b * block));
    }
  };
  engine::parallel_for(tasks, threads, engine::TaskRef(task));
}

}  // namespace plated::adjoint
