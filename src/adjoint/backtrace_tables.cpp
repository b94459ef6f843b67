// Draws many samples from tables of running sums, one table for each slice and state of the kept variables.
#include <algorithm>
#include <memory>
#include <vector>

#include "adjoint/backtrace_rows.hpp"
#include "adjoint/backtrace_strategies.hpp"
#include "adjoint/backtrace_workers.hpp"
#include "base/watch.hpp"

namespace plated::adjoint {
namespace {

// Samples drawn at a time: their numbers stay in the first-level cache.
constexpr std::int64_t samples_at_once = 1024;
// A line between rows that are a power of two long: they would fall into one set of a cache.
constexpr std::int64_t padding = 16;
constexpr std::int64_t tuple_pitch = samples_at_once + padding;
// Tables of a block of slices stay in the second-level cache, where they can; a block is no larger than a cache line or
// two of answers.
constexpr std::int64_t block_entries = 1 << 14;
constexpr std::int64_t most_slices = 16;
constexpr std::int64_t most_entries = 1 << 20;
constexpr std::int64_t fewest_samples = 8;
constexpr std::int64_t draws_per_task = 1 << 15;

std::int64_t row_length(const ChoiceStep& step) {
  return (step.states + kernels::choose_pitch - 1) / kernels::choose_pitch * kernels::choose_pitch;
}

class TableWorker {
 public:
  TableWorker(const ChoiceStep& step, const Choice& choice, ChosenStates& states, std::int64_t slices)
      : step_(step),
        choice_(choice),
        states_(states),
        rows_(step, kernels::choose_lanes),
        length_(row_length(step)),
        slice_pitch_(step.kept_states * length_ + padding),
        offset_(static_cast<std::size_t>(slices) * step.carried.offsets()),
        table_(static_cast<std::size_t>(slices * slice_pitch_)),
        row_(samples_at_once),
        word_(samples_at_once),
        tuple_(static_cast<std::size_t>((step.variables.size() > 1 ? 2 : 1) * slices * tuple_pitch)) {
    for (const ChoiceStep::Input& input : step.inputs) {
      std::vector<std::int64_t>& offset = kept_offset_.emplace_back(step.kept_states);
      for (std::int64_t k = 0; k < step.kept_states; ++k) {
        std::int64_t rest = k;
        for (std::size_t v = step.kept.size(); v-- > 0;) {
          offset[k] += rest % step.kept_extent[v] * input.kept_stride[v];
          rest /= step.kept_extent[v];
        }
      }
    }
  }

  /// The memory that one takes besides its chooser.
  static std::int64_t bytes(const ChoiceStep& step, std::int64_t slices) {
    const auto offsets = static_cast<std::int64_t>(step.carried.offsets());
    const auto inputs = static_cast<std::int64_t>(step.inputs.size());
    const std::int64_t tuples = (step.variables.size() > 1 ? 2 : 1) * slices * tuple_pitch;
    return 8 * (slices * offsets + inputs * step.kept_states) +
           4 * (slices * (step.kept_states * row_length(step) + padding) + 2 * samples_at_once + tuples);
  }

  /// Tables of `count` carried slices; `first` of them is known by its number.
  void tabulate(std::int64_t first, std::int64_t count) {
    slices_ = count;
    step_.carried.visit(first, count, [&](std::int64_t b, const std::int64_t* offset) {
      std::copy(offset, offset + step_.carried.offsets(), offset_of(b));
    });
    // Neighbouring slices are neighbours in memory, so they are a tile's lanes; states of kept variables are where
    // there are too few slices.
    const std::int64_t all = count * step_.kept_states;
    const std::int64_t lanes = count >= 8 ? std::min(count, rows_.lanes()) : rows_.lanes();
    double total[kernels::choose_lanes];
    for (std::int64_t begin = 0; begin < all; begin += lanes) {
      const std::int64_t used = std::min(lanes, all - begin);
      for (std::int64_t l = 0; l < used; ++l) aim(l, (begin + l) % count, (begin + l) / count);
      const kernels::ChooseTile tile = rows_.weigh(used, total);
      if (used == count || count == 1) {  // the lanes are all slices, or the next states of kept variables
        const std::int64_t k = begin / count;
        kernels::choose_tabulate(tile, total, table_.data() + k * length_, count == 1 ? length_ : slice_pitch_,
                                 length_);
        continue;
      }
      for (std::int64_t l = 0; l < used; ++l) {
        const std::int64_t b = (begin + l) % count, k = (begin + l) / count;
        kernels::ChooseTile lane = tile;
        lane.data = static_cast<std::byte*>(tile.data) + l * static_cast<std::int64_t>(size_of(tile.dtype));
        lane.lanes = 1;
        kernels::choose_tabulate(lane, total + l, table_.data() + b * slice_pitch_ + k * length_, slice_pitch_,
                                 length_);
      }
    }
  }

