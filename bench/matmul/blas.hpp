// OpenBLAS's matrix product on one thread, for row-major matrices.
#pragma once

#include <cstdint>
#include <string>

namespace bench {

/// c[m, n] = a[m, k] b[k, n].
void gemm(std::int64_t m, std::int64_t k, std::int64_t n, const float* a, const float* b, float* c);
void gemm(std::int64_t m, std::int64_t k, std::int64_t n, const double* a, const double* b, double* c);

/// Keeps OpenBLAS on one thread and says which it is.
[[nodiscard]] std::string single_threaded_blas();

}  // namespace bench
