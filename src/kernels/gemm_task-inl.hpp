// One task of a packed matrix product: packs its tile's panels, sums register tiles, multiplies slices up and writes.
#if defined(PLATED_KERNELS_GEMM_TASK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_GEMM_TASK_INL
#undef PLATED_KERNELS_GEMM_TASK_INL
#else
#define PLATED_KERNELS_GEMM_TASK_INL
#endif

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/watch.hpp"
#include "hwy/highway.h"
#include "kernels/gemm_algebra-inl.hpp"
#include "kernels/gemm_call.hpp"
#include "kernels/gemm_epilogue-inl.hpp"
#include "kernels/gemm_exact.hpp"
#include "kernels/gemm_micro-inl.hpp"
#include "kernels/gemm_pack-inl.hpp"
#include "kernels/gemm_workspace.hpp"
#include "semiring/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

template <class Ring, class T>
struct AlgebraOf {
  using type = SumOfProducts<T>;  // real as it is, log after exponentiation
};
template <class T>
struct AlgebraOf<semiring::MaxPlus, T> {
  using type = MaxOfSums<T>;
};
template <class T>
struct AlgebraOf<semiring::MinPlus, T> {
  using type = MinOfSums<T>;
};
template <class T>
struct AlgebraOf<semiring::MaxProduct, T> {
  using type = MaxOfProducts<T>;
};
template <class T>
struct AlgebraOf<semiring::Boolean, T> {
  using type = MaxOfProducts<T>;  // on zeros and ones
};

template <class Ring, class T>
class GemmTask {
 public:
  explicit GemmTask(const GemmCall& call);
  void run();

 private:
  using Algebra = typename AlgebraOf<Ring, T>::type;
  static constexpr bool is_log = std::is_same_v<Ring, semiring::Log>;
  static constexpr bool is_boolean = std::is_same_v<Ring, semiring::Boolean>;

  /// The tile's rows of the left operand, or its columns of the right one, as panels.
  struct Operand {
    PanelSource source;
    const std::byte* origin;  // at index 0 of everything
    std::int64_t count, panels;
    T* packed;
    GemmShift<T> shift;
    bool is_left;
    bool direct;                        // panels are read where they are, without packing
    std::int64_t direct_row, direct_k;  // strides, if so
  };
  struct Panel {
    std::int64_t first, used, width;
    T* packed;
    bool direct;
  };

  Panel panel(const Operand& operand, std::int64_t index) const;
  void multiply(const GemmOffset& at);
  bool move_to(Operand& operand, std::int64_t offset);
  void load_block(std::int64_t block);
  void find_shifts(Operand& operand);
  void pack(Operand& operand);
  void sum_block(std::int64_t block, void* out);
  void finish_tile(const MicroTile<T>& tile, const Panel& rows, const Panel& columns, void* out);
  double exact(std::int64_t row, std::int64_t column);
  void write_products(std::int64_t batch, void* out);
  template <class Value>
  void write(const Value* values, std::int64_t count, std::int64_t row, std::int64_t column, void* out) const;

  const GemmLayout& layout_;
  const GemmTiling& tiling_;
  GemmWorkspace<T> work_;
  Operand a_, b_;
  std::byte* out_;
  double* partial_;  // of this task's chunk of the product; null where the product is whole
  std::int64_t batch_first_, batch_last_, product_first_, product_last_, m_first_, n_first_;
  std::int64_t lanes_, panel_columns_, depth_ = 0;
  std::int64_t even_rows_, extra_rows_;  // of a row panel, and how many panels have one more
  std::int64_t panel_group_;             // row panels that fit in half the second-level cache
  bool out_contiguous_, direct_out_;
  UnderflowGuard<T> guard_;
  base::Pace pace_;
};

inline bool is_contiguous(const std::int64_t* offsets, std::int64_t count) {
  for (std::int64_t i = 1; i < count; ++i) {
    if (offsets[i] != offsets[0] + i) return false;
  }
  return true;
}

