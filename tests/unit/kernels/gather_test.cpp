// Gathers and scatters against their definition, in any layout, of all integer types.
#include "kernels/gather.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "kernels/scatter.hpp"

namespace plated::kernels {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }

 private:
  std::mt19937_64 engine_;
};

/// Loops with indices of one or two variables, which some loops have no axis for.
struct Loops {
  std::vector<std::int64_t> extent;
  std::size_t kept = 0;
  std::vector<std::vector<bool>> has;  // [index][loop]
  std::vector<std::int64_t> states;    // [index]

  explicit Loops(Random& random) {
    const std::int64_t loops = 1 + random.below(4);
    for (std::int64_t l = 0; l < loops; ++l) extent.push_back(random.chance(4) ? 0 : 1 + random.below(5));
    if (random.chance(10)) extent[0] = 300 + random.below(300);
    if (random.chance(50)) extent.back() = 2 + random.below(40);  // a row, which vectors may take
    if (random.chance(30)) extent[static_cast<std::size_t>(random.below(loops))] = 40 + random.below(40);
    kept = static_cast<std::size_t>(random.below(loops + 1));
    for (std::int64_t i = 0; i <= random.below(2); ++i) {
      has.emplace_back();
      for (std::int64_t l = 0; l < loops; ++l) has.back().push_back(random.chance(60));
      states.push_back(1 + random.below(4));
    }
  }
};

/// Row-major strides of the axes that an array has, around `count` elements, and its number of elements.
std::int64_t strides(const std::vector<std::int64_t>& extent, const std::vector<bool>& has,
                     std::vector<std::int64_t>& stride, std::int64_t count = 1) {
  stride.assign(extent.size(), 0);
  for (std::size_t l = extent.size(); l-- > 0;) {
    if (!has[l]) continue;
    stride[l] = count;
    count *= extent[l];
  }
  return count;
}

/// Observed states in one of the integer types.
struct Indices {
  std::vector<IndexArray> arrays;
  std::vector<std::vector<std::int64_t>> states;
  std::vector<std::vector<std::int8_t>> narrow;
  std::vector<std::vector<std::int16_t>> middle;
  std::vector<std::vector<std::int32_t>> wide;

  Indices(const Loops& loops, Random& random, bool complete) {
    const std::size_t count = loops.has.size();
    for (std::size_t i = 0; i < count; ++i) {
      IndexArray array{.states = loops.states[i]};
      const std::int64_t elements = strides(loops.extent, loops.has[i], array.stride);
      states.emplace_back();
      for (std::int64_t k = 0; k < elements; ++k) {
        states[i].push_back(!complete && random.chance(20) ? -1 : random.below(loops.states[i]));
      }
      narrow.emplace_back(states[i].begin(), states[i].end());
      middle.emplace_back(states[i].begin(), states[i].end());
      wide.emplace_back(states[i].begin(), states[i].end());
      const Dtype dtypes[] = {Dtype::int8, Dtype::int16, Dtype::int32, Dtype::int64};
      array.dtype = dtypes[random.below(4)];
      arrays.push_back(array);
    }
  }
  [[nodiscard]] const void* data(std::size_t i) const {
    switch (arrays[i].dtype) {
      case Dtype::int8:
        return narrow[i].data();
      case Dtype::int16:
        return middle[i].data();
      case Dtype::int32:
        return wide[i].data();
      default:
        return states[i].data();
    }
  }
  /// Gives states their steps, within the other axes of a table or around them. Returns the table's elements.
  std::int64_t lay_out(const Loops& loops, const std::vector<bool>& has, std::vector<std::int64_t>& stride,
                       bool within) {
    std::int64_t elements = within ? 1 : strides(loops.extent, has, stride);
    for (IndexArray& array : arrays) {
      array.step = elements;
      elements *= array.states;
    }
    return within ? strides(loops.extent, has, stride, elements) : elements;
  }
  /// Where the indices at some loops lead; false where one is not observed.
  [[nodiscard]] bool find(const std::vector<std::int64_t>& at, std::int64_t& offset) const {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      std::int64_t k = 0;
      for (std::size_t l = 0; l < at.size(); ++l) k += at[l] * arrays[i].stride[l];
      const std::int64_t state = states[i][static_cast<std::size_t>(k)];
      if (state < 0) return false;
      offset += state * arrays[i].step;
    }
    return true;
  }
};

std::int64_t offset_of(const std::vector<std::int64_t>& at, const std::vector<std::int64_t>& stride) {
  std::int64_t offset = 0;
  for (std::size_t l = 0; l < at.size(); ++l) offset += at[l] * stride[l];
  return offset;
}

/// Calls visit(indices of all loops) in row-major order.
template <class Visit>
void for_each(const std::vector<std::int64_t>& extent, const Visit& visit) {
  for (const std::int64_t e : extent) {
    if (e == 0) return;
  }
  std::vector<std::int64_t> at(extent.size(), 0);
  for (;;) {
    visit(at);
    std::size_t l = extent.size();
    while (l > 0 && ++at[l - 1] == extent[l - 1]) at[--l] = 0;
    if (l == 0) return;
  }
}

template <class Kernel, class Out>
void run(const Kernel& kernel, const std::vector<const void*>& inputs, Out* output) {
  std::vector<std::byte> scratch(kernel.task_scratch_bytes() + 64);
  for (std::int64_t t = kernel.tasks(); t-- > 0;) kernel.run_task(t, inputs, output, scratch.data());
}

std::vector<double> numbers(std::int64_t count, Random& random) {
  std::vector<double> list;
  for (std::int64_t k = 0; k < count; ++k) list.push_back(static_cast<double>(1 + random.below(9)) / 4);
  return list;
}

