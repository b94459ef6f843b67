// The mixed-effect hidden Markov models of [TVE] Table 2 whose effects are tables of their own, as models that fit()
// learns.
#pragma once

#include <cstdint>

#include <plated/fit.hpp>

#include "seals/seals.hpp"

namespace experiments {

/// From a random start. Throws std::runtime_error for effects of both kinds: their logits are added, which is no table.
[[nodiscard]] plated::Model seal_model(const Seals& seals, const Variant& variant, std::uint32_t seed);

[[nodiscard]] plated::Data seal_data(const Seals& seals);

/// What is learnt, and until when.
[[nodiscard]] plated::FitOptions seal_fit_options(const Variant& variant);

}  // namespace experiments
