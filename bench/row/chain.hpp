// A row of variables with a factor between neighbours: "x0 x1, x1 x2, … ->".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plated/plated.hpp"

namespace bench {

struct Chain {
  Chain(std::int64_t length, std::int64_t domain);

  std::int64_t length;
  std::int64_t domain;
  std::string equation;
  std::vector<plated::Tensor> factors;  ///< float32 logarithms, uniform in ±3

  [[nodiscard]] const float* entries(std::int64_t factor) const;
  [[nodiscard]] plated::Plan compiled() const;
};

/// What the answers must be, computed plainly in double.
struct ChainPosterior {
  double log_total = 0;
  std::vector<std::vector<double>> factors;  ///< posteriors of neighbours, each in its factor's order
};

[[nodiscard]] ChainPosterior posterior(const Chain& chain);

}  // namespace bench
