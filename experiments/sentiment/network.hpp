// The four networks of [TVE] Table 3: a bidirectional LSTM, alone or with a conditional random field of words.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "sentiment/sentihood.hpp"

namespace experiments {

/// Potentials of the field: G [batch, word, z] and F [batch, word, y, z].
struct Potentials {
  at::Tensor g, f;
  at::Tensor lengths;  // [batch]
};

class Network : public torch::nn::Module {
 public:
  /// "LSTM-Final", "CRF-LSTM-Diag", "CRF-LSTM-LSTM", "CRF-Emb-LSTM". Throws std::runtime_error.
  Network(const std::string& name, const at::Tensor& vectors);

  /// Scores of the opinions, [batch, 3]; of fields Σ_t log Σ_z exp(G_t(z) + F_t(y, z)), by Plated.
  [[nodiscard]] at::Tensor scores(const std::vector<Example>& examples);
  /// Only of fields.
  [[nodiscard]] Potentials potentials(const std::vector<Example>& examples);
  [[nodiscard]] std::vector<Opinion> predict(const std::vector<Example>& examples);
  [[nodiscard]] bool is_field() const { return kind_ != Kind::final_state; }

 private:
  enum class Kind : std::uint8_t { final_state, diagonal, lstm, embedding };
  struct Encoded {
    at::Tensor vectors, outputs, last, pair, lengths;
  };
  [[nodiscard]] Encoded encode(const std::vector<Example>& examples);

  Kind kind_;
  at::Tensor vectors_;
  torch::nn::LSTM lstm_;
  at::Tensor start_;                      // [pairs, h and c, layers and directions, 50]
  at::Tensor final_weight_, final_bias_;  // of the last states
  at::Tensor word_weight_;                // G: [3, 100], or [pairs, 3, 100]
  at::Tensor diagonal_;                   // F: of the diagonal field
  at::Tensor of_none_, pair_weight_;      // F: of the others, and M: [100, 4]
};

}  // namespace experiments
