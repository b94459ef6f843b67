// Gradients of outputs that tell a piece's slices apart.
#pragma once

#include <span>
#include <vector>

#include "chain/piece_gradient.hpp"

namespace plated::chain {

/// Such an output depends on a slice's factors and on the two messages that meet in it; and through the messages on
/// all other slices, on the start and on what lies outside. Each slice's own derivatives by its two messages are kept
/// here, and flow on along the chain: against the direction in which the message had come, taking up the other slices'
/// as they pass them.
class SliceOutputs {
 public:
  /// `outputs` are numbers of the graph's; `gradient` has run its messages.
  SliceOutputs(const Program& program, std::size_t piece, std::vector<std::size_t> outputs,
               std::span<const Tensor> operands, Semiring semiring, const Call& call, PieceGradient& gradient);

  /// Writes the outputs, given what lies outside of the piece, and adds what slices say of their own factors, and of
  /// all factors by way of the messages that return. Places are by output; cotangents, too.
  void ask(const Tensor& context, const std::vector<Tensor>& places, std::span<const Tensor> cotangents);
  /// The derivative by the context: in log space by its logarithm.
  [[nodiscard]] const Tensor& by_context() const { return by_context_; }
  /// Adds what all factors say by way of the piece's own messages; `mass` is the derivative by the result, in double.
  void answer(const Tensor& mass);

 private:
  /// Derivatives by the messages of a direction, at each state that slices use: [slices + 1, rows, states].
  struct Flow {
    std::vector<double> derivative;
    std::vector<double> message;  // its logarithm; empty in the real semiring
  };
  void ask_block(const Block& block, const std::vector<Tensor>& places, std::span<const Tensor> cotangents);
  /// Those of a block that begins with slice `first`: by the messages before its slices, or one state later.
  void keep(Flow& flow, const Tensor& derivative, const Tensor& messages, const double* offsets, std::int64_t first,
            std::int64_t later) const;
  void flow_from_context(const Tensor& context);
  /// The part of a flow that has a sign, as messages take it up.
  [[nodiscard]] std::vector<double> taken_up(const Flow& flow, double sign) const;
  /// What passes each slice in a direction, for each row: what has begun at one end and at the states before.
  [[nodiscard]] std::vector<double> passing(const Flow& flow, double sign, bool forward,
                                            std::vector<double> begin) const;
  [[nodiscard]] std::vector<double> signs() const;
  /// What passes the slices of a block that exist.
  [[nodiscard]] Tensor of_block(const Block& block, const std::vector<double>& weights) const;

  const Program& program_;
  std::size_t index_;
  const Piece& piece_;
  std::vector<std::size_t> outputs_;
  std::span<const Tensor> operands_;
  Semiring semiring_;
  const Call& call_;
  PieceGradient& gradient_;
  std::int64_t rows_;
  std::int64_t states_;
  std::int64_t slices_;
  Flow by_[2];  // [forward]
  Tensor by_context_;
};

}  // namespace plated::chain
