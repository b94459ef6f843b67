// One look at every number of a tensor, on the pool's threads where it is large.
#pragma once

#include "kernels/check.hpp"

namespace plated::engine {

using kernels::Inspection;

/// Whether a semiring admits all entries, and how large they are. The answer does not depend on the number of threads.
[[nodiscard]] Inspection inspect(const Tensor& tensor, Semiring semiring, int threads);

}  // namespace plated::engine
