// Runs the scans that pass masses back along hidden Markov models: sets smoothing up, and delivers what it gives.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked_size.hpp"
#include "engine/bound_scan.hpp"
#include "engine/scan_numbers.hpp"

namespace plated::engine {

void ScanAnswer::deliver(const double* total) const {
  const std::size_t axes = extent.size();
  const std::int64_t inner = axes == 0 ? 1 : extent.back();
  const std::int64_t step = axes == 0 ? 0 : stride.back();
  const std::int64_t count = base::checked_product(extent);
  for (std::int64_t k = 0; k < count; k += inner) {
    std::int64_t at = 0, rest = k / inner;
    for (std::size_t axis = axes; axis-- > 1; rest /= extent[axis - 1]) {
      at += rest % extent[axis - 1] * stride[axis - 1];
    }
    for (std::int64_t i = 0; i < inner; ++i) put_number(dtype, data, at + i * step, total[k + i]);
  }
}

bool BoundScan::run_smoothing(const ScanMemory& memory, const Arrays& own, int threads) {
  const FusedSmoothing::Memory& arrays = own.smoothing;
  const Dtype type = smoothing->there.shape.dtype;
  const auto* last = static_cast<const double*>(sliced()[smoothing->last]);
  const double infinity = std::numeric_limits<double>::infinity();
  if (ragged) find_lengths(own.lengths);
  // What returns first: the mass of the last message, without what the message itself brings.
  for (std::int64_t r = 0; r < rows; ++r) {
    double best = -infinity;
    arrays.weight[r] = 0;
    const auto mass_of = [&](std::int64_t k) {
      return number_at(start.dtype, inputs[0],
                       start.row[static_cast<std::size_t>(r)] + start.state[static_cast<std::size_t>(k)]);
    };
    const auto log_of = [&](std::int64_t k) {
      const double mass = mass_of(k);
      return mass > 0 ? std::log(mass) - last[r * states + k] : -infinity;
    };
    for (std::int64_t k = 0; k < states; ++k) {
      if (!(mass_of(k) >= 0)) return false;
      arrays.weight[r] += mass_of(k);
      best = std::max(best, log_of(k));
    }
    if (!(best < infinity && arrays.weight[r] < infinity)) return false;
    const double taken = best == -infinity ? 0.0 : best;
    for (std::int64_t k = 0; k < states; ++k) put_number(type, arrays.message, r * states + k, log_of(k) - taken);
  }
  places_.clear();
  for (const SmoothedPlace& place : smoothing->places) {
    places_.push_back(place.answer ? answers[*place.answer].data : memory.messages);
  }
  const FusedSmoothing::Run run{.operands = sliced(),
                                .in_real_space = traced_ != nullptr,
                                .last = last,
                                .lengths = own.lengths,
                                .data = places_,
                                .pairs = smoothing->matrix_answer ? own.totals[1] : nullptr,
                                .threads = threads};
  if (!smoothing->run(run, arrays)) return false;
  if (smoothing->matrix_answer) answers[*smoothing->matrix_answer].deliver(own.totals[1]);

  // The mass of the first message: what meets there, as a share of the row's.
  smoothing->copy_messages(run, slice(slices - 1), 1, arrays.own);
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::int64_t k = r * states; k < (r + 1) * states; ++k) {
      memory.output[k] = number_at(type, arrays.own, k) * std::exp(number_at(type, arrays.message, k));
      sum += memory.output[k];
    }
    if (!(sum > 0) && arrays.weight[r] > 0) return false;
    for (std::int64_t k = r * states; k < (r + 1) * states && sum > 0; ++k) memory.output[k] *= arrays.weight[r] / sum;
  }
  return true;
}

}  // namespace plated::engine
