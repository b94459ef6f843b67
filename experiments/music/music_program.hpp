// The music models of [TVE] Table 1 as probabilistic programs, with tables or networks for emissions.
#pragma once

#include <torch/torch.h>

#include <vector>

#include <plated/torch/torch.hpp>

#include "music/table_model.hpp"

namespace experiments {

/// The steps of a set by numbers: equal notes have equal ones.
class NumberedSteps {
 public:
  explicit NumberedSteps(const PianoRolls& rolls);

  [[nodiscard]] const PianoRolls& rolls() const { return rolls_; }
  /// The number of a step's notes, counted over all sequences, and of those before it.
  [[nodiscard]] std::int64_t notes(std::int64_t step) const { return number_[static_cast<std::size_t>(step)]; }
  [[nodiscard]] std::int64_t before(std::int64_t step) const { return before_[static_cast<std::size_t>(step)]; }
  /// 88 floating notes of each of these numbers.
  [[nodiscard]] at::Tensor rows(const std::vector<std::int64_t>& numbers, at::ScalarType type) const;
  /// The first step of each sequence.
  [[nodiscard]] std::int64_t begin(std::int64_t sequence) const { return begins_[static_cast<std::size_t>(sequence)]; }

 private:
  const PianoRolls& rolls_;
  std::vector<std::int64_t> number_, before_, begins_;
  std::vector<const std::uint8_t*> distinct_;  // [number]: the 88 bytes
};

/// Some sequences. A step's score depends on its notes and, unless the model is blind to them, on those before: few
/// pairs of these are distinct (of Nottingham one in seven steps), and fewer notes before (one in 27), so that scores
/// are computed once for each.
struct NoteBatch {
  at::Tensor before;   // [contexts, 88], floating: the distinct notes before; silence alone for a blind model
  at::Tensor notes;    // [pairs, 88]
  at::Tensor context;  // [pairs]: a row of `before`
  at::Tensor on, of;   // [notes that are on in `notes`]: where each stands in [contexts, 88], and its pair
  std::int64_t steps = 0;

  /// Sequences of about equal length: chains run to the end of the longest.
  struct Group {
    at::Tensor pair;     // [sequences · longest]: a row of `notes`; 0 past the end of a sequence
    at::Tensor lengths;  // [sequences]
    std::int64_t longest = 0;
  };
  std::vector<Group> groups;

  NoteBatch(const NumberedSteps& steps, const std::vector<std::int64_t>& sequences, bool blind, at::ScalarType type);
};

/// Parameters of a model. Tables start from those of table_model() with the same seed, and the
/// notes of networks as frequent as they are.
class MusicParameters : public plated::torch::Parameters {
 public:
  MusicParameters(const MusicModelName& name, std::int64_t states, std::int64_t channels, const PianoRolls& train,
                  std::uint32_t seed);

  /// ln p of the notes of each pair given the hidden states: [pairs, states of all hidden variables]. A network is run
  /// for one state at a time, unless it is not to be `chunked`.
  [[nodiscard]] at::Tensor scores(const NoteBatch& batch, bool chunked = true) const;
  /// ln p of a batch, and of a group of it under the scores of its pairs.
  [[nodiscard]] at::Tensor log_likelihood(const NoteBatch& batch, const plated::RunOptions& options) const;
  [[nodiscard]] at::Tensor log_likelihood(const NoteBatch::Group& group, const at::Tensor& of_pairs,
                                          const plated::RunOptions& options) const;
  /// The numbers of notes and networks.
  [[nodiscard]] at::ScalarType type() const { return name_.neural ? at::kFloat : at::kDouble; }
  [[nodiscard]] NoteBatch batch(const NumberedSteps& steps, const std::vector<std::int64_t>& sequences) const {
    return {steps, sequences, !name_.neural && !name_.autoregressive, type()};
  }

 private:
  void add_network(std::int64_t channels, const PianoRolls& train);

  MusicModelName name_;
  std::int64_t states_;  // of one hidden variable
};

}  // namespace experiments