template <class Ring, class T>
GemmTask<Ring, T>::GemmTask(const GemmCall& call)
    : layout_(call.layout), tiling_(call.tiling), guard_(call.layout.k.size()) {
  const GemmLayout& layout = layout_;
  const GemmTiling& tiling = tiling_;
  work_.lay_out(call.task_scratch, layout, tiling);
  lanes_ = static_cast<std::int64_t>(hn::Lanes(GemmTag<T>()));
  panel_columns_ = 2 * lanes_;

  std::int64_t task = call.task;
  const auto digit = [&task](std::int64_t radix) {
    const std::int64_t result = task % radix;
    task /= radix;
    return result;
  };
  n_first_ = digit(tiling.n_tiles) * tiling.n_tile;
  m_first_ = digit(tiling.m_tiles) * tiling.m_tile;
  batch_first_ = digit(tiling.batch_chunks) * tiling.batch_chunk;
  batch_last_ = std::min(batch_first_ + tiling.batch_chunk, layout.batch.size());
  product_first_ = task * tiling.product_chunk;
  product_last_ = std::min(product_first_ + tiling.product_chunk, layout.product.size());
  const std::int64_t m = layout.m.size(), n = layout.n.size();
  const std::int64_t rows = std::min(tiling.m_tile, m - m_first_), columns = std::min(tiling.n_tile, n - n_first_);

  layout.m.offsets(m_first_, rows, &GemmOffset::a, work_.m_a);
  layout.m.offsets(m_first_, rows, &GemmOffset::out, work_.m_out);
  layout.n.offsets(n_first_, columns, &GemmOffset::b, work_.n_b);
  layout.n.offsets(n_first_, columns, &GemmOffset::out, work_.n_out);

  // Reading an operand in place saves its packing, and costs scattered reads for each panel of the other one.
  constexpr std::int64_t few = 64;
  constexpr bool as_is = !is_log && !is_boolean;
  const bool uniform = as_is && layout.k.is_uniform();
  a_.source = {nullptr, layout.a_dtype, work_.m_a, work_.k_a, is_contiguous(work_.m_a, rows), false};
  a_.origin = static_cast<const std::byte*>(call.inputs[layout.swapped ? 1 : 0]);
  a_.count = rows;
  a_.panels = (rows + gemm_max_rows - 1) / gemm_max_rows;
  even_rows_ = rows / a_.panels;
  extra_rows_ = rows % a_.panels;
  constexpr std::int64_t cached_bytes = std::int64_t{256} << 10;
  panel_group_ = std::max<std::int64_t>(1, cached_bytes / (work_.a_panel * static_cast<std::int64_t>(sizeof(T))));
  a_.packed = work_.packed_a;
  a_.shift = work_.row;
  a_.is_left = true;
  a_.direct = uniform && columns <= few && layout.a_dtype == dtype_of<T> && layout.m.is_uniform();
  a_.direct_row = layout.m.stride().a;
  a_.direct_k = layout.k.stride().a;

  b_.source = {nullptr, layout.b_dtype, work_.n_b, work_.k_b, is_contiguous(work_.n_b, columns), false};
  b_.origin = static_cast<const std::byte*>(call.inputs[layout.swapped ? 0 : 1]);
  b_.count = columns;
  b_.panels = (columns + panel_columns_ - 1) / panel_columns_;
  b_.packed = work_.packed_b;
  b_.shift = work_.column;
  b_.is_left = false;
  b_.direct = uniform && rows <= few && layout.b_dtype == dtype_of<T> && b_.source.wide_contiguous;
  b_.direct_row = 1;
  b_.direct_k = layout.k.stride().b;

  out_ = static_cast<std::byte*>(call.output);
  out_contiguous_ = is_contiguous(work_.n_out, columns);
  direct_out_ =
      as_is && !layout.has_product && layout.out_dtype == dtype_of<T> && out_contiguous_ && layout.m.is_uniform();
  partial_ = tiling.product_chunks > 1
                 ? reinterpret_cast<double*>(call.shared_scratch) + task * layout.batch.size() * m * n
                 : nullptr;
  if (tiling.k_blocks == 1) load_block(0);
}

template <class Ring, class T>
typename GemmTask<Ring, T>::Panel GemmTask<Ring, T>::panel(const Operand& operand, std::int64_t index) const {
  if (operand.is_left) {
    // Rows are shared out evenly: panels of 4 and 4 rows run faster than of 6 and 2.
    const std::int64_t first = index * even_rows_ + std::min(index, extra_rows_);
    const std::int64_t rows = even_rows_ + (index < extra_rows_ ? 1 : 0);
    return {first, rows, rows, operand.packed + index * work_.a_panel, operand.direct};
  }
  const std::int64_t first = index * panel_columns_;
  const std::int64_t used = std::min(panel_columns_, operand.count - first);
  const std::int64_t width = used > lanes_ ? panel_columns_ : lanes_;
  return {first, used, width, operand.packed + first * tiling_.k_block, operand.direct && used == width};
}

