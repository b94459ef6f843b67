// What the mass of a piece's result says about its factors and variables.
#pragma once

#include <memory>
#include <vector>

#include "chain/sweep.hpp"

namespace plated::chain {

/// A marginal that is asked of a piece: over dims of a slice, the chain and rows among them.
struct Probe {
  std::vector<DimId> axes;
  Tensor place;  // zeros
};

struct PieceAnswers {
  std::vector<Tensor> factors;  // by factor of the graph; without data: not wanted; else zeros
  std::vector<Probe> probes;
};

/// The first half of a question about a piece runs its messages; the second, once the rest has given the result a mass,
/// shares it among the slices.
///
/// In log space each slice shares the mass by its own total, for each state of the outer variables: what rounding does
/// to messages along the chain cancels.
class PieceGradient {
 public:
  /// Where it `adds`, others put something into the same answers, and may ask for blocks themselves.
  PieceGradient(const Program& program, std::size_t piece, std::span<const Tensor> operands, Semiring semiring,
                const Call& call, PieceAnswers answers, bool adds = false);

  [[nodiscard]] Tensor result();
  [[nodiscard]] bool is_asked() const;
  /// Adds to the answers. The mass is the derivative by the result, in double.
  void answer(const Tensor& mass);

  /// For those who share masses of their own: weights are [slices, rows, outer].
  void ask_slices(const Block& block, const Tensor& weights, double sign);
  void ask_start(const Tensor& weight, double sign);
  [[nodiscard]] Sweep& sweep() { return *sweep_; }
  [[nodiscard]] const Tensor& last_result() const { return result_; }
  [[nodiscard]] bool wants(std::size_t factor) const { return answers_.factors[factor].data() != nullptr; }
  [[nodiscard]] const Tensor& place(std::size_t factor) const { return answers_.factors[factor]; }

 private:
  [[nodiscard]] bool is_smoothable() const;
  void smooth(const Tensor& context, const Tensor& weight);
  void share(const Tensor& context, const Tensor& weight, double sign);
  void ask_states(const Block& block, const Tensor& weights, double sign);

  const Program& program_;
  std::size_t index_;
  const Piece& piece_;
  std::span<const Tensor> operands_;
  Semiring semiring_;
  const Call& call_;
  PieceAnswers answers_;
  bool adds_;
  std::vector<std::size_t> slice_probes_;  // indices of probes that need the slice's factors
  std::vector<std::size_t> state_probes_;  // of those about a linked variable alone
  std::unique_ptr<Sweep> sweep_;
  bool smooths_ = false;  // in real space, where that holds the messages
  Tensor result_;
};

/// place += scale · values, entry by entry.
void add_to(const Tensor& place, const Tensor& values, double scale);

}  // namespace plated::chain
