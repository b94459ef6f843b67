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

/// A model with its data and weights, with these slices of a plate or chain alone: factors and evidence that have an
/// axis for it, numbers, lengths, weights, and rows of lists. The dim is not ragged, or these are its first slices.
[[nodiscard]] Model sliced(const Model& observed, Weights& weights, DimId dim, const std::vector<std::int64_t>& slices);

/// The same apart from each other. Variables that are observed in none of the slices are latent, and numbers of which
/// there are none are left out.
[[nodiscard]] ModelAndData take_slices(const Model& observed, const Weights& weights, DimId plate,
                                       const std::vector<std::int64_t>& slices);

/// The rows of a list that are about some slices of a dim that has so many, which are numbered from 0.
[[nodiscard]] Long rows_about(const Long& all, const std::string& dim, std::int64_t size,
                              const std::vector<std::int64_t>& slices);

}  // namespace plated::learn
