// Chooses the strategy of a contraction.
#include "kernels/contraction.hpp"

#include <utility>

#include "base/assert.hpp"
#include "kernels/strategy.hpp"

namespace plated::kernels {

struct Contraction::Impl {
  ContractionShape shape;
  std::unique_ptr<Strategy> strategy;
};

Contraction::Contraction(ContractionShape shape) : impl_(std::make_unique<Impl>()) {
  PLATED_ASSERT(shape.role.size() == shape.extent.size() && shape.output_stride.size() == shape.extent.size());
  PLATED_ASSERT(shape.input_dtype.size() == shape.input_stride.size() && shape.power >= 0);
  impl_->shape = std::move(shape);
  impl_->strategy = make_gemm(impl_->shape);
  if (!impl_->strategy) impl_->strategy = make_reduce(impl_->shape);
}

Contraction::Contraction(Contraction&&) noexcept = default;
Contraction& Contraction::operator=(Contraction&&) noexcept = default;
Contraction::~Contraction() = default;

const ContractionShape& Contraction::shape() const { return impl_->shape; }
std::int64_t Contraction::tasks() const { return impl_->strategy->tasks(); }
std::size_t Contraction::task_scratch_bytes() const { return impl_->strategy->task_scratch_bytes(); }
std::size_t Contraction::shared_scratch_bytes() const { return impl_->strategy->shared_scratch_bytes(); }
const char* Contraction::strategy() const { return impl_->strategy->name(); }

bool Contraction::looks_at_input() const { return impl_->strategy->looks_at_input(); }
bool Contraction::shows_inputs() const { return impl_->strategy->shows_inputs(); }

double Contraction::run_task(std::int64_t task, std::span<const void* const> inputs, void* output,
                             std::byte* task_scratch, std::byte* shared_scratch) const noexcept {
  return impl_->strategy->run_task(task, inputs, output, task_scratch, shared_scratch);
}

void Contraction::finish(void* output, std::byte* shared_scratch) const noexcept {
  impl_->strategy->finish(output, shared_scratch);
}

}  // namespace plated::kernels
