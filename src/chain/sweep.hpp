// The messages of one piece: once along the chain, and back again block by block.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "chain/program.hpp"

namespace plated::chain {

/// Slices that are asked at once, with the messages that meet in them.
struct Block {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::vector<Tensor> operands;  // of the piece's factors, in order, with these slices only
  /// At the states before, between and after the slices: [count + 1, rows, outer, linked], and their scalars.
  Tensor forward;
  Tensor backward;
  const double* forward_offset = nullptr;
  const double* backward_offset = nullptr;
  /// [count, rows, outer]: 1 where a slice exists.
  Tensor exists;

  /// The messages before each slice, and after each slice.
  [[nodiscard]] Tensor before() const;
  [[nodiscard]] Tensor after() const;
};

/// Slices with the messages of the piece's own direction, for those who trace them back.
struct TraceBlock {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::vector<Tensor> factors;  // of the body, in order, with these slices only
  Tensor messages;              // at the states before, between and after the slices, without their scalars
};

/// How much of a piece's messages is kept, and how many slices are asked at once.
struct SweepSize {
  std::int64_t block = 1;
  bool keeps_all = true;  // else one message for each block, and the others are computed again
};

class Sweep {
 public:
  /// `size.block` slices are prepared and asked at once.
  Sweep(const Program& program, std::size_t piece, std::span<const Tensor> operands, Semiring semiring,
        const Call& call, SweepSize size);

  /// Runs the messages along the chain; the piece's factor for the rest, in double.
  [[nodiscard]] Tensor result(bool will_return);

  /// Runs messages back from a context of the result's shape, in double, and shows each block.
  void back(const Tensor& context, const std::function<void(const Block&)>& visit);
  /// From now on messages of a direction take up what is given at each state they come to, [slices + 1, rows, states]:
  /// logarithms, or numbers in semirings without offsets. Null: no more. Those of the piece's own direction then begin
  /// with it, too.
  void take_up(bool forward, const std::vector<double>* given) { taken_up_[forward] = given; }

  /// Shows each block, against the direction of result(true), which must have run.
  void trace(const std::function<void(const TraceBlock&)>& visit);
  /// Whether messages of both directions are fused scans in log space, so that smooth() can be asked.
  [[nodiscard]] bool is_fused();
  /// The factors of a fused body, by number among the body's.
  [[nodiscard]] const engine::Recursion::Fused& fused() { return *recursion(true).fused(); }
  /// From now on messages are kept in real space, for smooth().
  void keep_linear();
  /// Runs messages back and answers slices in real space; shows the blocks that it does not hold, to be asked exactly.
  /// Places hold all slices; `pairs` is added to, or null.
  void smooth(const Tensor& context, const std::vector<double>& weight,
              const std::vector<engine::Smoothing::Place>& places, double* pairs,
              const std::function<void(const Block&)>& exactly);

  /// The message that back() or smooth() ended with, over the start's variables, without its scalars.
  [[nodiscard]] const Tensor& returned() const { return message_; }

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t states() const { return states_; }
  [[nodiscard]] std::int64_t slices() const { return slices_; }
  /// How many slices of a row exist.
  [[nodiscard]] std::int64_t length(std::int64_t row) const {
    return lengths_.empty() ? slices_ : lengths_[static_cast<std::size_t>(row)];
  }
  [[nodiscard]] SweepSize size() const { return size_; }
  [[nodiscard]] Dtype dtype() const { return dtype_; }
  [[nodiscard]] const Piece& piece() const { return piece_; }

 private:
  /// Of one block, as the recursion wants them.
  struct Slices {
    std::vector<Tensor> operands;  // of the piece's factors
    std::vector<Tensor> prepared;
    std::vector<double> factor;  // [slices, rows]; empty: none
  };
  [[nodiscard]] std::int64_t blocks() const { return (slices_ + size_.block - 1) / size_.block; }
  [[nodiscard]] std::vector<Tensor> narrowed_operands(std::int64_t first, std::int64_t count) const;
  [[nodiscard]] Slices slices_of(std::int64_t first, std::int64_t count);
  [[nodiscard]] engine::Recursion& recursion(bool forward);
  void first_message();
  /// Throws ValueError where what messages are made of has overflowed: scans take NaN for zero, and the best entry
  /// away.
  void check_numbers(const Tensor& made, const char* what) const;
  void run(bool forward, std::int64_t first, std::int64_t count, const Slices& slices, void* trace, double* offsets,
           bool linear = false);
  /// Some of the slices, from the one numbered `begin`.
  void run_stretch(bool forward, std::int64_t first, std::int64_t begin, std::int64_t count, const Slices& slices,
                   void* trace, double* offsets, bool linear);
  void add_to_message(const double* given);
  [[nodiscard]] std::vector<engine::BodyOperand> body_operands(const Slices& slices, std::int64_t first,
                                                               std::int64_t direction) const;
  void write_linear(std::byte* slot) const;
  [[nodiscard]] Tensor exists(std::int64_t first, std::int64_t count) const;
  /// A block's messages once more, from the one that was kept.
  void run_again(std::int64_t block, std::int64_t count, const Slices& slices, std::byte* trace, double* offsets,
                 bool linear = false);
  void start_back(const Tensor& context);
  [[nodiscard]] const Tensor& tensor_of(const BodyFactor& factor, const Slices& slices) const;
  [[nodiscard]] Tensor trace_tensor(void* data, std::int64_t count) const;

  const Program& program_;
  const Piece& piece_;
  const Body& body_;
  std::size_t index_;
  std::span<const Tensor> operands_;
  Semiring semiring_;
  const Call& call_;
  SweepSize size_;
  Dtype dtype_;
  std::int64_t slices_;
  std::int64_t rows_ = 1;
  std::int64_t states_ = 1;
  std::vector<std::int64_t> lengths_;            // of each row; empty: all slices exist
  std::optional<StepPool::Lease> step_[2];       // [forward]
  std::vector<std::optional<Tensor>> constant_;  // preparations that do not vary
  std::vector<std::vector<double>> constant_offset_;
  const std::vector<double>* taken_up_[2] = {nullptr, nullptr};  // [forward]
  Tensor message_;
  std::vector<double> offset_;
  std::vector<std::byte> kept_;  // messages: all of them, or one for each block
  std::vector<double> kept_offset_;
  bool keeps_all_linear_ = false;
  std::vector<std::byte> kept_linear_;  // all messages, in real space
};

/// The scalars of the messages that meet in each slice; the semiring's zero where there is no slice.
[[nodiscard]] Tensor scalars_of(const Block& block, std::int64_t rows, Semiring semiring);

/// What a sweep may take: under a memory limit as little as √slices messages; `asked_bytes` is what asking one slice
/// takes.
[[nodiscard]] SweepSize sweep_size(const Program& program, std::size_t piece, Dtype dtype, double asked_bytes,
                                   std::int64_t memory_limit);

}  // namespace plated::chain
