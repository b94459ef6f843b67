// The inputs of a run besides its operands: observed values of variables, lengths of chains and plates, weights.
#pragma once

#include <iterator>
#include <map>
#include <string>

#include "plated/integer_view.hpp"
#include "plated/tensor.hpp"

namespace plated {

/// For each ragged chain or plate the number of slices that exist, in 0 … its size. A chain's are shaped by the batch
/// dims and plates of its linked variables, in declaration order without the chain itself, or by the plates alone; a
/// plate's by the batch dims and the other plates that everything in it is in, or by these plates alone.
using Lengths = std::map<std::string, Integers>;

/// Integers by name, in the memory and the type that the caller has them in, or arrays that were given away or copied.
/// What is viewed is not copied, and must outlive the call, or the model, that it is given to.
///
///   RunOptions options{.evidence = {{"rain", 1}, {"sensor", IntegerView::view(seen)}}};
class IntegersByName : public std::map<std::string, IntegerView> {
 public:
  using map::map;
  IntegersByName(const std::map<std::string, Integers>& copied)  // NOLINT(google-explicit-constructor)
      : map(copied.begin(), copied.end()) {}
  IntegersByName(std::map<std::string, Integers>&& taken)  // NOLINT(google-explicit-constructor)
      : map(std::make_move_iterator(taken.begin()), std::make_move_iterator(taken.end())) {}

  /// A copy that owns its entries.
  operator std::map<std::string, Integers>() const {  // NOLINT(google-explicit-constructor)
    std::map<std::string, Integers> copy;
    for (const auto& [name, entries] : *this) copy.emplace(name, entries.integers());
    return copy;
  }
};

/// For each observed variable its values, shaped by its plates in declaration order; batch dims may come first, all of
/// them or none (then every batch observes the same). −1 leaves a slice unobserved.
///
///   Evidence{{"rain", 1}, {"sensor", Integers({3}, {0, -1, 1})}}
using Evidence = IntegersByName;

/// For each weighted plate how many copies each of its slices stands for, finite and not negative: one number for each
/// slice, or a single one for all of them.
///
///   Weights{{"i", Tensor::of<double>({3}, {1, 0.5, 20})}, {"j", Tensor::scalar(2.0)}}
using Weights = std::map<std::string, Tensor>;

}  // namespace plated
