// The packed matrix product as a strategy: layout and tiles at construction, tasks on the best SIMD target.
#include <memory>

#include "kernels/gemm_call.hpp"
#include "kernels/gemm_layout.hpp"
#include "kernels/gemm_tiling.hpp"
#include "kernels/gemm_workspace.hpp"
#include "kernels/strategy.hpp"
#include "semiring/dispatch.hpp"

namespace plated::kernels {
namespace {

class Gemm final : public Strategy {
 public:
  explicit Gemm(GemmLayout layout) : layout_(std::move(layout)), tiling_(gemm_tiling(layout_)) {}

  [[nodiscard]] const char* name() const override { return "gemm"; }
  [[nodiscard]] std::int64_t tasks() const override { return tiling_.tasks(); }

  [[nodiscard]] std::size_t task_scratch_bytes() const override {
    return layout_.compute_dtype == Dtype::float32 ? GemmWorkspace<float>().lay_out(nullptr, layout_, tiling_)
                                                   : GemmWorkspace<double>().lay_out(nullptr, layout_, tiling_);
  }

  [[nodiscard]] std::size_t shared_scratch_bytes() const override {
    if (tiling_.product_chunks == 1) return 0;
    return static_cast<std::size_t>(tiling_.product_chunks * outputs()) * sizeof(double);
  }

  // Every entry is multiplied, by zeros as well, and added: sums of products are plain.
  [[nodiscard]] bool shows_inputs() const override {
    return layout_.semiring == Semiring::real && !layout_.has_product;
  }

  double run_task(std::int64_t task, std::span<const void* const> inputs, void* output, std::byte* task_scratch,
                  std::byte* shared_scratch) const noexcept override {
    const GemmCall call{layout_, tiling_, task, inputs, output, task_scratch, shared_scratch};
    if (layout_.compute_dtype == Dtype::float32) {
      run_gemm_float32(call);
    } else {
      run_gemm_float64(call);
    }
    return 0;
  }

  // Multiplies the chunks of a long product, chunk after chunk.
  void finish(void* output, std::byte* shared_scratch) const noexcept override {
    if (tiling_.product_chunks == 1) return;
    const double* partial = reinterpret_cast<const double*>(shared_scratch);
    if (layout_.out_dtype == Dtype::float32) {
      combine(partial, static_cast<float*>(output));
    } else {
      combine(partial, static_cast<double*>(output));
    }
  }

 private:
  [[nodiscard]] std::int64_t outputs() const { return layout_.batch.size() * layout_.m.size() * layout_.n.size(); }

  template <class Out>
  void combine(const double* partial, Out* output) const {
    semiring::dispatch(layout_.semiring, [&](auto ring) {
      const std::int64_t count = outputs();
      std::int64_t index = 0;
      const auto write = [&](const GemmOffset& batch, const GemmOffset& m, const GemmOffset& n) {
        double value = ring.one();
        for (std::int64_t chunk = 0; chunk < tiling_.product_chunks; ++chunk) {
          value = ring.multiply(value, partial[chunk * count + index]);
        }
        ++index;
        output[batch.out + m.out + n.out] = static_cast<Out>(ring.power(value, layout_.power));
      };
      for_each(layout_.batch, [&](const GemmOffset& batch) {
        for_each(layout_.m,
                 [&](const GemmOffset& m) { for_each(layout_.n, [&](const GemmOffset& n) { write(batch, m, n); }); });
      });
    });
  }

  template <class Visit>
  static void for_each(const IndexGroup& group, const Visit& visit) {
    group.walk(0, group.size(), [&visit](std::int64_t, const GemmOffset& offset) { visit(offset); });
  }

  GemmLayout layout_;
  GemmTiling tiling_;
};

}  // namespace

std::unique_ptr<Strategy> make_gemm(const ContractionShape& shape) {
  std::optional<GemmLayout> layout = gemm_layout(shape);
  if (!layout || !gemm_pays(*layout)) return nullptr;
  return std::make_unique<Gemm>(std::move(*layout));
}

}  // namespace plated::kernels
