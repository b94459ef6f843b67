// Pivoted Cholesky: Higham, "Accuracy and Stability of Numerical Algorithms", Sec. 10.3.
#include "learn/semidefinite.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace plated::learn {

Semidefinite::Semidefinite(std::vector<double> matrix, std::size_t size, double least)
    : size_(size), order_(size), determined_(size, true), inverse_(size * size, 0.0) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  rank_ = factorise(matrix, least);
  find_null_space(matrix, rank_);
  invert(matrix, rank_);
}

std::size_t Semidefinite::factorise(std::vector<double>& m, double least) {
  const auto at = [&](std::size_t i, std::size_t j) -> double& { return m[i * size_ + j]; };
  for (std::size_t k = 0; k < size_; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < size_; ++i) pivot = at(i, i) > at(pivot, pivot) ? i : pivot;
    if (!(at(pivot, pivot) > least)) {
      for (std::size_t i = k; i < size_; ++i) {
        for (std::size_t j = k; j <= i; ++j) {
          const double lowest = i == j ? at(i, i) : -std::abs(at(i, j));
          indefinite_ = indefinite_ || lowest < -10 * least;
        }
      }
      return k;
    }
    if (pivot != k) {
      std::swap(order_[k], order_[pivot]);
      for (std::size_t j = 0; j < size_; ++j) std::swap(at(k, j), at(pivot, j));
      for (std::size_t i = 0; i < size_; ++i) std::swap(at(i, k), at(i, pivot));
    }
    smallest_ = std::min(smallest_, at(k, k));
    at(k, k) = std::sqrt(at(k, k));
    for (std::size_t i = k + 1; i < size_; ++i) at(i, k) /= at(k, k);
    for (std::size_t i = k + 1; i < size_; ++i) {
      for (std::size_t j = k + 1; j <= i; ++j) at(j, i) = at(i, j) -= at(i, k) * at(j, k);
    }
  }
  return size_;
}

void Semidefinite::find_null_space(const std::vector<double>& lower, std::size_t rank) {
  std::vector<double> direction(rank);
  for (std::size_t left = rank; left < size_; ++left) {
    determined_[order_[left]] = false;
    // The null vector with a one here: L11' x = −(its row of L21)'.
    for (std::size_t i = rank; i-- > 0;) {
      double sum = -lower[left * size_ + i];
      for (std::size_t j = i + 1; j < rank; ++j) sum -= lower[j * size_ + i] * direction[j];
      direction[i] = sum / lower[i * size_ + i];
      if (std::abs(direction[i]) > 1e-4) determined_[order_[i]] = false;
    }
  }
}

void Semidefinite::invert(const std::vector<double>& lower, std::size_t rank) {
  // Rows of the inverse of L, then inverse = (L^-1)' L^-1.
  std::vector<double> rows(rank * rank, 0.0);
  for (std::size_t i = 0; i < rank; ++i) {
    const double pivot = lower[i * size_ + i];
    for (std::size_t k = 0; k < i; ++k) {
      const double factor = lower[i * size_ + k] / pivot;
      for (std::size_t j = 0; j <= k; ++j) rows[i * rank + j] -= factor * rows[k * rank + j];
    }
    rows[i * rank + i] = 1 / pivot;
  }
  for (std::size_t k = 0; k < rank; ++k) {
    for (std::size_t i = 0; i <= k; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        inverse_[order_[i] * size_ + order_[j]] += rows[k * rank + i] * rows[k * rank + j];
      }
    }
  }
  for (std::size_t i = 0; i < rank; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      inverse_[order_[j] * size_ + order_[i]] = inverse_[order_[i] * size_ + order_[j]];
    }
  }
}

}  // namespace plated::learn
