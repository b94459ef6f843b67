// Differentiates outputs of slices, and lets the derivatives by messages flow along the chain.
#include "chain/slice_outputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plated::chain {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

}  // namespace

SliceOutputs::SliceOutputs(const Program& program, std::size_t piece, std::vector<std::size_t> outputs,
                           std::span<const Tensor> operands, Semiring semiring, const Call& call,
                           PieceGradient& gradient)
    : program_(program),
      index_(piece),
      piece_(program.pieces().pieces[piece]),
      outputs_(std::move(outputs)),
      operands_(operands),
      semiring_(semiring),
      call_(call),
      gradient_(gradient),
      rows_(gradient.sweep().rows()),
      states_(gradient.sweep().states()),
      slices_(gradient.sweep().slices()) {}

void SliceOutputs::ask(const Tensor& context, const std::vector<Tensor>& places, std::span<const Tensor> cotangents) {
  const auto entries = static_cast<std::size_t>((slices_ + 1) * rows_ * states_);
  for (Flow& flow : by_) {
    flow.derivative.assign(entries, 0.0);
    if (semiring_ == Semiring::log) flow.message.assign(entries, minus_infinity);
  }
  gradient_.sweep().back(context, [&](const Block& block) { ask_block(block, places, cotangents); });
  flow_from_context(context);
}

void SliceOutputs::ask_block(const Block& block, const std::vector<Tensor>& places,
                             std::span<const Tensor> cotangents) {
  const FactorGraph& graph = program_.pieces().graph;
  const auto stretch = [&](const Tensor& tensor, const std::vector<DimId>& axes) {
    return narrowed(tensor, axes, piece_.chain, block.first, block.count);
  };
  SliceQuestion question{.slices = block.count, .outer_is_batch = false, .offsets = true};
  adjoint::GradientQuestion asked{.semiring = semiring_, .nonnegative = false, .reads_answers = false};
  std::vector<Tensor> answers;
  for (const std::size_t o : outputs_) {
    question.outputs.push_back(graph.outputs()[o].dims);
    answers.push_back(stretch(places[o], question.outputs.back()));
  }
  for (const std::size_t f : piece_.factors) {
    asked.wanted.push_back(gradient_.wants(f));
    if (!asked.wanted.back()) continue;
    answers.emplace_back(Dtype::float64, stretch(gradient_.place(f), graph.factors()[f].dims).shape());
  }
  asked.wanted.insert(asked.wanted.end(), {true, true, false});
  std::vector<Tensor> inputs = block.operands;
  for (const Tensor& message : {block.before(), block.after()}) {
    inputs.push_back(message);
    answers.emplace_back(Dtype::float64, message.shape());
  }
  inputs.push_back(scalars_of(block, rows_, semiring_));
  for (const std::size_t o : outputs_) inputs.push_back(stretch(cotangents[o], graph.outputs()[o].dims));
  const auto part = program_.part("slices of " + std::to_string(index_) + " " + std::to_string(block.count),
                                  [&] { return slice_graph(graph, piece_, question); });
  answers = gradient(*part, asked, std::move(answers), inputs,
                     InnerCall(call_, semiring_, piece_.chain, block.first, block.count));
  std::size_t next = outputs_.size();
  for (const std::size_t f : piece_.factors) {
    if (gradient_.wants(f)) add_to(stretch(gradient_.place(f), graph.factors()[f].dims), answers[next++], 1);
  }
  keep(by_[true], answers[next], block.forward, block.forward_offset, block.first, 0);
  keep(by_[false], answers[next + 1], block.backward, block.backward_offset, block.first, 1);
}

void SliceOutputs::keep(Flow& flow, const Tensor& derivative, const Tensor& messages, const double* offsets,
                        std::int64_t first, std::int64_t later) const {
  const std::vector<double> values = derivative.values();
  std::copy(values.begin(), values.end(), flow.derivative.begin() + (first + later) * rows_ * states_);
  if (semiring_ != Semiring::log) return;
  const std::vector<double> logs = messages.values();
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto at = static_cast<std::int64_t>(k) + later * rows_ * states_;
    const double log = logs[static_cast<std::size_t>(at)];
    flow.message[static_cast<std::size_t>(first * rows_ * states_ + at)] =
        log == minus_infinity ? log : log + offsets[at / states_];
  }
}

std::vector<double> SliceOutputs::signs() const {
  return semiring_ == Semiring::log ? std::vector<double>{1, -1} : std::vector<double>{1};
}

std::vector<double> SliceOutputs::taken_up(const Flow& flow, double sign) const {
  if (semiring_ != Semiring::log) return flow.derivative;
  std::vector<double> list(flow.derivative.size(), minus_infinity);
  for (std::size_t k = 0; k < list.size(); ++k) {
    const double part = sign * flow.derivative[k];
    if (part > 0 && flow.message[k] != minus_infinity) list[k] = std::log(part) - flow.message[k];
  }
  return list;
}

