// The observed numbers of likelihood factors, and models in which they have become ordinary factors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "likelihood/components.hpp"
#include "plated/model.hpp"

namespace plated::model {

/// The numbers of a likelihood factor and how they lie.
struct Measured {
  std::vector<DimId> cells;           ///< axes of the numbers: batch dims, if they have them, then the factor's plates
  std::vector<DimId> parents;         ///< variables, in the factor's order
  std::vector<double> numbers;        ///< row-major; NaN where they are missing or their slice does not exist
  std::vector<std::uint32_t> groups;  ///< which parameters each has; empty: the same for all
  std::size_t group_count = 1;
  std::size_t parent_states = 1;
  /// For component (group, parents' states): its place among the entries of the factor.
  std::vector<std::size_t> entries;
};

/// Of a likelihood factor; without numbers where there are no measurements of it.
[[nodiscard]] Measured measured(const Model& model, std::size_t factor);

/// The numbers of several factors that the density sees: not missing, and not zero where zero is inflation's.
[[nodiscard]] std::vector<double> seen_numbers(const Likelihood& likelihood, std::span<const Measured> all);

/// The components of a likelihood with its family in units of the numbers that all these factors see.
[[nodiscard]] likelihood::Components components_of(const Likelihood& likelihood, std::span<const Measured> all);

/// Throws ValueError, with the name, the index and the number, for a number without a density.
void check_support(const Model& model, std::size_t factor, const Measured& measured,
                   const likelihood::Components& components);

/// The coordinates of a likelihood's parameters, and parameters of coordinates.
[[nodiscard]] std::vector<double> coordinates_of(const Likelihood& likelihood, const Measured& measured,
                                                 const likelihood::Components& components);
void put_parameters(std::span<const double> coordinates, const Measured& measured,
                    const likelihood::Components& components, const Tensor::Shape& shape, Likelihood& likelihood);

/// Numbers that lie as coordinates do, one for each of a component's parameters, by parameter and in the factor's
/// shape.
[[nodiscard]] std::map<std::string, Tensor> by_parameter(std::span<const double> numbers, const Measured& measured,
                                                         const likelihood::Components& components,
                                                         const Tensor::Shape& shape, const Likelihood& likelihood);

/// The model with measured likelihoods and lists of rows as ordinary factors, log-probabilities with an axis for each
/// of their plates or those of their parents; in log space if there are any. Likelihoods that are `open` get ones:
/// somebody else fills them. Throws as check_support.
[[nodiscard]] Model bound(Model model, const std::vector<bool>& open = {});

}  // namespace plated::model
