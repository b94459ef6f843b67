// Adds table rows up by groups, and messages of groups by table rows.
#include <algorithm>
#include <type_traits>

#include "base/watch.hpp"
#include "model/listed.hpp"

namespace plated::model {

void Listed::find_steps(const Tensor& table, ListedScratch& scratch) const {
  scratch.steps.clear();
  const auto add = [&](const std::vector<Axis>& axes, std::int64_t each) {
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const std::int64_t stride = table.strides()[axes[k].axis];
      if (axes[k].diagonal_of == k) {
        scratch.steps.push_back({.size = axes[k].size, .packed = axes[k].step * each, .stride = stride});
      } else {  // a dim twice
        scratch.steps[scratch.steps.size() - k + axes[k].diagonal_of].stride += stride;
        scratch.steps.push_back({.size = 1, .packed = 0, .stride = 0});
      }
    }
  };
  add(of_group_, codes_ * width_);
  add(of_rows_, width_);
  add(free_, 1);
}

namespace {

/// Calls visit(packed offset, table offset) for each entry.
template <class Visit>
void walk(std::span<const ListedScratch::Step> steps, std::int64_t packed, std::int64_t offset, const Visit& visit) {
  if (steps.empty()) return visit(packed, offset);
  for (std::int64_t n = 0; n < steps[0].size; ++n) {
    walk(steps.subspan(1), packed + n * steps[0].packed, offset + n * steps[0].stride, visit);
  }
}

/// Calls with pieces of a row: visit(first, number of entries), which is known to the compiler.
template <class Visit>
void each_piece(std::int64_t width, const Visit& visit) {
  std::int64_t c = 0;
  for (; c + 4 <= width; c += 4) visit(c, std::integral_constant<int, 4>());
  for (; c + 2 <= width; c += 2) visit(c, std::integral_constant<int, 2>());
  for (; c < width; ++c) visit(c, std::integral_constant<int, 1>());
}

template <int count, class Code>
void sum_rows(std::span<const Code> rows, const double* table, std::int64_t width, double* to) {
  double sum[count] = {};
  for (const Code row : rows) {
    const double* const from = table + static_cast<std::int64_t>(row) * width;
    for (int c = 0; c < count; ++c) sum[c] += from[c];
  }
  for (int c = 0; c < count; ++c) to[c] = sum[c];
}

template <int count, class Code>
void add_to_rows(std::span<const Code> rows, const double* from, std::int64_t width, double* table) {
  double added[count];
  for (int c = 0; c < count; ++c) added[c] = from[c];
  for (const Code row : rows) {
    double* const to = table + static_cast<std::int64_t>(row) * width;
    for (int c = 0; c < count; ++c) to[c] += added[c];
  }
}

}  // namespace

std::int64_t Listed::table_at(std::int64_t group) const {
  if (tables_ == 1) return 0;
  std::int64_t at = 0;
  for (std::size_t k = plates_.size(); k-- > 0;) {
    at += group % shape_[k] * table_of_[k];
    group /= shape_[k];
  }
  return at * codes_ * width_;
}

void run_in_order(std::int64_t count, const std::function<void(std::int64_t)>& task) {
  for (std::int64_t k = 0; k < count; ++k) {
    task(k);
    base::check_wanted();
  }
}

class Listed::MessageGroups {
 public:
  MessageGroups(const Listed& list, const Tensor& message, std::int64_t first_slice) {
    std::int64_t step = 1;
    for (std::size_t k = list.group_axes_; k-- > 0;) {
      if (k == 0 && list.is_cut_) first_ = step * first_slice;
      // Axes that lie behind each other are one.
      const std::int64_t size = message.shape()[k];
      if (!axes_.empty() && axes_.back().step * axes_.back().size == step) {
        axes_.back().size *= size;
      } else {
        axes_.push_back({.size = size, .step = step});
      }
      step *= list.shape_[k];
      count_ *= size;
    }
  }
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Its number in the list.
  [[nodiscard]] std::int64_t operator()(std::int64_t place) const {
    std::int64_t group = first_;
    for (std::size_t k = 0; k + 1 < axes_.size(); ++k) {
      group += place % axes_[k].size * axes_[k].step;
      place /= axes_[k].size;
    }
    return axes_.empty() ? group : group + place * axes_.back().step;
  }

 private:
  struct GroupAxis {
    std::int64_t size = 1;
    std::int64_t step = 1;
  };
  std::int64_t first_ = 0, count_ = 1;
  std::vector<GroupAxis> axes_;  // the last of the message's first
};

bool Listed::is_packed(const ListedScratch& scratch) const {
  return std::all_of(scratch.steps.begin(), scratch.steps.end(),
                     [](const ListedScratch::Step& step) { return step.size == 1 || step.packed == step.stride; });
}