std::vector<double> SliceOutputs::passing(const Flow& flow, double sign, bool forward,
                                          std::vector<double> begin) const {
  std::vector<double> list(static_cast<std::size_t>(slices_ * rows_), 1.0);
  if (semiring_ != Semiring::log) return list;
  for (std::int64_t k = 0; k < slices_; ++k) {
    const std::int64_t slice = forward ? k : slices_ - 1 - k;
    const std::int64_t state = forward ? slice : slice + 1;
    for (std::int64_t r = 0; r < rows_; ++r) {
      for (std::int64_t s = 0; s < states_; ++s) {
        const auto at = static_cast<std::size_t>((state * rows_ + r) * states_ + s);
        if (flow.message[at] != minus_infinity) begin[r] += std::max(0.0, sign * flow.derivative[at]);
      }
      list[slice * rows_ + r] = begin[r];
    }
  }
  return list;
}

void SliceOutputs::flow_from_context(const Tensor& context) {
  const Flow& flow = by_[!piece_.forward];
  const std::vector<double> outside = context.values();
  std::vector<double> sum(outside.size(), 0.0);
  for (const double sign : signs()) {
    const std::vector<double> given = taken_up(flow, sign);
    Sweep sweep(program_, index_, operands_, semiring_, call_, gradient_.sweep().size());
    sweep.take_up(piece_.forward, &given);
    const std::vector<double> arrived = sweep.result(gradient_.is_asked()).values();
    for (std::size_t k = 0; k < sum.size(); ++k) {
      const bool log = semiring_ == Semiring::log;
      sum[k] += !log ? arrived[k] : outside[k] == minus_infinity ? 0 : sign * std::exp(arrived[k] + outside[k]);
    }
    if (!gradient_.is_asked()) continue;
    const std::vector<double> weights =
        passing(flow, sign, piece_.forward, std::vector<double>(static_cast<std::size_t>(rows_), 0.0));
    sweep.back(context, [&](const Block& block) { gradient_.ask_slices(block, of_block(block, weights), sign); });
  }
  by_context_ = Tensor::of(context.shape(), sum);
}

Tensor SliceOutputs::of_block(const Block& block, const std::vector<double>& weights) const {
  std::vector<double> values = block.exists.values();
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] *= weights[static_cast<std::size_t>(block.first * rows_) + k];
  return Tensor::of(block.exists.shape(), values);
}

void SliceOutputs::answer(const Tensor& mass) {
  if (!gradient_.is_asked()) return;
  const Flow& flow = by_[piece_.forward];
  const std::vector<double> masses = mass.values();
  const std::vector<double> result = gradient_.last_result().values();
  for (const double sign : signs()) {
    std::vector<double> context = masses;
    std::vector<double> begin(static_cast<std::size_t>(rows_), 0.0);
    for (std::size_t k = 0; k < context.size() && semiring_ == Semiring::log; ++k) {
      const double part = sign * masses[k];
      begin[k / static_cast<std::size_t>(states_)] += std::max(0.0, part);
      context[k] = part > 0 ? std::log(part) - result[k] : minus_infinity;
    }
    const std::vector<double> given = taken_up(flow, sign);
    const std::vector<double> weights = passing(flow, sign, !piece_.forward, begin);
    // At the start arrives all that has ever been taken up.
    std::vector<double> all = semiring_ == Semiring::log ? begin : std::vector<double>(begin.size(), 1.0);
    if (semiring_ == Semiring::log && slices_ > 0) {
      const std::int64_t last = piece_.forward ? 0 : slices_ - 1;
      const std::int64_t start = piece_.forward ? 0 : slices_;
      for (std::int64_t r = 0; r < rows_; ++r) {
        all[r] = weights[last * rows_ + r];
        for (std::int64_t s = 0; s < states_; ++s) {
          const auto at = static_cast<std::size_t>((start * rows_ + r) * states_ + s);
          if (flow.message[at] != minus_infinity) all[r] += std::max(0.0, sign * flow.derivative[at]);
        }
      }
    }
    Sweep& sweep = gradient_.sweep();
    sweep.take_up(!piece_.forward, &given);
    sweep.back(Tensor::of(mass.shape(), context),
               [&](const Block& block) { gradient_.ask_slices(block, of_block(block, weights), sign); });
    sweep.take_up(!piece_.forward, nullptr);
    std::vector<std::int64_t> row_shape(mass.shape().begin(),
                                        mass.shape().end() - static_cast<std::ptrdiff_t>(piece_.links.size()));
    gradient_.ask_start(Tensor::of(row_shape, all), sign);
  }
}

}  // namespace plated::chain
