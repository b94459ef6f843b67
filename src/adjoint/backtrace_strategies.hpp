// The two ways to choose for a step: row by row, or from tables that many samples share. Both find the same states.
#pragma once

#include "adjoint/backtrace.hpp"
#include "adjoint/backtrace_states.hpp"
#include "adjoint/backtrace_step.hpp"

namespace plated::adjoint {

/// Each also says how many bytes its workers take; `step` then need not have data.
[[nodiscard]] std::int64_t row_by_row_bytes(const ChoiceStep& step, const Choice& choice, int threads);
void choose_row_by_row(const ChoiceStep& step, const Choice& choice, int threads, ChosenStates& states);

/// Whether tables pay: draws outnumber the rows, which are not too many to hold.
[[nodiscard]] bool tables_pay(const ChoiceStep& step, const Choice& choice);
[[nodiscard]] std::int64_t table_bytes(const ChoiceStep& step, const Choice& choice, int threads);
void draw_from_tables(const ChoiceStep& step, const Choice& choice, int threads, ChosenStates& states);

}  // namespace plated::adjoint