template <class Ring, class T>
void GemmTask<Ring, T>::run() {
  const std::size_t out_size = size_of(layout_.out_dtype);
  for (std::int64_t batch = batch_first_; batch < batch_last_; ++batch) {
    const GemmOffset at_batch = layout_.batch.at(batch);
    void* out = out_ + at_batch.out * static_cast<std::int64_t>(out_size);
    if (layout_.has_product)
      std::fill(work_.products, work_.products + a_.count * tiling_.padded_n_tile(), Ring::one());
    for (std::int64_t product = product_first_; product < product_last_; ++product) {
      const GemmOffset at = layout_.product.at(product);
      multiply({at_batch.a + at.a, at_batch.b + at.b, at_batch.out});
      if (pace_.stops(1)) return;
    }
    if (layout_.has_product) write_products(batch, out);
  }
}

/// Points the operand at another matrix; false where its panels hold that one already, all of it.
template <class Ring, class T>
bool GemmTask<Ring, T>::move_to(Operand& operand, std::int64_t offset) {
  const void* data = operand.origin + offset * static_cast<std::int64_t>(size_of(operand.source.dtype));
  const bool moved = data != operand.source.data;
  operand.source.data = data;
  return moved || tiling_.k_blocks > 1;
}

template <class Ring, class T>
void GemmTask<Ring, T>::load_block(std::int64_t block) {
  const std::int64_t first = block * tiling_.k_block;
  depth_ = std::min(tiling_.k_block, layout_.k.size() - first);
  layout_.k.offsets(first, depth_, &GemmOffset::a, work_.k_a);
  layout_.k.offsets(first, depth_, &GemmOffset::b, work_.k_b);
  a_.source.deep_contiguous = is_contiguous(work_.k_a, depth_);
  b_.source.deep_contiguous = is_contiguous(work_.k_b, depth_);
}

/// Fills the operand's shifts and depths from all blocks. With a single block, its panels stay packed.
template <class Ring, class T>
void GemmTask<Ring, T>::find_shifts(Operand& operand) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  T* const largest = operand.shift.shift;
  T* const least = operand.shift.depth;
  const std::int64_t padded = operand.is_left ? operand.count : tiling_.padded_n_tile();
  std::fill(largest, largest + padded, -infinity);
  std::fill(least, least + padded, infinity);
  for (std::int64_t block = 0; block < tiling_.k_blocks; ++block) {
    if (tiling_.k_blocks > 1) load_block(block);
    for (std::int64_t i = 0; i < operand.panels; ++i) {
      const Panel p = panel(operand, i);
      gather_panel(operand.source, p.first, p.used, p.width, depth_, p.packed);
      widen_range(p.packed, p.used, p.width, depth_, largest + p.first, least + p.first);
    }
    if (pace_.stops(operand.count * depth_)) return;
  }
  for (std::int64_t i = 0; i < padded; ++i) {
    const bool is_zero = largest[i] == -infinity;
    least[i] = is_zero ? T{0} : largest[i] - least[i];
    if (is_zero) largest[i] = 0;
  }
}

template <class Ring, class T>
void GemmTask<Ring, T>::pack(Operand& operand) {
  for (std::int64_t i = 0; i < operand.panels; ++i) {
    const Panel p = panel(operand, i);
    if (p.direct) continue;
    if (!is_log || tiling_.k_blocks > 1) gather_panel(operand.source, p.first, p.used, p.width, depth_, p.packed);
    if constexpr (is_log) exponentiate(p.packed, operand.shift.shift + p.first, p.used, p.width, depth_);
    if constexpr (is_boolean) booleans(p.packed, p.width, depth_);
  }
}

template <class Ring, class T>
void GemmTask<Ring, T>::multiply(const GemmOffset& at) {
  const bool new_a = move_to(a_, at.a), new_b = move_to(b_, at.b);
  if constexpr (is_log) {
    if (new_a) find_shifts(a_);
    if (new_b) find_shifts(b_);
  }
  std::byte* out = out_ + at.out * static_cast<std::int64_t>(size_of(layout_.out_dtype));
  for (std::int64_t block = 0; block < tiling_.k_blocks; ++block) {
    if (tiling_.k_blocks > 1) load_block(block);
    if (new_a && !a_.direct) pack(a_);
    if (new_b) pack(b_);
    sum_block(block, out);
    if (pace_.stops((a_.count + b_.count) * depth_)) return;
  }
}

