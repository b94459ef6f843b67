// The benchmark model of [TVE] Sec. 6, "a,abi,bcij,adj,deij->" with plates i and j, and its expected answers.
#pragma once

#include <cstdint>
#include <vector>

#include "plated/tensor.hpp"

namespace plated::cli {

inline constexpr const char* paper_equation = "a,abi,bcij,adj,deij->";
inline constexpr std::int64_t paper_domain = 32;

/// Float32 factors in log space, uniform in ±3, for plates of this size; the same on every machine.
[[nodiscard]] std::vector<Tensor> paper_factors(std::int64_t size);

/// Answers computed plainly in double, one variable after the other.
struct PaperAnswers {
  double ln_z = 0;
  double ln_best = 0;            ///< the score of the best assignment
  std::vector<double> marginal;  ///< of a
};
[[nodiscard]] PaperAnswers paper_answers(const std::vector<Tensor>& factors);

}  // namespace plated::cli
