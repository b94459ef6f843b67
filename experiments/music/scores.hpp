// Log-likelihoods of notes given the hidden states of their step, in matrices: a row for each distinct pair of a step's
// notes and those before, and a column for each combination of hidden states.
#pragma once

#include <torch/torch.h>

#include "music/music_program.hpp"

namespace experiments {

/// Notes are on with the chances of a table: `logits` is [88, states], or [2, 88, states] by the note's own state in
/// the step before. A product of matrices, so that no table is copied for each step.
[[nodiscard]] inline at::Tensor table_scores(const at::Tensor& logits, const NoteBatch& batch) {
  const at::Tensor limited = logits.clamp(-27.63, 27.63);  // probabilities in [1e-12, 1 − 1e-12]
  const at::Tensor off = -at::softplus(limited);
  if (logits.dim() == 2) return at::matmul(batch.notes, limited) + off.sum(0);
  const at::Tensor of_before = off[0].sum(0) + at::matmul(batch.before, off[1] - off[0]);
  const at::Tensor held = batch.notes * batch.before.index_select(0, batch.context);
  return at::matmul(batch.notes, limited[0]) + at::matmul(held, limited[1] - limited[0]) +
         of_before.index_select(0, batch.context);
}

/// Notes are on with the chances of a network: logits are ReLU(base[context] + offset[state]) · weight + bias. One
/// state at a time, and again in the backward pass, so that memory is for [contexts, 88] and not for [contexts, states,
/// 88]. A note that is on adds its logit, `on` of these; of all 88 the chances to be off are summed once for each
/// context.
class NetworkScores : public torch::autograd::Function<NetworkScores> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* saved, const at::Tensor& base, const at::Tensor& offsets,
                            const at::Tensor& weight, const at::Tensor& bias, const at::Tensor& context,
                            const at::Tensor& on, const at::Tensor& of) {
    saved->save_for_backward({base, offsets, weight, bias, context, on, of});
    at::Tensor scores = at::empty({offsets.size(0), context.size(0)}, base.options());
    for (std::int64_t state = 0; state < offsets.size(0); ++state) {
      const at::Tensor logits = at::addmm(bias, (base + offsets[state]).relu_(), weight);
      at::Tensor row = scores[state];
      at::index_select_out(row, at::softplus(logits).sum(1).neg_(), 0, context);
      row.index_add_(0, of, logits.flatten().index_select(0, on));
    }
    return scores.t().contiguous();
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               const torch::autograd::tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &base = saved[0], &offsets = saved[1], &weight = saved[2], &bias = saved[3];
    const at::Tensor &of_pair = saved[4], &on = saved[5], &of = saved[6];
    at::Tensor to_base = at::zeros_like(base), to_offsets = at::empty_like(offsets), to_weight = at::zeros_like(weight),
               to_bias = at::zeros_like(bias);
    const at::Tensor of_states = gradients[0].t().contiguous();
    for (std::int64_t state = 0; state < offsets.size(0); ++state) {
      const at::Tensor gradient = of_states[state];
      const at::Tensor of_context = at::zeros({base.size(0)}, base.options()).index_add_(0, of_pair, gradient);
      const at::Tensor hidden = (base + offsets[state]).relu_();
      at::Tensor wrong = at::addmm(bias, hidden, weight).sigmoid_().mul_(of_context.neg().unsqueeze(1));
      wrong.flatten().index_add_(0, on, gradient.index_select(0, of));
      to_weight.addmm_(hidden.t(), wrong);
      to_bias += wrong.sum(0);
      const at::Tensor to_hidden = at::mm(wrong, weight.t()) * (hidden > 0);
      to_base += to_hidden;
      to_offsets[state].copy_(to_hidden.sum(0));
    }
    return {to_base, to_offsets, to_weight, to_bias, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace experiments