TEST(Gather, ReadsTablesAtStates) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    const Loops loops(random);
    const bool complete = random.chance(50);
    Indices indices(loops, random, complete);
    GatherShape shape{
        .semiring = random.chance(50) ? Semiring::real : Semiring::log, .extent = loops.extent, .kept = loops.kept};
    std::vector<bool> in_table, in_output;
    for (std::size_t l = 0; l < loops.extent.size(); ++l) {
      in_table.push_back(random.chance(60));
      in_output.push_back(l < loops.kept);
    }
    const std::int64_t entries = indices.lay_out(loops, in_table, shape.table_stride, random.chance(50));
    shape.indices = indices.arrays;
    const std::vector<double> table = numbers(entries, random);
    const std::vector<float> floats(table.begin(), table.end());
    if (random.chance(30)) shape.table_dtype = Dtype::float32;
    std::vector<std::int64_t> rest_stride;
    const std::vector<double> rest = numbers(strides(loops.extent, in_table, rest_stride), random);
    if (!complete) shape.rest_stride = rest_stride;
    const std::int64_t results = strides(loops.extent, in_output, shape.output_stride);
    const bool adds = shape.semiring == Semiring::log;
    std::vector<double> want(static_cast<std::size_t>(results), adds ? 0 : 1), got(want.size(), -7);
    for_each(loops.extent, [&](const std::vector<std::int64_t>& at) {
      std::int64_t offset = offset_of(at, shape.table_stride);
      const double entry = indices.find(at, offset) ? table[static_cast<std::size_t>(offset)]
                                                    : rest[static_cast<std::size_t>(offset_of(at, rest_stride))];
      double& out = want[static_cast<std::size_t>(offset_of(at, shape.output_stride))];
      out = adds ? out + entry : out * entry;
    });
    std::vector<const void*> inputs{table.data()};
    if (shape.table_dtype == Dtype::float32) inputs[0] = floats.data();
    for (std::size_t i = 0; i < indices.arrays.size(); ++i) inputs.push_back(indices.data(i));
    if (!complete) inputs.push_back(rest.data());
    run(Gather(shape), inputs, static_cast<void*>(got.data()));
    for (std::size_t k = 0; k < got.size(); ++k) ASSERT_DOUBLE_EQ(got[k], want[k]) << "seed " << seed << " entry " << k;
  }
}

TEST(Gather, ZeroAnnihilatesInfinityInVectors) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Semiring semiring : {Semiring::log, Semiring::min_plus, Semiring::real}) {
    const double zero = semiring == Semiring::log ? -infinity : semiring == Semiring::min_plus ? infinity : 0.0;
    const double other = semiring == Semiring::min_plus ? -infinity : infinity;
    // [entry, state, row] at states 1, 0: what plain sums or products would make NaN of.
    const std::vector<double> table{9, 9, 9, 9, other, 2, zero, 3, zero, 4, other, 5, 9, 9, 9, 9};
    const std::vector<std::int8_t> states{1, 0};
    std::vector<double> got(4, -7);
    const GatherShape shape{.semiring = semiring,
                            .extent = {1, 4, 2},
                            .kept = 2,
                            .table_stride = {0, 1, 8},
                            .output_stride = {4, 1, 0},
                            .indices = {{.dtype = Dtype::int8, .stride = {0, 0, 1}, .step = 4, .states = 2}}};
    run(Gather(shape), {table.data(), states.data()}, static_cast<void*>(got.data()));
    const bool adds = semiring != Semiring::real;
    const std::vector<double> want{zero, adds ? 6.0 : 8.0, zero, adds ? 8.0 : 15.0};
    EXPECT_EQ(got, want) << static_cast<int>(semiring);
  }
}

TEST(Scatter, AddsAtStates) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    const Loops loops(random);
    Indices indices(loops, random, random.chance(50));
    ScatterShape shape{.extent = loops.extent, .kept = loops.kept, .of_rest = random.chance(30)};
    std::vector<bool> in_mass, in_output;
    for (std::size_t l = 0; l < loops.extent.size(); ++l) {
      in_mass.push_back(random.chance(70));
      in_output.push_back(l < loops.kept);
    }
    std::vector<double> mass = numbers(strides(loops.extent, in_mass, shape.mass_stride), random);
    if (random.chance(30)) {  // slices that have none
      for (double& x : mass) x = random.chance(80) ? 0 : x;
    }
    std::int64_t entries = 0;
    if (shape.of_rest) {
      entries = strides(loops.extent, in_output, shape.output_stride);
    } else {
      entries = indices.lay_out(loops, in_output, shape.output_stride, random.chance(50));
    }
    shape.indices = indices.arrays;
    const std::vector<float> floats(mass.begin(), mass.end());
    if (random.chance(30)) shape.mass_dtype = Dtype::float32;
    std::vector<double> want(static_cast<std::size_t>(entries), 0), got(want.size(), -7);
    for_each(loops.extent, [&](const std::vector<std::int64_t>& at) {
      std::int64_t offset = offset_of(at, shape.output_stride);
      const std::int64_t begin = offset;
      const bool observed = indices.find(at, offset);
      if (observed == shape.of_rest) return;
      want[static_cast<std::size_t>(observed ? offset : begin)] +=
          mass[static_cast<std::size_t>(offset_of(at, shape.mass_stride))];
    });
    std::vector<const void*> inputs{mass.data()};
    if (shape.mass_dtype == Dtype::float32) inputs[0] = floats.data();
    for (std::size_t i = 0; i < indices.arrays.size(); ++i) inputs.push_back(indices.data(i));
    run(Scatter(shape), inputs, got.data());
    for (std::size_t k = 0; k < got.size(); ++k) ASSERT_DOUBLE_EQ(got[k], want[k]) << "seed " << seed << " entry " << k;
  }
}

}  // namespace
}  // namespace plated::kernels
