// The networks of sentiment: encodes sentences, and sums the fields by Plated's einsum.
#include "sentiment/network.hpp"

#include <cmath>
#include <map>
#include <stdexcept>

#include <plated/torch/torch.hpp>

namespace experiments {
namespace {

constexpr std::int64_t units = 50, layers = 2, length = 100;

at::Tensor uniform(std::vector<std::int64_t> shape, double limit) { return limit * (2 * at::rand(shape) - 1); }

torch::nn::LSTMOptions lstm_options() {
  return torch::nn::LSTMOptions(length, units).num_layers(layers).bidirectional(true).batch_first(true).dropout(0.2);
}

}  // namespace

Network::Network(const std::string& name, const at::Tensor& vectors)
    : kind_(), vectors_(vectors), lstm_(register_module("lstm", torch::nn::LSTM(lstm_options()))) {
  static const std::map<std::string, Kind> kinds{{"LSTM-Final", Kind::final_state},
                                                 {"CRF-LSTM-Diag", Kind::diagonal},
                                                 {"CRF-LSTM-LSTM", Kind::lstm},
                                                 {"CRF-Emb-LSTM", Kind::embedding}};
  const auto found = kinds.find(name);
  if (found == kinds.end()) throw std::runtime_error("there is no model " + name);
  kind_ = found->second;
  start_ = register_parameter("start", at::randn({pairs, 2, 2 * layers, units}));
  const double limit = 1 / std::sqrt(static_cast<double>(length));
  switch (kind_) {
    case Kind::final_state:
      final_weight_ = register_parameter("final weight", uniform({length, opinions}, limit));
      final_bias_ = register_parameter("final bias", uniform({opinions}, limit));
      break;
    case Kind::diagonal:
      word_weight_ = register_parameter("word weight", uniform({opinions, length}, limit));
      diagonal_ = register_parameter("diagonal", at::full({opinions}, 0.1));
      break;
    case Kind::lstm:
    case Kind::embedding:
      word_weight_ = register_parameter("word weight", at::randn({pairs, opinions, length}));
      of_none_ = register_parameter("of none", at::full({1}, 0.1));
      pair_weight_ = register_parameter("pair weight", uniform({length, 4}, limit));
      break;
  }
}

Network::Encoded Network::encode(const std::vector<Example>& examples) {
  namespace rnn = torch::nn::utils::rnn;
  std::vector<std::int64_t> lengths, pair;
  std::int64_t longest = 0;
  for (const Example& example : examples) {
    lengths.push_back(std::ssize(example.sentence->rows));
    pair.push_back(example.pair);
    longest = std::max(longest, lengths.back());
  }
  const auto count = static_cast<std::int64_t>(examples.size());
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count * longest), 0);
  for (std::size_t n = 0; n < examples.size(); ++n) {
    std::ranges::copy(examples[n].sentence->rows, rows.begin() + static_cast<std::ptrdiff_t>(n) * longest);
  }
  Encoded made;
  made.lengths = at::tensor(lengths, at::kLong);
  made.pair = at::tensor(pair, at::kLong);
  made.vectors = at::dropout(vectors_.index_select(0, at::tensor(rows, at::kLong)).reshape({count, longest, length}),
                             0.2, is_training());
  const at::Tensor start = start_.index_select(0, made.pair).permute({1, 2, 0, 3}).contiguous();
  const auto packed = rnn::pack_padded_sequence(made.vectors, made.lengths, true, false);
  const auto [outputs, state] = lstm_->forward_with_packed_input(packed, std::make_tuple(start[0], start[1]));
  made.outputs = std::get<0>(rnn::pad_packed_sequence(outputs, true));
  const at::Tensor last = std::get<0>(state);  // [layers and directions, batch, 50]
  made.last = at::cat({last[2 * layers - 2], last[2 * layers - 1]}, 1);
  return made;
}

Potentials Network::potentials(const std::vector<Example>& examples) {
  const Encoded encoded = encode(examples);
  const std::int64_t count = encoded.outputs.size(0), longest = encoded.outputs.size(1);
  if (kind_ == Kind::diagonal) {
    const at::Tensor f = at::diag(diagonal_).expand({count, longest, opinions, opinions});
    return {at::matmul(encoded.outputs, word_weight_.t()), f, encoded.lengths};
  }
  const at::Tensor& words = kind_ == Kind::embedding ? encoded.vectors : encoded.outputs;
  const at::Tensor g = at::matmul(words, word_weight_.index_select(0, encoded.pair).transpose(1, 2));
  const at::Tensor m = at::matmul(encoded.outputs, pair_weight_).reshape({count, longest, 2, 2});
  const at::Tensor zero = at::zeros({count, longest, 1, 2});
  const at::Tensor top = at::cat({of_none_.expand({count, longest, 1, 1}), zero}, 3);
  const at::Tensor f = at::cat({top, at::cat({zero.transpose(2, 3), m}, 3)}, 2);
  return {g, f, encoded.lengths};
}

at::Tensor Network::scores(const std::vector<Example>& examples) {
  if (!is_field()) {
    const at::Tensor last = encode(examples).last;
    return at::addmm(final_bias_, at::dropout(last, 0.2, is_training()), final_weight_);
  }
  const Potentials p = potentials(examples);
  // A plate of words whose number differs: what lies beyond a sentence's end is never read.
  return plated::torch::einsum(
      "btz,btyz->by", {p.g.contiguous(), p.f.contiguous()},
      {.plates = "t", .batch = "b", .threads = 1, .lengths = {{"t", plated::torch::integers(p.lengths)}}});
}

std::vector<Opinion> Network::predict(const std::vector<Example>& examples) {
  const torch::NoGradGuard no_gradients;
  const bool training = is_training();
  eval();
  std::vector<Opinion> found;
  constexpr std::size_t batch = 150;
  for (std::size_t begin = 0; begin < examples.size(); begin += batch) {
    const auto first = examples.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = first + static_cast<std::ptrdiff_t>(std::min(batch, examples.size() - begin));
    const at::Tensor best = scores({first, last}).argmax(1);
    for (std::int64_t k = 0; k < best.size(0); ++k) found.push_back(static_cast<Opinion>(best[k].item<std::int64_t>()));
  }
  train(training);
  return found;
}

}  // namespace experiments
