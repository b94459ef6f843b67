// The questions themselves, asked of inputs that a verb or an evaluation has prepared; each is in the file of its verb.
#pragma once

#include <map>
#include <span>
#include <string>

#include "api/posed.hpp"
#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"

namespace plated::api {

/// In log and real.
[[nodiscard]] ValueAndGradient ask_gradient(const Posed& posed, const GradientOptions& gradient);

/// In log: of operands in real, of their logarithms.
[[nodiscard]] Marginals ask_marginals(const Posed& posed, const MarginalOptions& wanted);
[[nodiscard]] std::map<std::string, Integers> ask_sample(const Posed& posed, const SampleOptions& draws);
[[nodiscard]] Tensor ask_entropy(const Posed& posed);
[[nodiscard]] Tensor ask_expectation(const Posed& posed, Tensors statistics);

/// In selective semirings.
[[nodiscard]] MapResult ask_map(const Posed& posed);
[[nodiscard]] std::map<std::string, Tensor> ask_max_marginals(const Posed& posed);

}  // namespace plated::api
