// Adds table rows up by groups, and messages of groups by table rows.
#include <algorithm>
#include <functional>
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

Listed::Range Listed::groups_of(const Tensor& message, std::int64_t first_slice) const {
  const std::int64_t first = is_cut_ ? groups() / std::max<std::int64_t>(1, shape_[0]) * first_slice : 0;
  return {first, first + static_cast<std::int64_t>(message.elements()) / std::max<std::int64_t>(1, width_)};
}

void Listed::spread(const Tensor& table, const Tensor& message, ListedScratch& scratch, const RunTasks& run,
                    std::int64_t first_slice) const {
  find_steps(table, scratch);
  scratch.packed.resize(static_cast<std::size_t>(tables_ * codes_ * width_));
  const auto* const from = static_cast<const double*>(table.data());
  walk(scratch.steps, 0, 0, [&](std::int64_t packed, std::int64_t offset) {
    scratch.packed[static_cast<std::size_t>(packed)] = from[offset];
  });
  auto* const to = static_cast<double*>(message.mutable_data());
  const Range range = groups_of(message, first_slice);
  constexpr std::int64_t of_task = 4096;
  std::visit(
      [&](const auto& all) {
        const std::span rows(all);
        run((range.last - range.first + of_task - 1) / of_task, [&](std::int64_t task) {
          base::Pace pace;
          const std::int64_t first = range.first + task * of_task;
          for (std::int64_t g = first; g < std::min(range.last, first + of_task); ++g) {
            const auto own = rows_of(rows, g);
            const double* const packed = scratch.packed.data() + table_at(g);
            each_piece(width_, [&](std::int64_t c, auto count) {
              sum_rows<count()>(own, packed + c, width_, to + (g - range.first) * width_ + c);
            });
            if (pace.stops(static_cast<std::int64_t>(own.size()) * width_)) return;
          }
        });
      },
      rows_);
}

void Listed::collect(const Tensor& message, const Tensor& table, ListedScratch& scratch, const RunTasks& run,
                     std::int64_t first_slice) const {
  const Range range = groups_of(message, first_slice);
  const auto begins = begins_.begin() + range.first;
  const std::int64_t count = begins_[static_cast<std::size_t>(range.last)] - *begins;
  const std::int64_t entries = tables_ * codes_ * width_;
  // Each part adds up in a table of its own; how many there are depends on sizes alone, and so does every bit.
  constexpr std::int64_t most_parts = 16;
  const std::int64_t parts = std::clamp<std::int64_t>(count / (4 * std::max<std::int64_t>(1, entries)), 1, most_parts);
  scratch.packed.assign(static_cast<std::size_t>(parts * entries), 0.0);
  const auto first_of = [&](std::int64_t part) {
    if (part == 0) return range.first;
    if (part == parts) return range.last;
    const auto row = *begins + static_cast<std::uint32_t>(count * part / parts);
    return std::lower_bound(begins, begins_.begin() + range.last, row) - begins_.begin();
  };
  const auto* const from = static_cast<const double*>(message.data());
  std::visit(
      [&](const auto& all) {
        const std::span rows(all);
        run(parts, [&](std::int64_t part) {
          base::Pace pace;
          double* const own_table = scratch.packed.data() + part * entries;
          const std::int64_t last = first_of(part + 1);
          for (std::int64_t g = first_of(part); g < last; ++g) {
            const auto own = rows_of(rows, g);
            double* const packed = own_table + table_at(g);
            each_piece(width_, [&](std::int64_t c, auto pieces) {
              add_to_rows<pieces()>(own, from + (g - range.first) * width_ + c, width_, packed + c);
            });
            if (pace.stops(static_cast<std::int64_t>(own.size()) * width_)) return;
          }
        });
      },
      rows_);
  for (std::int64_t part = 1; part < parts; ++part) {
    for (std::int64_t k = 0; k < entries; ++k) {
      scratch.packed[static_cast<std::size_t>(k)] += scratch.packed[static_cast<std::size_t>(part * entries + k)];
    }
  }
  find_steps(table, scratch);
  auto* const to = static_cast<double*>(table.mutable_data());
  if (table.elements() > entries) {  // nothing is counted off the diagonal of a dim that it has twice
    for (std::int64_t k = 0; k < table.elements(); ++k) to[k] = 0;
  }
  walk(scratch.steps, 0, 0, [&](std::int64_t packed, std::int64_t offset) {
    to[offset] = scratch.packed[static_cast<std::size_t>(packed)];
  });
}

}  // namespace plated::model