  /// Samples first … first + count − 1 of a tied slice, in all slices of the block.
  void draw(const std::int64_t* tied, std::int64_t first, std::int64_t count) {
    std::int64_t number[most_slices];
    for (std::int64_t b = 0; b < slices_; ++b) {
      number[b] = offset_of(b)[0] + tied[0];
      const std::uint32_t* row = rows_of(b, tied, first, count);
      kernels::choose_words(choice_.seed, step_.variables[0], number[b], choice_.first + first, count, word_.data());
      std::uint32_t* tuple = tuple_.data() + b * tuple_pitch;
      if (kernels::choose_look_up(table_.data() + b * slice_pitch_, length_, row, word_.data(), count, tuple) == 0)
        continue;
      for (std::int64_t s = 0; s < count; ++s) {
        if (tuple[s] != kernels::choose_unsure) continue;
        aim(0, b, row[s]);
        const std::int64_t sample = choice_.first + first + s;
        double uniform = 0;
        kernels::choose_uniforms(choice_.seed, step_.variables[0], &sample, &number[b], 1, &uniform);
        rows_.draw(1, &uniform, tuple + s);
      }
    }
    states_.write(step_, number, slices_, first, count, tuple_.data(), tuple_pitch);
  }

 private:
  std::int64_t* offset_of(std::int64_t b) {
    return offset_.data() + b * static_cast<std::int64_t>(step_.carried.offsets());
  }

  /// Points a lane at the row of a slice of the block and a state of the kept variables.
  void aim(std::int64_t lane, std::int64_t b, std::int64_t kept) {
    for (std::size_t i = 0; i < step_.inputs.size(); ++i) {
      rows_.lane_offset(i)[lane] =
          offset_of(b)[step_.input_offset(i)] + kept_offset_[i][static_cast<std::size_t>(kept)];
    }
  }

  /// For each sample the state of the kept variables, which is its row of the table.
  const std::uint32_t* rows_of(std::int64_t b, const std::int64_t* tied, std::int64_t first, std::int64_t count) {
    const auto states = [&](std::size_t v) {
      const std::size_t o = step_.kept_offset(v);
      return states_.of(step_.kept[v], offset_of(b)[o] + tied[o]) + first;
    };
    if (step_.kept.size() == 1) return states(0);
    std::uint32_t* row = row_.data();
    std::fill(row, row + count, 0U);
    for (std::size_t v = 0; v < step_.kept.size(); ++v) {
      const std::uint32_t* state = states(v);
      const auto extent = static_cast<std::uint32_t>(step_.kept_extent[v]);
      for (std::int64_t s = 0; s < count; ++s) row[s] = row[s] * extent + state[s];
    }
    return row;
  }

  const ChoiceStep& step_;
  const Choice& choice_;
  ChosenStates& states_;
  RowChooser rows_;
  std::int64_t length_;
  std::int64_t slice_pitch_;
  std::int64_t slices_ = 0;
  std::vector<std::int64_t> offset_;                    // [slice of the block][offset]
  std::vector<std::vector<std::int64_t>> kept_offset_;  // [input][state of the kept variables]
  std::vector<std::int32_t> table_;                     // [slice of the block][kept][state], slices padded
  std::vector<std::uint32_t> row_;                      // [sample]
  std::vector<std::uint32_t> word_;                     // [sample]
  std::vector<std::uint32_t> tuple_;                    // [slice of the block][sample]
};

/// How the slices and samples of a step are shared out.
struct TableTasks {
  TableTasks(const ChoiceStep& step, const Choice& choice, int threads) : carried(step.carried.size()) {
    block = std::min(carried,
                     std::clamp<std::int64_t>(block_entries / (step.kept_states * row_length(step)), 1, most_slices));
    const std::int64_t blocks = (carried + block - 1) / block;
    // Where there are few blocks, their draws are shared out as well.
    chunks = (choice.count + samples_at_once - 1) / samples_at_once;
    units = step.tied.size() * chunks;
    parts =
        std::clamp<std::int64_t>(16 / blocks, 1, std::max<std::int64_t>(1, units * samples_at_once / draws_per_task));
    tasks = blocks * parts;
    workers = std::min<std::int64_t>(threads, tasks);
  }

