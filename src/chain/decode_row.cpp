// Weighs rows and chooses from them.
#include "chain/decode_row.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "chain/decode_states.hpp"
#include "kernels/choose.hpp"

namespace plated::chain {

RowChooser::RowChooser(const SliceChoice& choice, const SliceWeights& weights, Semiring semiring)
    : weights_(weights), semiring_(semiring) {
  for (const std::int64_t extent : choice.extent) states_ *= extent;
  if (!choice.extent.empty()) last_ = choice.extent.back();
  // Whole vectors are read and written.
  const std::int64_t lanes = kernels::choose_lanes;
  row_.resize(static_cast<std::size_t>((states_ + lanes - 1) / lanes * lanes));
  if (!weights.table) {
    for (const SliceWeights::Input& from : weights.inputs) {
      std::vector<std::int64_t> sizes = choice.extent;
      std::vector<std::int64_t> strides = from.chosen;
      sizes.pop_back();
      strides.pop_back();
      inputs_.push_back({from.data, from.dtype, offsets(sizes, strides), from.chosen.back()});
    }
    return;
  }
  std::vector<Tensor> operands;
  for (const SliceWeights::Input& input : weights.inputs) operands.push_back(input.operand);
  operands_.resize(operands.size());
  engine::Settings settings;
  settings.semiring = semiring;
  engine::prepare(weights.table->schedule(), std::vector<Tensor>{Tensor::view(row_.data(), choice.extent)}, operands,
                  workspace_, settings);
}

template <class T>
void RowChooser::combine(const Input& input, std::int64_t offset, bool first) {
  double* to = row_.data();
  const std::int64_t count = last_, stride = input.stride;
  const auto each = [&](auto put) {
    for (const std::int64_t outer : input.outer) {
      const T* from = reinterpret_cast<const T*>(input.data) + offset + outer;
      if (stride == 1) {
        for (std::int64_t k = 0; k < count; ++k) put(to[k], static_cast<double>(from[k]));
      } else {
        for (std::int64_t k = 0; k < count; ++k) put(to[k], static_cast<double>(from[k * stride]));
      }
      to += count;
    }
  };
  if (first) {
    each([](double& entry, double x) { entry = x; });
  } else if (semiring_ == Semiring::max_product) {
    each([](double& entry, double x) { entry *= x; });
  } else {
    each([](double& entry, double x) { entry += x; });
  }
}

double* RowChooser::weigh(const std::int64_t* offset) {
  if (weights_.table) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const SliceWeights::Input& input = weights_.inputs[i];
      operands_[i] = input.data + offset[i] * static_cast<std::int64_t>(size_of(input.dtype));
    }
    void* const output = row_.data();
    engine::run_prepared(workspace_, std::span<void* const>(&output, 1), operands_, 1);
    return row_.data();
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].dtype == Dtype::float32) {
      combine<float>(inputs_[i], offset[i], i == 0);
    } else {
      combine<double>(inputs_[i], offset[i], i == 0);
    }
  }
  return row_.data();
}

std::uint32_t RowChooser::best(const double* weight) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto first_of = [&](double worst, auto better) {
    // Four at a time: each comparison waits for the one before it. No NaN is better.
    std::array<double, 4> top{worst, worst, worst, worst};
    std::int64_t k = 0;
    for (; k + 4 <= states_; k += 4) {
      for (std::int64_t l = 0; l < 4; ++l) top[l] = better(weight[k + l], top[l]) ? weight[k + l] : top[l];
    }
    for (; k < states_; ++k) top[0] = better(weight[k], top[0]) ? weight[k] : top[0];
    for (std::int64_t l = 1; l < 4; ++l) top[0] = better(top[l], top[0]) ? top[l] : top[0];
    // Of nothing but NaN, the last.
    const double* found = std::find(weight, weight + states_ - 1, top[0]);
    return static_cast<std::uint32_t>(found - weight);
  };
  if (semiring_ == Semiring::min_plus) return first_of(infinity, [](double a, double b) { return a < b; });
  return first_of(-infinity, [](double a, double b) { return a > b; });
}

void RowChooser::accumulate(double* weight) {
  std::array<double, kernels::choose_lanes> top;
  std::array<double, kernels::choose_lanes> total{};
  top.fill(weight[best(weight)]);
  // States side by side, as if each were a row of its own.
  for (std::int64_t k = 0; k < states_; k += kernels::choose_lanes) {
    kernels::choose_weigh({.data = weight + k,
                           .dtype = Dtype::float64,
                           .states = 1,
                           .lanes = std::min(kernels::choose_lanes, states_ - k)},
                          top.data(), total.data());
  }
  double sum = 0;
  for (std::int64_t k = 0; k < states_; ++k) weight[k] = sum += weight[k];
}

std::uint32_t RowChooser::draw(const double* sums, double uniform) const {
  // Halved without branches, which nobody could predict: sums below `low` are not above the target.
  const double target = uniform * sums[states_ - 1];
  std::int64_t low = 0;
  for (std::int64_t left = states_; left > 1;) {
    const std::int64_t half = left / 2;
    low += sums[low + half - 1] <= target ? half : 0;
    left -= half;
  }
  return static_cast<std::uint32_t>(low);
}

}  // namespace plated::chain
