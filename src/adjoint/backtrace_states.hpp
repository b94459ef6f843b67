// The states chosen so far, in the order in which later choices read them and in the order of the answer.
#pragma once

#include <cstdint>
#include <vector>

#include "adjoint/backtrace_step.hpp"
#include "base/watched_resize.hpp"
#include "plated/integers.hpp"

namespace plated::adjoint {

class ChosenStates {
 public:
  /// `answer` is by DimId and end_name, with the samples' axis first.
  ChosenStates(std::vector<Integers>& answer, std::int64_t samples)
      : answer_(answer), samples_(samples), states_(answer.size()) {}

  /// Choices of v will be read: they are also kept slice by slice, the samples side by side.
  void remember(DimId v) { base::watched_resize(states_[v], answer_[v].values.size()); }

  [[nodiscard]] std::int64_t samples() const { return samples_; }
  [[nodiscard]] const std::uint32_t* of(DimId v, std::int64_t slice) const {
    return states_[v].data() + slice * samples_;
  }
  [[nodiscard]] std::uint32_t* of(DimId v, std::int64_t slice) { return states_[v].data() + slice * samples_; }
  /// Has the answer say what is remembered of v in all slices.
  void answer(DimId v);

  /// Tuples of a step for samples first … first + count − 1 in several slices; slice k's are at tuple + k · pitch. The
  /// tuples are used up.
  void write(const ChoiceStep& step, const std::int64_t* slice, std::int64_t slices, std::int64_t first,
             std::int64_t count, std::uint32_t* tuple, std::int64_t pitch);
  /// One tuple each for pairs of a slice and a sample.
  void write_pairs(const ChoiceStep& step, const std::int64_t* slice, const std::int64_t* sample, std::int64_t count,
                   std::uint32_t* tuple);

 private:
  std::vector<Integers>& answer_;
  std::int64_t samples_;
  std::vector<std::vector<std::uint32_t>> states_;  // [variable][slice, sample]
};

}  // namespace plated::adjoint
