// One matrix product, or a batch of them: Plated in each semiring beside OpenBLAS, checked, then timed in turn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plated/plated.hpp"
#include "workload/timing.hpp"

namespace bench {

struct ProductSize {
  std::int64_t batch = 0;  ///< 0: "ij,jk->ik"; else "bij,bjk->bik"
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
};

struct ProductTimes {
  double blas = 0;             ///< seconds; of a loop over the batch
  std::vector<double> plated;  ///< seconds, one for each semiring
};

/// Throws std::runtime_error where a result is wrong.
template <class T>
[[nodiscard]] ProductTimes time_product(const ProductSize& size, const std::vector<plated::Semiring>& semirings,
                                        Budget budget);

extern template ProductTimes time_product<float>(const ProductSize&, const std::vector<plated::Semiring>&, Budget);
extern template ProductTimes time_product<double>(const ProductSize&, const std::vector<plated::Semiring>&, Budget);

}  // namespace bench
