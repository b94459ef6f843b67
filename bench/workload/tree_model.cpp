// Spells the model's equation and draws its factors.
#include "workload/tree_model.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace bench {
namespace {

/// Uniform in [0, 1): a hash of the index, so that factors can be filled in any order.
float uniform(std::uint64_t index) {
  index = (index ^ (index >> 31)) * 0x9E3779B97F4A7C15u;
  index = (index ^ (index >> 29)) * 0xBF58476D1CE4E5B9u;
  return static_cast<float>(index >> 40) * 0x1p-24f;
}

std::string spelled(const std::string& dims, bool long_names) {
  static const std::map<char, std::string> names = {{'a', "genre"},    {'b', "customer"}, {'c', "mood"},
                                                    {'d', "film"},     {'e', "rating"},   {'i', "row_i"},
                                                    {'j', "column_j"}, {'k', "week_k"}};
  if (!long_names) return dims;
  std::string text;
  for (const char dim : dims) text += (text.empty() ? "" : " ") + names.at(dim);
  return text;
}

}  // namespace

TreeModel::TreeModel(TreeSizes sizes, const std::string& order, bool long_names) : sizes_(sizes) {
  const std::string large = sizes.k > 0 ? "bcijk" : "bcij";
  if (!std::is_permutation(order.begin(), order.end(), large.begin(), large.end())) {
    throw std::invalid_argument("an order of axes has the letters of " + large + ", not " + order);
  }
  const auto of_film = [](std::string dims) {
    std::replace(dims.begin(), dims.end(), 'b', 'd');
    std::replace(dims.begin(), dims.end(), 'c', 'e');
    return dims;
  };
  plain_ = {"a", "abi", large, "adj", of_film(large)};
  stored_ = {"a", "abi", order, "adj", of_film(order)};
  for (const std::string& dims : stored_) {
    std::vector<std::int64_t> shape;
    for (const char dim : dims) shape.push_back(size_of(dim));
    factors_.emplace_back(plated::Dtype::float32, shape);
    equation_ += (equation_.empty() ? "" : ", ") + spelled(dims, long_names);
  }
  equation_ += " ->";
  plates_ = spelled(sizes.k > 0 ? "ijk" : "ij", long_names);
}

std::int64_t TreeModel::size_of(char dim) const {
  return dim == 'i' ? sizes_.i : dim == 'j' ? sizes_.j : dim == 'k' ? sizes_.k : sizes_.domain;
}

std::int64_t TreeModel::bytes() const {
  std::int64_t bytes = 0;
  for (const plated::Tensor& factor : factors_) bytes += 4 * factor.elements();
  return bytes;
}

std::int64_t TreeModel::large_elements() const { return factors_[2].elements() + factors_[4].elements(); }

const float* TreeModel::entries(std::size_t factor) const { return static_cast<const float*>(factors_[factor].data()); }

void TreeModel::fill(plated::Semiring semiring) {
  const bool logs = semiring == plated::Semiring::log;
  const float mean = 1.0f / static_cast<float>(sizes_.domain);
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    fill_factor(f, logs ? -3.0f : 0.9f * mean, logs ? 3.0f : 1.1f * mean);
  }
}

void TreeModel::fill_factor(std::size_t factor, float low, float high) {
  // Five loops in the order of storage; missing axes are outermost and have one index.
  std::array<std::int64_t, 5> size = {1, 1, 1, 1, 1};
  std::array<std::int64_t, 5> step = {};
  const std::string& dims = stored_[factor];
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const std::size_t loop = 5 - dims.size() + axis;
    size[loop] = size_of(dims[axis]);
    step[loop] = 1;
    const std::string& plain = plain_[factor];
    for (std::size_t p = plain.find(dims[axis]) + 1; p < plain.size(); ++p) step[loop] *= size_of(plain[p]);
  }
  auto* to = static_cast<float*>(factors_[factor].mutable_data());
  const std::uint64_t seed = (factor + 1) * 0x94D049BB133111EBu;
  std::array<std::int64_t, 5> n{};
  for (n[0] = 0; n[0] < size[0]; ++n[0]) {
    for (n[1] = 0; n[1] < size[1]; ++n[1]) {
      for (n[2] = 0; n[2] < size[2]; ++n[2]) {
        for (n[3] = 0; n[3] < size[3]; ++n[3]) {
          const std::int64_t begin = n[0] * step[0] + n[1] * step[1] + n[2] * step[2] + n[3] * step[3];
          for (std::int64_t last = 0; last < size[4]; ++last) {
            const auto index = static_cast<std::uint64_t>(begin + last * step[4]);
            *to++ = low + (high - low) * uniform(seed + index);
          }
        }
      }
    }
  }
}

plated::Plan compiled(const TreeModel& model) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const plated::Tensor& factor : model.factors()) shapes.push_back(factor.shape());
  return compile(plated::FactorGraph::from_equation(model.equation(), shapes, {.plates = model.plates()}));
}

}  // namespace bench
