// Joins loops, and takes runs and rows out of them.
#include "kernels/indexed_loops.hpp"

#include <algorithm>
#include <utility>

namespace plated::kernels {
namespace {

// Of a task, about; fixed, so that no bits depend on threads.
constexpr std::int64_t entries_per_task = 65536;

}  // namespace

void IndexedLoops::add(IndexedLoop loop) {
  count *= loop.extent;
  if (loop.extent == 1) return;
  if (!loops.empty()) {
    IndexedLoop& last = loops.back();
    bool goes_on = true;
    for (std::size_t a = 0; a < loop.stride.size(); ++a) {
      goes_on = goes_on && last.stride[a] == loop.stride[a] * loop.extent;
    }
    if (goes_on) {
      last.extent *= loop.extent;
      last.stride = std::move(loop.stride);
      return;
    }
  }
  loops.push_back(std::move(loop));
}

bool has_one_index(const std::vector<IndexArray>& indices, std::size_t loop) {
  return std::all_of(indices.begin(), indices.end(), [&](const IndexArray& index) { return index.stride[loop] == 0; });
}

IndexedLoop take_row(std::vector<IndexedLoop>& loops, std::size_t array, std::size_t arrays) {
  IndexedLoop row{.extent = 1, .stride = std::vector<std::int64_t>(arrays, 0)};
  loops = joined(std::move(loops)).loops;
  if (loops.empty()) return row;
  const auto step = [&](const IndexedLoop& loop) {
    return loop.stride[array] < 0 ? -loop.stride[array] : loop.stride[array];
  };
  const auto least = std::min_element(loops.begin(), loops.end(),
                                      [&](const IndexedLoop& a, const IndexedLoop& b) { return step(a) < step(b); });
  row = std::move(*least);
  loops.erase(least);
  return row;
}

IndexedLoops joined(std::vector<IndexedLoop> loops) {
  IndexedLoops result;
  for (IndexedLoop& loop : loops) result.add(std::move(loop));
  return result;
}

std::int64_t grain_of(std::int64_t each) {
  return std::max<std::int64_t>(1, entries_per_task / std::max<std::int64_t>(1, each));
}

IndexedLoop take_last(IndexedLoops& loops, std::size_t arrays) {
  if (loops.loops.empty()) {
    const std::int64_t extent = loops.count;  // 0 or 1
    loops.count = 1;
    return {.extent = extent, .stride = std::vector<std::int64_t>(arrays, 0)};
  }
  IndexedLoop last = std::move(loops.loops.back());
  loops.loops.pop_back();
  loops.count = 1;
  for (const IndexedLoop& loop : loops.loops) loops.count *= loop.extent;
  return last;
}

}  // namespace plated::kernels