template <class Ring, class T>
void GemmTask<Ring, T>::sum_block(std::int64_t block, void* out) {
  const bool last = block + 1 == tiling_.k_blocks;
  const std::int64_t n = tiling_.padded_n_tile();
  HWY_ALIGN T local[gemm_max_rows * gemm_max_columns];
  // A group of row panels stays in cache while one column panel after the other sweeps it.
  for (std::int64_t start = 0; start < a_.panels; start += panel_group_) {
    for (std::int64_t j = 0; j < b_.panels; ++j) {
      const Panel columns = panel(b_, j);
      MicroTile<T> tile;
      tile.depth = depth_;
      tile.add = block > 0;
      tile.b = columns.direct ? static_cast<const T*>(b_.source.data) + work_.n_b[columns.first] + work_.k_b[0]
                              : columns.packed;
      tile.b_k = columns.direct ? b_.direct_k : columns.width;
      const bool direct_out = direct_out_ && columns.used == columns.width;
      for (std::int64_t i = start; i < std::min(start + panel_group_, a_.panels); ++i) {
        const Panel rows = panel(a_, i);
        tile.a =
            rows.direct ? static_cast<const T*>(a_.source.data) + work_.m_a[rows.first] + work_.k_a[0] : rows.packed;
        tile.a_row = rows.direct ? a_.direct_row : 1;
        tile.a_k = rows.direct ? a_.direct_k : rows.width;
        if (direct_out) {
          tile.c = static_cast<T*>(out) + work_.m_out[rows.first] + work_.n_out[columns.first];
          tile.c_row = layout_.m.stride().out;
        } else if (tiling_.k_blocks > 1) {
          tile.c = work_.sums + rows.first * n + columns.first;
          tile.c_row = n;
        } else {
          tile.c = local;
          tile.c_row = gemm_max_columns;
        }
        micro_kernel_for<Algebra, T>(rows.used, columns.width > lanes_ ? 2 : 1)(tile);
        if (last && !direct_out) finish_tile(tile, rows, columns, out);
      }
      // Vectors do some eight of them at once.
      if (pace_.stops(std::min(panel_group_ * gemm_max_rows, a_.count) * columns.width * depth_ / 8)) return;
    }
  }
}

template <class Ring, class T>
void GemmTask<Ring, T>::finish_tile(const MicroTile<T>& tile, const Panel& rows, const Panel& columns, void* out) {
  for (std::int64_t r = 0; r < rows.used; ++r) {
    T* sums = tile.c + r * tile.c_row;
    const std::int64_t row = rows.first + r;
    if constexpr (is_log) {
      const auto repair = [&](std::int64_t j) { return exact(row, columns.first + j); };
      take_logs(sums, columns.used, a_.shift.shift[row], a_.shift.depth[row], b_.shift.shift + columns.first,
                b_.shift.depth + columns.first, guard_, repair);
    }
    if (layout_.has_product) {
      double* HWY_RESTRICT products = work_.products + row * tiling_.padded_n_tile() + columns.first;
      for (std::int64_t j = 0; j < columns.used; ++j) {
        products[j] = Ring::multiply(products[j], static_cast<double>(sums[j]));
      }
    } else {
      write(sums, columns.used, row, columns.first, out);
    }
  }
}

template <class Ring, class T>
double GemmTask<Ring, T>::exact(std::int64_t row, std::int64_t column) {
  if (pace_.stops(8 * layout_.k.size())) return 0;
  const auto entry = [](const PanelSource& source, std::int64_t offset) {
    return static_cast<const std::byte*>(source.data) + offset * static_cast<std::int64_t>(size_of(source.dtype));
  };
  return exact_log_sum(layout_, entry(a_.source, work_.m_a[row]), entry(b_.source, work_.n_b[column]));
}

template <class Ring, class T>
void GemmTask<Ring, T>::write_products(std::int64_t batch, void* out) {
  const std::int64_t n = layout_.n.size();
  for (std::int64_t row = 0; row < a_.count; ++row) {
    double* products = work_.products + row * tiling_.padded_n_tile();
    if (partial_ != nullptr) {
      std::copy(products, products + b_.count, partial_ + (batch * layout_.m.size() + m_first_ + row) * n + n_first_);
      continue;
    }
    if (layout_.power != 1) {
      for (std::int64_t j = 0; j < b_.count; ++j) products[j] = Ring::power(products[j], layout_.power);
    }
    write(products, b_.count, row, 0, out);
  }
}

template <class Ring, class T>
template <class Value>
void GemmTask<Ring, T>::write(const Value* values, std::int64_t count, std::int64_t row, std::int64_t column,
                              void* out) const {
  const std::int64_t* offsets = work_.n_out + column;
  if (layout_.out_dtype == Dtype::float32) {
    write_row(values, count, static_cast<float*>(out) + work_.m_out[row], offsets, out_contiguous_);
  } else {
    write_row(values, count, static_cast<double*>(out) + work_.m_out[row], offsets, out_contiguous_);
  }
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
