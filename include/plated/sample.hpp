// Draws exact joint samples of the posterior.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plated/einsum.hpp"
#include "plated/integers.hpp"
#include "plated/plan.hpp"
#include "plated/tensor.hpp"

namespace plated {

/// Which samples of the infinite stream that belongs to a seed.
struct SampleOptions {
  std::int64_t count = 1;
  std::uint64_t seed = 0;
  /// The number of the first one: samples 0 … 99 and then 100 … 199 are samples 0 … 199.
  std::int64_t first = 0;
};

/// Joint draws of all variables, by name; axes: the samples, batch dims, then the variable's plates in declaration
/// order. Exact and independent; the same plan and seed give the same samples at any thread count. In the log and real
/// semirings. Throws ImpossibleError where Z is zero, and ValueError where it is not a finite number.
///
///   auto draws = sample("x,iy,ijxy->", {f, g, h}, {.count = 1000, .seed = 7}, {.plates = "ij"});
[[nodiscard]] std::map<std::string, Integers> sample(std::string_view equation, Tensors operands,
                                                     const SampleOptions& draws, const EinsumOptions& options = {});
[[nodiscard]] std::map<std::string, Integers> sample(const Plan& plan, Tensors operands, const SampleOptions& draws,
                                                     const RunOptions& options = {});
/// The same into the caller's memory, which is written over; see marginals_into.
void sample_into(std::map<std::string, Integers>& answer, const Plan& plan, Tensors operands,
                 const SampleOptions& draws, Workspace& workspace, const RunOptions& options = {});

}  // namespace plated
