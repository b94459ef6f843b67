// The states of a piece's linked variables, slice after slice against the direction of its messages.
#pragma once

#include <cstdint>
#include <vector>

#include "chain/decode_states.hpp"
#include "chain/decode_weights.hpp"
#include "chain/sweep.hpp"

namespace plated::chain {

class Path {
 public:
  /// The states of the piece's outer variables and of its result's ends are known.
  Path(const Program& program, std::size_t piece, const adjoint::Choice& choice, const Call& call, States& states);

  /// Chooses all others of the linked variables; the sweep has run.
  void trace(Sweep& sweep);

 private:
  class Worker;
  /// Where a variable's states lie: sample · per_sample + row[…] + slice · step.
  struct Answer {
    std::int64_t* values = nullptr;
    std::int64_t per_sample = 0;
    std::vector<std::int64_t> row;
    std::int64_t step = 0;
  };
  [[nodiscard]] Answer answer(DimId v);
  void begin();
  void choose(const TraceBlock& block);
  void end();

  const Program& program_;
  std::size_t index_;
  const Piece& piece_;
  const adjoint::Choice& choice_;
  const Call& call_;
  States& states_;
  SliceChoice slice_;
  std::int64_t rows_ = 1;
  std::int64_t pairs_ = 1;             // of a sample and a row, the rows inside
  std::vector<std::int64_t> lengths_;  // [row]
  std::vector<Answer> outer_;
  std::vector<Answer> known_;
  std::vector<Answer> chosen_;
  std::vector<std::uint32_t> at_;  // [pair, link]: the states where the trace has arrived
};

}  // namespace plated::chain
