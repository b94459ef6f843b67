// Inverts a symmetric matrix as far as it is positive definite.
#pragma once

#include <cstddef>
#include <vector>

namespace plated::learn {

/// The inverse of a symmetric matrix, by a Cholesky factorisation that takes the largest pivot that is left. Where what
/// is left is nearly zero, or negative, the directions it is of are not determined, and nothing that has a share in
/// them.
class Semidefinite {
 public:
  /// Row-major; its diagonal is about one.
  Semidefinite(std::vector<double> matrix, std::size_t size);

  /// Whether something is left that is not merely zero: the matrix has a negative eigenvalue.
  [[nodiscard]] bool indefinite() const { return indefinite_; }
  [[nodiscard]] bool determined(std::size_t i) const { return determined_[i]; }
  /// An entry of the inverse, of what is determined; else of the inverse of the leading part, or zero.
  [[nodiscard]] double operator()(std::size_t i, std::size_t j) const { return inverse_[i * size_ + j]; }

 private:
  /// The factor L of the pivoted rows, in place; returns how many pivots were found.
  std::size_t factorise(std::vector<double>& matrix);
  void find_null_space(const std::vector<double>& lower, std::size_t rank);
  void invert(const std::vector<double>& lower, std::size_t rank);

  std::size_t size_;
  std::vector<std::size_t> order_;  // the matrix's own row of each pivoted one
  std::vector<bool> determined_;
  std::vector<double> inverse_;
  bool indefinite_ = false;
};

}  // namespace plated::learn
