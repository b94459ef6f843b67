// Answers as bits, which must not depend on the number of threads.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plated/integers.hpp"
#include "plated/plan.hpp"
#include "plated/tensor.hpp"

namespace plated::test {

/// Every answer as bits, so that NaN equals NaN and 0 is not −0.
class Bits {
 public:
  void add(const Tensor& tensor) {
    for (const double x : tensor.values()) words_.push_back(std::bit_cast<std::uint64_t>(x));
  }
  void add(const std::vector<Tensor>& tensors) {
    for (const Tensor& t : tensors) add(t);
  }
  void add(const std::map<std::string, Tensor>& tensors) {
    for (const auto& [variable, t] : tensors) add(t);
  }
  void add(const std::map<std::string, Integers>& integers) {
    for (const auto& [variable, states] : integers) {
      for (const std::int64_t s : states.values) words_.push_back(static_cast<std::uint64_t>(s));
    }
  }
  bool operator==(const Bits&) const = default;
  [[nodiscard]] bool empty() const { return words_.empty(); }

 private:
  std::vector<std::uint64_t> words_;
};

/// Asks with one thread, then with others, twice each, and expects the same bits.
template <class Ask>
void expect_same_bits(const std::string& what, RunOptions options, Ask ask) {
  options.threads = 1;
  const Bits one = ask(options);
  EXPECT_FALSE(one.empty()) << what;
  for (const int threads : {2, 3, 8}) {
    options.threads = threads;
    for (int repeat = 0; repeat < 2; ++repeat) {
      EXPECT_TRUE(ask(options) == one) << what << ", " << threads << " threads";
    }
  }
}

}  // namespace plated::test
