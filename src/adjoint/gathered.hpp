// The steps that sweeps write for gathers: the same of other numbers, and what is passed back to tables.
#pragma once

#include <vector>

#include "adjoint/step_writer.hpp"

namespace plated::adjoint {

/// The inputs of a gather that are numbers: its table and, where some slices are not observed, what is read there.
[[nodiscard]] std::vector<std::size_t> numbers_of(const Step& gather);

/// A gather of other numbers, over the dims of its loops without `product`, in double. `rest` may be `none` where all
/// slices are observed.
ValueId gather(StepWriter& writer, const Step& step, ValueId table, ValueId rest, const SortedSet& product,
               Semiring semiring);

/// The mass of a gather's slices, before any product over them, as the mass of one of its numbers, over these dims.
ValueId scatter(StepWriter& writer, const Step& step, std::size_t input, ValueId mass, std::vector<DimId> dims);

/// The product over plates that a gather does besides, as a step of its own on a value that is written first.
[[nodiscard]] Step product_of_slices(StepWriter& writer, const Step& step, Semiring semiring);

}  // namespace plated::adjoint
