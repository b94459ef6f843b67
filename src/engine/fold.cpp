// Folds results of blocks.
#include "engine/fold.hpp"

#include <algorithm>

#include "engine/thread_pool.hpp"
#include "semiring/dispatch.hpp"

namespace plated::engine {
namespace {

constexpr std::int64_t folded_per_task = 1 << 14;

std::int64_t parents(std::int64_t count) { return (count + Fold::fan_in - 1) / Fold::fan_in; }

/// Calls act(first, last) for parts of `count` elements, on several threads where there are many.
template <class Act>
void for_parts(std::int64_t count, int threads, const Act& act) {
  auto task = [&](std::int64_t t, int) { act(t * folded_per_task, std::min(count, (t + 1) * folded_per_task)); };
  parallel_for((count + folded_per_task - 1) / folded_per_task, threads, TaskRef(task));
}

}  // namespace

int Fold::levels() const {
  int levels = 1;
  for (std::int64_t nodes = parents(count); nodes > 1; nodes = parents(nodes)) ++levels;
  return levels;
}

std::int64_t Fold::size() const {
  if (!keeps_all) return levels() * elements;
  std::int64_t nodes = count;
  for (std::int64_t level = parents(count);; level = parents(level)) {
    nodes += level;
    if (level <= 1) return nodes * elements;
  }
}

void Fold::combine(double* sum, const double* other, int threads) const {
  for_parts(elements, threads, [&](std::int64_t first, std::int64_t last) {
    semiring::dispatch(semiring, [&](auto ring) {
      for (std::int64_t k = first; k < last; ++k) {
        sum[k] = adds ? ring.add(sum[k], other[k]) : ring.multiply(sum[k], other[k]);
      }
    });
  });
}

void Fold::copy(double* to, const double* from, int threads) const {
  for_parts(elements, threads,
            [&](std::int64_t first, std::int64_t last) { std::copy(from + first, from + last, to + first); });
}

void Fold::push(int level, std::int64_t index, const double* result, double* tree, int threads) const {
  double* sum = tree + level * elements;
  if (index % fan_in == 0) {
    copy(sum, result, threads);
  } else {
    combine(sum, result, threads);
  }
  if (index % fan_in == fan_in - 1 && level + 1 < levels()) push(level + 1, index / fan_in, sum, tree, threads);
}

void Fold::add(std::int64_t block, const double* result, double* tree, int threads) const {
  push(0, block, result, tree, threads);
}

const double* Fold::total(double* tree, int threads) const {
  std::int64_t nodes = count;
  for (int level = 0; level + 1 < levels(); ++level, nodes = parents(nodes)) {
    // A last node with fewer children has not been passed on yet.
    if (nodes % fan_in != 0) push(level + 1, nodes / fan_in, tree + level * elements, tree, threads);
  }
  return tree + (levels() - 1) * elements;
}

const double* Fold::refold(std::int64_t first, std::int64_t last, double* tree, int threads) const {
  std::int64_t children = count;
  for (;;) {
    double* nodes = tree + children * elements;
    first /= fan_in;
    last = parents(last);
    for (std::int64_t node = first; node < last; ++node) {
      double* sum = nodes + node * elements;
      copy(sum, tree + node * fan_in * elements, threads);
      for (std::int64_t c = node * fan_in + 1; c < std::min(children, (node + 1) * fan_in); ++c) {
        combine(sum, tree + c * elements, threads);
      }
    }
    children = parents(children);
    tree = nodes;
    if (children <= 1) return tree;
  }
}

}  // namespace plated::engine
