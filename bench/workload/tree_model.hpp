// The model of [TVE] Fig. 4, "a,abi,bcij,adj,deij->" with plates i and j, its factors stored in any order of axes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plated/plated.hpp"

namespace bench {

[[nodiscard]] inline std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Sizes of the model's dims. All variables have one domain; with k > 0 the large factors have a third plate.
struct TreeSizes {
  std::int64_t domain = 32;
  std::int64_t i = 1;
  std::int64_t j = 1;
  std::int64_t k = 0;

  [[nodiscard]] std::int64_t slices() const { return i * j * (k > 0 ? k : 1); }
  [[nodiscard]] bool operator==(const TreeSizes&) const = default;
};

/// The model with random float32 factors. An entry depends on its index and the semiring only: the same model stored
/// differently has the same result.
class TreeModel {
 public:
  /// `order` spells the axes of "bcij" (or "bcijk") as they are stored; "deij" is stored likewise.
  TreeModel(TreeSizes sizes, const std::string& order, bool long_names = false);

  /// Draws the factors: log space uniform in ±3, else near 1 / domain, so that no product over- or underflows.
  void fill(plated::Semiring semiring);

  [[nodiscard]] const TreeSizes& sizes() const { return sizes_; }
  [[nodiscard]] const std::vector<plated::Tensor>& factors() const { return factors_; }
  [[nodiscard]] const std::string& equation() const { return equation_; }
  [[nodiscard]] const std::string& plates() const { return plates_; }
  [[nodiscard]] std::int64_t bytes() const;
  /// Entries of the two large factors together.
  [[nodiscard]] std::int64_t large_elements() const;
  [[nodiscard]] const float* entries(std::size_t factor) const;

 private:
  [[nodiscard]] std::int64_t size_of(char dim) const;
  void fill_factor(std::size_t factor, float low, float high);

  TreeSizes sizes_;
  std::array<std::string, 5> stored_;  // each factor's axes as they are stored, and
  std::array<std::string, 5> plain_;   // as the equation of the paper has them
  std::vector<plated::Tensor> factors_;
  std::string equation_;
  std::string plates_;
};

/// The plan of the model's one output, its logarithm or value, compiled as a user would.
[[nodiscard]] plated::Plan compiled(const TreeModel& model);

}  // namespace bench
