// Evidence as a factor: ones where a state agrees with what was observed, zeros elsewhere; or as the states themselves.
#pragma once

#include <span>
#include <vector>

#include "plated/factor_graph.hpp"
#include "plated/integer_view.hpp"
#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

/// A tensor of that shape all of whose entries are the same number in memory.
[[nodiscard]] Tensor constant(double value, Dtype dtype, const std::vector<std::int64_t>& shape);

/// What was observed of a variable in slices of the given shape, of which the first `batch` axes are batch dims; null:
/// nothing. What was observed has that shape, or that of the plates alone. Axes: those of the shape, then the states.
/// Throws ShapeError and ValueError.
[[nodiscard]] Tensor indicator(const IntegerView* observed, const Dim& variable,
                               const std::vector<std::int64_t>& slices, std::size_t batch, Semiring semiring,
                               Dtype dtype);

/// Makes such a table one of other states, which are checked: ones and zeros of the semiring.
void put_indicator(const IntegerView& observed, const Dim& variable, Semiring semiring, const Tensor& table);

/// What was observed, checked as above, as an operand that factors are read at: it views the integers.
[[nodiscard]] Tensor states(const IntegerView& observed, const Dim& variable, const std::vector<std::int64_t>& slices,
                            std::size_t batch);

/// Puts what was observed into an answer that was computed without it: one entry for each slice, perhaps repeated along
/// further axes in front.
void put_observed(const IntegerView& observed, Integers& answer);
/// The same with states as the last axis of a row-major answer: `zero` at those that were not observed and, of the
/// number for each batch, the one at those that were.
void put_observed(const IntegerView& observed, std::span<const double> of_batch, double zero, const Tensor& answer);

}  // namespace plated::engine
