// Shows a piece's own messages against their direction: what a path is traced by.
#include <algorithm>

#include "base/watch.hpp"
#include "chain/sweep.hpp"

namespace plated::chain {

void Sweep::trace(const std::function<void(const TraceBlock&)>& visit) {
  const auto bytes = static_cast<std::size_t>(rows_ * states_) * size_of(dtype_);
  const std::int64_t kept_slots = size_.keeps_all ? 0 : size_.block + 1;
  std::vector<std::byte> again(static_cast<std::size_t>(kept_slots) * bytes);
  std::vector<double> again_offset(static_cast<std::size_t>(kept_slots * rows_));
  for (std::int64_t k = 0; k < blocks(); ++k) {
    const base::PartOf part(k, blocks());
    const std::int64_t number = piece_.forward ? blocks() - 1 - k : k;
    TraceBlock block;
    block.first = number * size_.block;
    block.count = std::min(size_.block, slices_ - block.first);
    const Slices slices = slices_of(block.first, block.count);
    if (!size_.keeps_all) run_again(number, block.count, slices, again.data(), again_offset.data());
    block.messages = trace_tensor(
        size_.keeps_all ? kept_.data() + static_cast<std::size_t>(block.first) * bytes : again.data(), block.count);
    for (const BodyFactor& each : body_.factors) block.factors.push_back(tensor_of(each, slices));
    visit(block);
  }
}

}  // namespace plated::chain
