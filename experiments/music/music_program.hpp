// The music models of [TVE] Table 1 as probabilistic programs, with tables or networks for emissions.
#pragma once

#include <torch/torch.h>

#include <vector>

#include <plated/torch/torch.hpp>

#include "music/table_model.hpp"

namespace experiments {

/// Some sequences: the steps that exist one after another, and where they stand in [sequence, longest].
struct NoteBatch {
  at::Tensor notes, before;  // [steps, 88], floating
  at::Tensor places;         // [steps]
  at::Tensor lengths;        // [sequences]
  std::int64_t longest = 0;

  NoteBatch(const PianoRolls& rolls, const std::vector<std::int64_t>& sequences, at::ScalarType type);
};

/// Parameters of a model. Tables start from those of table_model() with the same seed, and the
/// notes of networks as frequent as they are.
class MusicParameters : public plated::torch::Parameters {
 public:
  MusicParameters(const MusicModelName& name, std::int64_t states, std::int64_t channels, const PianoRolls& train,
                  std::uint32_t seed);

  /// ln p of the notes of each step given its hidden states: [steps, states of all hidden variables]. A network is run
  /// for one state at a time, unless it is not to be `chunked`.
  [[nodiscard]] at::Tensor scores(const NoteBatch& batch, bool chunked = true) const;
  /// ln p of a batch.
  [[nodiscard]] at::Tensor log_likelihood(const NoteBatch& batch, const plated::RunOptions& options) const;
  /// The numbers of notes and networks.
  [[nodiscard]] at::ScalarType type() const { return name_.neural ? at::kFloat : at::kDouble; }

 private:
  void add_network(std::int64_t channels, const PianoRolls& train);

  MusicModelName name_;
  std::int64_t states_;  // of one hidden variable
};

}  // namespace experiments
