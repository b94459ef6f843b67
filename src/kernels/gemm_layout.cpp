// Sorts the loops of a contraction into the indices of a matrix product.
#include "kernels/gemm_layout.hpp"

#include <cstdlib>
#include <utility>

namespace plated::kernels {

std::int64_t IndexGroup::size() const {
  std::int64_t result = 1;
  for (const Loop& loop : loops_) result *= loop.extent;
  return result;
}

GemmOffset IndexGroup::at(std::int64_t index) const {
  GemmOffset offset;
  for (std::size_t i = loops_.size(); i-- > 0;) {
    const Loop& loop = loops_[i];
    // The slowest loop needs no division: most groups have one loop only.
    const std::int64_t digit = i == 0 ? index : index % loop.extent;
    if (i != 0) index /= loop.extent;
    offset.a += digit * loop.stride.a;
    offset.b += digit * loop.stride.b;
    offset.out += digit * loop.stride.out;
  }
  return offset;
}

void IndexGroup::offsets(std::int64_t first, std::int64_t count, std::int64_t GemmOffset::*which,
                         std::int64_t* to) const {
  const std::int64_t inner = loops_.empty() ? 1 : loops_.back().extent;
  const std::int64_t step = stride().*which;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t run = is_uniform() ? count : std::min(count - done, inner - (first + done) % inner);
    const std::int64_t start = at(first + done).*which;
    for (std::int64_t i = 0; i < run; ++i) to[done + i] = start + i * step;
    done += run;
  }
}

void IndexGroup::normalise(std::int64_t GemmOffset::*key) {
  std::stable_sort(loops_.begin(), loops_.end(), [key](const Loop& left, const Loop& right) {
    return std::abs(left.stride.*key) > std::abs(right.stride.*key);
  });
  std::vector<Loop> fused;
  for (const Loop& loop : loops_) {
    const auto continues = [&loop](const Loop& outer) {
      return outer.stride.a == loop.stride.a * loop.extent && outer.stride.b == loop.stride.b * loop.extent &&
             outer.stride.out == loop.stride.out * loop.extent;
    };
    if (!fused.empty() && continues(fused.back())) {
      fused.back() = {fused.back().extent * loop.extent, loop.stride};
    } else {
      fused.push_back(loop);
    }
  }
  loops_ = std::move(fused);
}

namespace {

bool has_unit_output_stride(const IndexGroup& group) {
  return std::any_of(group.loops().begin(), group.loops().end(),
                     [](const IndexGroup::Loop& loop) { return loop.stride.out == 1; });
}

// The columns are the vectorised index: they should be contiguous in the output, and more than a handful.
bool wants_swap(const GemmLayout& layout) {
  constexpr std::int64_t few = 8;
  const bool narrow = layout.n.size() < few, short_rows = layout.m.size() < few;
  if (narrow != short_rows) return narrow;
  return has_unit_output_stride(layout.m) && !has_unit_output_stride(layout.n);
}

IndexGroup transposed(const IndexGroup& group) {
  IndexGroup result;
  for (const IndexGroup::Loop& loop : group.loops()) {
    result.add({loop.extent, {loop.stride.b, loop.stride.a, loop.stride.out}});
  }
  return result;
}

void swap_inputs(GemmLayout& layout) {
  layout.swapped = true;
  std::swap(layout.a_dtype, layout.b_dtype);
  std::swap(layout.m, layout.n);
  for (IndexGroup* group : {&layout.batch, &layout.product, &layout.m, &layout.n, &layout.k})
    *group = transposed(*group);
}

// The group that a loop belongs to; null where the contraction is no matrix product. Loops of a product that no
// operand carries are repetitions, counted by the caller.
IndexGroup* group_of(GemmLayout& layout, Role role, const GemmOffset& stride) {
  const bool in_a = stride.a != 0, in_b = stride.b != 0;
  switch (role) {
    case Role::product:
      return &layout.product;
    case Role::sum:
      return in_a && in_b ? &layout.k : nullptr;
    case Role::kept:
      return in_a == in_b ? &layout.batch : in_a ? &layout.m : &layout.n;
  }
  return nullptr;
}

}  // namespace

std::optional<GemmLayout> gemm_layout(const ContractionShape& shape) {
  if (shape.input_stride.size() != 2 || shape.power == 0) return std::nullopt;
  GemmLayout layout{.semiring = shape.semiring,
                    .a_dtype = shape.input_dtype[0],
                    .b_dtype = shape.input_dtype[1],
                    .out_dtype = shape.output_dtype,
                    .compute_dtype = shape.compute_dtype,
                    .swapped = false,
                    .batch = {},
                    .product = {},
                    .m = {},
                    .n = {},
                    .k = {},
                    .power = shape.power};
  for (std::size_t i = 0; i < shape.extent.size(); ++i) {
    const std::int64_t extent = shape.extent[i];
    const GemmOffset stride{shape.input_stride[0][i], shape.input_stride[1][i], shape.output_stride[i]};
    if (extent == 0) return std::nullopt;
    if (extent == 1) continue;
    if (shape.role[i] == Role::product && stride.a == 0 && stride.b == 0) {
      layout.power *= extent;
      continue;
    }
    IndexGroup* group = group_of(layout, shape.role[i], stride);
    if (group == nullptr) return std::nullopt;
    group->add({extent, stride});
  }
  if (wants_swap(layout)) swap_inputs(layout);
  layout.batch.normalise(&GemmOffset::out);
  layout.product.normalise(&GemmOffset::a);
  layout.m.normalise(&GemmOffset::out);
  layout.n.normalise(&GemmOffset::out);
  layout.k.normalise(&GemmOffset::b);
  layout.has_product = layout.product.size() > 1 || layout.power != 1;
  return layout;
}

}  // namespace plated::kernels
