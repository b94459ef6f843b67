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
  /// Pivots below this, of numbers about one, are zero: products with directions are exact to 1e-11 or so.
  static constexpr double negligible = 1e-7;

  /// Row-major; its diagonal is about one. Pivots up to `least` are taken for zero.
  Semidefinite(std::vector<double> matrix, std::size_t size, double least = negligible);

  /// Whether something is left that is not merely zero: the matrix has a negative eigenvalue.
  [[nodiscard]] bool indefinite() const { return indefinite_; }
  /// How many directions are determined, and the smallest pivot of them; 1 where there are none.
  [[nodiscard]] std::size_t rank() const { return rank_; }
  [[nodiscard]] double smallest() const { return smallest_; }
  [[nodiscard]] bool determined(std::size_t i) const { return determined_[i]; }
  /// An entry of the inverse, of what is determined; else of the inverse of the leading part, or zero.
  [[nodiscard]] double operator()(std::size_t i, std::size_t j) const { return inverse_[i * size_ + j]; }

 private:
  /// The factor L of the pivoted rows, in place; returns how many pivots were found.
  std::size_t factorise(std::vector<double>& matrix, double least);
  void find_null_space(const std::vector<double>& lower, std::size_t rank);
  void invert(const std::vector<double>& lower, std::size_t rank);

  std::size_t size_;
  std::vector<std::size_t> order_;  // the matrix's own row of each pivoted one
  std::vector<bool> determined_;
  std::vector<double> inverse_;
  bool indefinite_ = false;
  double smallest_ = 1;
  std::size_t rank_ = 0;
};

}  // namespace plated::learn
