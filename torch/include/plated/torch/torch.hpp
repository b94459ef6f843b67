// Includes all of plated::torch.
#pragma once

#include "plated/torch/dims.hpp"           // IWYU pragma: export
#include "plated/torch/distributions.hpp"  // IWYU pragma: export
#include "plated/torch/einsum.hpp"         // IWYU pragma: export
#include "plated/torch/fit.hpp"            // IWYU pragma: export
#include "plated/torch/parameters.hpp"     // IWYU pragma: export
#include "plated/torch/program.hpp"        // IWYU pragma: export
#include "plated/torch/value.hpp"          // IWYU pragma: export
