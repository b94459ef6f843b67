// The two ways to choose for a step: row by row, or from tables that many samples share. Both find the same states.
#pragma once

#include <memory>

#include "adjoint/backtrace.hpp"
#include "adjoint/backtrace_states.hpp"
#include "adjoint/backtrace_step.hpp"

namespace plated::adjoint {

/// Chooses for all slices of a step, as often as it is run: the step may be moved along a chain in between. It refers
/// to what it was made of.
class Chooser {
 public:
  virtual ~Chooser() = default;
  virtual void run() = 0;
};

/// A step and what chooses for it, where that is done more than once.
struct KeptChoice {
  ChoiceStep step;
  std::unique_ptr<Chooser> chooser;
};

/// Each also says how many bytes its workers take; `step` then need not have data.
[[nodiscard]] std::int64_t row_by_row_bytes(const ChoiceStep& step, const Choice& choice, int threads);
[[nodiscard]] std::unique_ptr<Chooser> row_by_row(const ChoiceStep& step, const Choice& choice, int threads,
                                                  ChosenStates& states);

/// Whether tables pay: draws outnumber the rows, which are not too many to hold.
[[nodiscard]] bool tables_pay(const ChoiceStep& step, const Choice& choice);
[[nodiscard]] std::int64_t table_bytes(const ChoiceStep& step, const Choice& choice, int threads);
[[nodiscard]] std::unique_ptr<Chooser> from_tables(const ChoiceStep& step, const Choice& choice, int threads,
                                                   ChosenStates& states);

/// The way that pays, its bytes, and its work: in visits of a state, about.
[[nodiscard]] std::unique_ptr<Chooser> chooser(const ChoiceStep& step, const Choice& choice, int threads,
                                               ChosenStates& states);
[[nodiscard]] std::int64_t chooser_bytes(const ChoiceStep& step, const Choice& choice, int threads);
[[nodiscard]] double work_of(const ChoiceStep& step, const Choice& choice);

}  // namespace plated::adjoint