  std::int64_t carried;
  std::int64_t block = 1;
  std::int64_t chunks = 0;
  std::int64_t units = 0;
  std::int64_t parts = 1;
  std::int64_t tasks = 0;
  std::int64_t workers = 0;
};

class FromTables : public Chooser {
 public:
  FromTables(const ChoiceStep& step, const Choice& choice, int threads, ChosenStates& states)
      : step_(step), choice_(choice), share_(step, choice, threads), workers_(threads, share_.workers, [&] {
          return std::make_unique<TableWorker>(step, choice, states, share_.block);
        }) {}

  void run() override {
    workers_.share(share_.tasks, [&](std::int64_t t, TableWorker& worker) { run(t, worker); });
  }

 private:
  void run(std::int64_t task, TableWorker& worker) const {
    const std::int64_t block = share_.block, chunks = share_.chunks, units = share_.units, parts = share_.parts;
    const std::int64_t first = task / parts * block;
    worker.tabulate(first, std::min(block, share_.carried - first));
    const std::int64_t part = task % parts;
    const std::int64_t begin = units / parts * part + std::min(part, units % parts);
    const std::int64_t end = begin + units / parts + (part < units % parts ? 1 : 0);
    base::Pace pace(4 * static_cast<double>(block * samples_at_once) * static_cast<double>(end - begin));
    for (std::int64_t unit = begin; unit < end && !pace.stops(0);) {
      // All units of one tied slice together, so that the walk is sought once for each.
      const std::int64_t slice = unit / chunks;
      const std::int64_t last = std::min(end, (slice + 1) * chunks);
      step_.tied.visit(slice, 1, [&](std::int64_t, const std::int64_t* offset) {
        for (; unit < last; ++unit) {
          const std::int64_t sample = unit % chunks * samples_at_once;
          worker.draw(offset, sample, std::min(samples_at_once, choice_.count - sample));
          if (pace.stops(4 * block * samples_at_once)) return;
        }
      });
    }
  }

  const ChoiceStep& step_;
  const Choice& choice_;
  TableTasks share_;
  Workers<TableWorker> workers_;
};

}  // namespace

bool tables_pay(const ChoiceStep& step, const Choice& choice) {
  // In floating point: counts of slices and samples need not fit when multiplied.
  const double draws = static_cast<double>(choice.count) * static_cast<double>(step.tied.size());
  const double entries = static_cast<double>(step.kept_states) * static_cast<double>(row_length(step));
  return choice.draw && choice.count >= fewest_samples && 2 * draws >= static_cast<double>(step.kept_states) &&
         entries <= most_entries && RowChooser::in_one_piece(step);
}

std::int64_t table_bytes(const ChoiceStep& step, const Choice& choice, int threads) {
  const TableTasks share(step, choice, threads);
  return share.workers * (RowChooser::bytes(step, kernels::choose_lanes) + TableWorker::bytes(step, share.block));
}

std::unique_ptr<Chooser> from_tables(const ChoiceStep& step, const Choice& choice, int threads, ChosenStates& states) {
  return std::make_unique<FromTables>(step, choice, threads, states);
}

std::unique_ptr<Chooser> chooser(const ChoiceStep& step, const Choice& choice, int threads, ChosenStates& states) {
  return tables_pay(step, choice) ? from_tables(step, choice, threads, states)
                                  : row_by_row(step, choice, threads, states);
}

std::int64_t chooser_bytes(const ChoiceStep& step, const Choice& choice, int threads) {
  if (step.slices.size() == 0 || step.states == 0 || step.kept_states == 0) return 0;
  return tables_pay(step, choice) ? table_bytes(step, choice, threads) : row_by_row_bytes(step, choice, threads);
}

double work_of(const ChoiceStep& step, const Choice& choice) {
  constexpr double look_up = 4;
  const double draws = static_cast<double>(choice.count) * static_cast<double>(step.slices.size());
  return draws * (tables_pay(step, choice) ? look_up : static_cast<double>(step.states));
}

}  // namespace plated::adjoint