void Listed::spread(const Tensor& table, const Tensor& message, ListedScratch& scratch, const RunTasks& run,
                    std::int64_t first_slice) const {
  find_steps(table, scratch);
  const auto* from = static_cast<const double*>(table.data());
  if (!is_packed(scratch)) {
    scratch.packed.resize(static_cast<std::size_t>(tables_ * codes_ * width_));
    walk(scratch.steps, 0, 0, [&](std::int64_t packed, std::int64_t offset) {
      scratch.packed[static_cast<std::size_t>(packed)] = from[offset];
    });
    from = scratch.packed.data();
  }
  auto* const to = static_cast<double*>(message.mutable_data());
  const MessageGroups groups(*this, message, first_slice);
  // Groups of a task: they have some rows each.
  const std::int64_t rows_of_group = begins_.back() / std::max<std::int64_t>(1, this->groups());
  const std::int64_t of_task = std::clamp<std::int64_t>((std::int64_t{1} << 16) / (rows_of_group + 1), 16, 4096);
  std::visit(
      [&](const auto& all) {
        const std::span rows(all);
        run((groups.count() + of_task - 1) / of_task, [&](std::int64_t task) {
          base::Pace pace;
          const std::int64_t first = task * of_task;
          for (std::int64_t g = first; g < std::min(groups.count(), first + of_task); ++g) {
            const std::int64_t group = groups(g);
            const auto own = rows_of(rows, group);
            const double* const packed = from + table_at(group);
            each_piece(width_, [&](std::int64_t c, auto count) {
              sum_rows<count()>(own, packed + c, width_, to + g * width_ + c);
            });
            if (pace.stops(static_cast<std::int64_t>(own.size()) * width_)) return;
          }
        });
      },
      rows_);
}

void Listed::collect(const Tensor& message, const Tensor& table, ListedScratch& scratch, const RunTasks& run,
                     std::int64_t first_slice) const {
  const MessageGroups groups(*this, message, first_slice);
  const auto rows_before = [&](std::int64_t g) -> std::int64_t {
    return g == 0 ? begins_[static_cast<std::size_t>(groups(0))] : begins_[static_cast<std::size_t>(groups(g - 1)) + 1];
  };
  const std::int64_t count = groups.count() == 0 ? 0 : rows_before(groups.count()) - rows_before(0);
  const std::int64_t entries = tables_ * codes_ * width_;
  // Each part adds up in a table of its own; how many there are depends on sizes alone, and so does every bit.
  constexpr std::int64_t most_parts = 16;
  const std::int64_t parts = std::clamp<std::int64_t>(count / (4 * std::max<std::int64_t>(1, entries)), 1, most_parts);
  find_steps(table, scratch);
  auto* const to = static_cast<double*>(table.mutable_data());
  const bool in_place = parts == 1 && is_packed(scratch) && table.elements() == entries;
  if (in_place) {
    std::fill_n(to, entries, 0.0);
  } else {
    scratch.packed.assign(static_cast<std::size_t>(parts * entries), 0.0);
  }
  double* const sums = in_place ? to : scratch.packed.data();
  const auto first_of = [&](std::int64_t part) -> std::int64_t {
    if (part == 0) return 0;
    if (part == parts) return groups.count();
    const std::int64_t row = rows_before(0) + count * part / parts;
    std::int64_t before = 0, behind = groups.count();
    while (before < behind) {
      const std::int64_t middle = before + (behind - before) / 2;
      if (rows_before(middle) < row) {
        before = middle + 1;
      } else {
        behind = middle;
      }
    }
    return before;
  };
  const auto* const from = static_cast<const double*>(message.data());
  std::visit(
      [&](const auto& all) {
        const std::span rows(all);
        run(parts, [&](std::int64_t part) {
          base::Pace pace;
          double* const own_table = sums + part * entries;
          const std::int64_t last = first_of(part + 1);
          for (std::int64_t g = first_of(part); g < last; ++g) {
            const std::int64_t group = groups(g);
            const auto own = rows_of(rows, group);
            double* const packed = own_table + table_at(group);
            each_piece(width_, [&](std::int64_t c, auto pieces) {
              add_to_rows<pieces()>(own, from + g * width_ + c, width_, packed + c);
            });
            if (pace.stops(static_cast<std::int64_t>(own.size()) * width_)) return;
          }
        });
      },
      rows_);
  if (in_place) return;
  for (std::int64_t part = 1; part < parts; ++part) {
    for (std::int64_t k = 0; k < entries; ++k) {
      scratch.packed[static_cast<std::size_t>(k)] += scratch.packed[static_cast<std::size_t>(part * entries + k)];
    }
  }
  if (table.elements() > entries) {  // nothing is counted off the diagonal of a dim that it has twice
    for (std::int64_t k = 0; k < table.elements(); ++k) to[k] = 0;
  }
  walk(scratch.steps, 0, 0, [&](std::int64_t packed, std::int64_t offset) {
    to[offset] = scratch.packed[static_cast<std::size_t>(packed)];
  });
}

}  // namespace plated::model
