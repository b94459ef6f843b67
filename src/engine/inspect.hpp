// One look at every number of a tensor, on the pool's threads where it is large.
#pragma once

#include "kernels/check.hpp"

namespace plated::engine {

using kernels::Inspection;

/// Whether a semiring admits all entries. The answer does not depend on the number of threads.
[[nodiscard]] bool admits(const Tensor& tensor, Semiring semiring, int threads);
/// The same, and how large they are.
[[nodiscard]] Inspection inspect(const Tensor& tensor, Semiring semiring, int threads);

}  // namespace plated::engine
