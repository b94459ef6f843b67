// Calls OpenBLAS.
#include "matmul/blas.hpp"

#include <cblas.h>

namespace bench {

void gemm(std::int64_t m, std::int64_t k, std::int64_t n, const float* a, const float* b, float* c) {
  const auto rows = static_cast<blasint>(m);
  const auto inner = static_cast<blasint>(k);
  const auto columns = static_cast<blasint>(n);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, 1.0f, a, inner, b, columns, 0.0f, c,
              columns);
}

void gemm(std::int64_t m, std::int64_t k, std::int64_t n, const double* a, const double* b, double* c) {
  const auto rows = static_cast<blasint>(m);
  const auto inner = static_cast<blasint>(k);
  const auto columns = static_cast<blasint>(n);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, 1.0, a, inner, b, columns, 0.0, c,
              columns);
}

std::string single_threaded_blas() {
  openblas_set_num_threads(1);
  return openblas_get_config();
}

}  // namespace bench
