// Composes what the engine does about padding for the operands and outputs of a call.
#include "api/padding.hpp"

#include <algorithm>

#include "base/checked_size.hpp"
#include "engine/erase.hpp"
#include "plated/error.hpp"
#include "semiring/dispatch.hpp"

namespace plated::api {

std::int64_t padding_bytes(const Call& call) {
  std::int64_t bytes = 0;
  for (std::size_t f = 0; f < call.operands.size(); ++f) {
    const bool is_ragged = std::any_of(call.lengths().begin(), call.lengths().end(), [&](const auto& entry) {
      return engine::holds(call.graph.factors()[f].dims, entry.first);
    });
    if (!is_ragged) continue;
    const auto size = static_cast<std::int64_t>(size_of(call.operands[f].dtype()));
    bytes = base::checked_sum(bytes, base::checked_product(call.operands[f].elements(), size));
  }
  return bytes;
}

void PaddedCopies::fill(const Call& call, Semiring semiring, std::span<Tensor> operands) {
  if (call.lengths().empty()) return;
  const std::int64_t bytes = padding_bytes(call);
  const std::int64_t limit = call.options.memory_limit;
  if (limit > 0 && bytes > limit) {
    throw MemoryLimitError("copies of operands without the slices that do not exist need " + std::to_string(bytes) +
                               " bytes, and the limit is " + std::to_string(limit),
                           bytes, limit);
  }
  copies_.resize(std::max(copies_.size(), operands.size()));
  for (std::size_t f = 0; f < operands.size(); ++f) {
    if (f == paddings_.size()) paddings_.emplace_back(call.plan.observed.factors()[f].dims, call.lengths());
    if (!is_floating(operands[f].dtype())) continue;  // what was observed in such slices is read, and does not matter
    Tensor filled = paddings_[f].fill(operands[f], semiring, copies_[f]);
    if (filled.data() != operands[f].data()) operands[f] = copies_[f] = std::move(filled);
  }
}

Tensor zero_padded(const Call& call, const std::vector<DimId>& axes, const Tensor& given) {
  if (call.lengths().empty()) return given;
  const bool fits = given.shape() == call.shape(axes) && given.data() != nullptr;  // else it is refused later
  if (!fits) return given;
  return engine::without_padding(axes, given, call.lengths(), Semiring::max_plus);  // whose one is 0
}

void erase_outputs(const Call& call, std::span<const Tensor> outputs, double value) {
  if (call.lengths().empty()) return;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (call.graph.outputs()[o].dims.empty()) continue;
    engine::Absent(call.extents(), call.presence(), call.graph.outputs()[o].dims).erase(outputs[o], value);
  }
}

void erase_outputs(const Call& call, std::span<const Tensor> outputs, Semiring semiring) {
  erase_outputs(call, outputs, semiring::dispatch(semiring, [](auto ring) { return decltype(ring)::zero(); }));
}

}  // namespace plated::api
