// The roofline: no model and no plan, only the work of any program that reads the two large factors once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "workload/tree_model.hpp"

namespace bench {

/// Streams the large factors of a model, stored as "bcij" or "bcijk", on one thread or two. Log space: through a bare
/// log-sum-exp over the inner variable. Real: through a plain sum.
class Roofline {
 public:
  /// Throws std::invalid_argument where fits() is false.
  Roofline(const TreeModel& model, int threads);
  ~Roofline();
  Roofline(const Roofline&) = delete;
  Roofline& operator=(const Roofline&) = delete;

  /// Whether the bare loops take a model: its slices are a multiple of 64.
  [[nodiscard]] static bool fits(const TreeSizes& sizes) { return sizes.slices() % 64 == 0 && sizes.domain <= 128; }

  /// Reference::log_sum_exps and Reference::sum.
  [[nodiscard]] double log_sum_exps();
  [[nodiscard]] double sum();

 private:
  [[nodiscard]] double over_units(std::int64_t units, const std::function<double(std::int64_t)>& unit);
  double take_units();
  void help();

  const TreeModel& model_;
  std::int64_t units_ = 0;
  const std::function<double(std::int64_t)>* unit_ = nullptr;
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<int> round_ = 0;   // grows when the helper is to start; negative: it is to end
  std::atomic<int> helped_ = 0;  // the round that the helper has done
  double helper_total_ = 0;
  std::thread helper_;
};

}  // namespace bench
