// Some slices of a plate of a model and its data.
#pragma once

#include <cstdint>
#include <vector>

#include "plated/fit.hpp"

namespace plated::learn {

/// A model and the data that it is fitted to.
struct ModelAndData {
  Model model;
  Data data;
};

/// A model that has data as its evidence, with these slices of a plate alone: factors and evidence that have an axis
/// for it, lengths, weights, and rows of lists. Variables that are observed in none of the slices are latent. The plate
/// is not ragged.
[[nodiscard]] ModelAndData take_slices(const Model& observed, const Weights& weights, DimId plate,
                                       const std::vector<std::int64_t>& slices);

/// The same of a model without evidence and lengths, and of all data.
[[nodiscard]] ModelAndData take_slices(const Model& model, const Data& all, DimId plate,
                                       const std::vector<std::int64_t>& slices);

/// The numbers of likelihoods in these slices, missing ones and all.
[[nodiscard]] Measurements take_measurements(const Model& observed, DimId plate,
                                             const std::vector<std::int64_t>& slices);

}  // namespace plated::learn
