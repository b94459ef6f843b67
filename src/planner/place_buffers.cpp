// Places intermediates in one arena, so that a run allocates at most once.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <string>
#include <utility>

#include "base/checked_size.hpp"
#include "base/watch.hpp"
#include "planner/passes.hpp"
#include "plated/error.hpp"

namespace plated::planner {
namespace {

constexpr std::int64_t alignment = 64;

/// Free stretches of an arena; the arena grows at its end.
class FreeList {
 public:
  /// From the smallest stretch that has so many bytes, the first of those.
  std::int64_t take(std::int64_t bytes) {
    const auto best = by_size_.lower_bound({bytes, 0});
    if (best == by_size_.end()) {
      // Grow by what the last stretch lacks, if it reaches the end.
      std::int64_t offset = end_;
      if (!free_.empty() && free_.rbegin()->first + free_.rbegin()->second == end_) {
        offset = remove(std::prev(free_.end())).first;
      }
      end_ = base::checked_sum(offset, bytes);
      return offset;
    }
    const auto [offset, size] = remove(free_.find(best->second));
    if (size > bytes) add(offset + bytes, size - bytes);
    return offset;
  }

  void give_back(std::int64_t offset, std::int64_t bytes) {
    const auto next = free_.lower_bound(offset);
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        bytes += before->second;
        offset = remove(before).first;
      }
    }
    if (next != free_.end() && offset + bytes == next->first) bytes += remove(next).second;
    add(offset, bytes);
  }

  [[nodiscard]] std::int64_t end() const { return end_; }

 private:
  using Stretches = std::map<std::int64_t, std::int64_t>;

  void add(std::int64_t offset, std::int64_t bytes) {
    free_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  std::pair<std::int64_t, std::int64_t> remove(Stretches::iterator stretch) {
    const std::pair<std::int64_t, std::int64_t> removed = *stretch;
    by_size_.erase({removed.second, removed.first});
    free_.erase(stretch);
    return removed;
  }

  Stretches free_;                                           // by offset
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;  // the same: bytes, offset
  std::int64_t end_ = 0;
};

/// Names the dims of a value whose bytes do not fit in 63 bits.
void check_size(const Schedule& schedule, const Extents& extents, const Value& value) {
  constexpr std::size_t most_named = 8;
  double bytes = 8;  // of an element at most
  for (const DimId d : value.dims) bytes *= static_cast<double>(extents[d]);
  if (bytes < 0x1p63) return;
  std::string dims;
  for (std::size_t k = 0; k < std::min(value.dims.size(), most_named); ++k) {
    const DimId d = value.dims[k];
    dims += (k == 0 ? "" : ", ") + schedule.graph.dims()[d].name + " = " + std::to_string(extents[d]);
  }
  if (value.dims.size() > most_named) dims += " and " + std::to_string(value.dims.size() - most_named) + " more";
  throw SizeOverflowError("an intermediate over " + dims + " has a size that does not fit in 63 bits");
}

}  // namespace

std::int64_t buffer_bytes(const Schedule& schedule, const Extents& extents, ElementBytes bytes, ValueId v) {
  const Value& value = schedule.values[v];
  check_size(schedule, extents, value);
  return base::checked_product(elements(extents, value.dims), bytes.of(value.precision));
}

std::int64_t place_ranges(std::vector<LiveRange>& ranges) {
  std::vector<std::size_t> by_first(ranges.size());
  std::iota(by_first.begin(), by_first.end(), std::size_t{0});
  std::stable_sort(by_first.begin(), by_first.end(),
                   [&](std::size_t a, std::size_t b) { return ranges[a].first < ranges[b].first; });
  using Ending = std::pair<std::size_t, std::size_t>;  // the last position, the range
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> live;
  FreeList free;
  for (const std::size_t r : by_first) {
    base::check_wanted();
    LiveRange& range = ranges[r];
    for (; !live.empty() && live.top().first < range.first; live.pop()) {
      const LiveRange& over = ranges[live.top().second];
      free.give_back(over.offset, over.bytes);
    }
    range.bytes = std::max(
        alignment, base::checked_product(range.bytes / alignment + (range.bytes % alignment != 0 ? 1 : 0), alignment));
    range.offset = free.take(range.bytes);
    live.emplace(range.last, r);
  }
  return free.end();
}

Arena place_buffers(const Schedule& schedule, const Extents& extents, ElementBytes bytes, std::size_t first_step,
                    bool reuses) {
  constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> last_use(schedule.values.size(), never);
  for (std::size_t s = 0; s < schedule.steps.size() && (schedule.reuses_buffers || reuses); ++s) {
    for (const ValueId v : schedule.steps[s].inputs) last_use[v] = s;
    if (accumulates(schedule.steps[s])) last_use[schedule.steps[s].output] = never;  // until it is read
  }
  std::vector<LiveRange> ranges;
  std::vector<ValueId> owner;
  for (std::size_t s = first_step; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    for_each_output(step, [&](ValueId v) {
      if (schedule.values[v].kind != Value::Kind::intermediate || accumulates(step)) return;
      ranges.push_back({.first = s, .last = last_use[v], .bytes = buffer_bytes(schedule, extents, bytes, v)});
      owner.push_back(v);
    });
  }
  Arena arena;
  arena.bytes = place_ranges(ranges);
  arena.offset.assign(schedule.values.size(), -1);
  for (std::size_t r = 0; r < ranges.size(); ++r) arena.offset[owner[r]] = ranges[r].offset;
  return arena;
}

}  // namespace plated::planner
