// Log-likelihoods of notes given the hidden states of their step, in matrices: a row for each step of each sequence and
// a column for each combination of hidden states.
#pragma once

#include <torch/torch.h>

namespace experiments {

/// Notes are on with the chances of a table: `logits` is [88, states], or [2, 88, states] by the note's own state in
/// the step before. `notes` and `before` are [rows, 88]. A product of matrices, so that no table is copied for each
/// step.
[[nodiscard]] inline at::Tensor table_scores(const at::Tensor& logits, const at::Tensor& notes,
                                             const at::Tensor& before) {
  const at::Tensor limited = logits.clamp(-27.63, 27.63);  // probabilities in [1e-12, 1 − 1e-12]
  const at::Tensor off = -at::softplus(limited);
  if (logits.dim() == 2) return at::matmul(notes, limited) + off.sum(0);
  const at::Tensor silent = 1 - before;
  return at::matmul(notes * silent, limited[0]) + at::matmul(notes * before, limited[1]) + at::matmul(silent, off[0]) +
         at::matmul(before, off[1]);
}

/// Notes are on with the chances of a network: logits are ReLU(base[row] + offset[state]) · weight + bias. One state
/// at a time, and again in the backward pass, so that memory is for [rows, 88] and not for [rows, states, 88].
class NetworkScores : public torch::autograd::Function<NetworkScores> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& base,
                            const at::Tensor& offsets, const at::Tensor& weight, const at::Tensor& bias,
                            const at::Tensor& notes) {
    context->save_for_backward({base, offsets, weight, bias, notes});
    at::Tensor scores = at::empty({base.size(0), offsets.size(0)}, base.options());
    for (std::int64_t state = 0; state < offsets.size(0); ++state) {
      const at::Tensor logits = at::addmm(bias, (base + offsets[state]).relu_(), weight);
      scores.select(1, state).copy_((notes * logits - at::softplus(logits)).sum(1));
    }
    return scores;
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               const torch::autograd::tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &base = saved[0], &offsets = saved[1], &weight = saved[2], &bias = saved[3], &notes = saved[4];
    at::Tensor to_base = at::zeros_like(base), to_offsets = at::empty_like(offsets), to_weight = at::zeros_like(weight),
               to_bias = at::zeros_like(bias);
    for (std::int64_t state = 0; state < offsets.size(0); ++state) {
      const at::Tensor hidden = (base + offsets[state]).relu_();
      const at::Tensor wrong =
          (notes - at::addmm(bias, hidden, weight).sigmoid_()) * gradients[0].select(1, state).unsqueeze(1);
      to_weight.addmm_(hidden.t(), wrong);
      to_bias += wrong.sum(0);
      const at::Tensor to_hidden = at::mm(wrong, weight.t()) * (hidden > 0);
      to_base += to_hidden;
      to_offsets[state].copy_(to_hidden.sum(0));
    }
    return {to_base, to_offsets, to_weight, to_bias, at::Tensor()};
  }
};

}  // namespace experiments
