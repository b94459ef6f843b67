// Where the states of variables lie while a graph with chains is decoded.
#pragma once

#include <cstdint>
#include <vector>

#include "adjoint/backtrace.hpp"
#include "adjoint/questions.hpp"
#include "chain/views.hpp"
#include "plated/integers.hpp"

namespace plated::chain {

/// For each index of dims of these sizes, row-major, the sum of what its parts move by.
[[nodiscard]] std::vector<std::int64_t> offsets(const std::vector<std::int64_t>& sizes,
                                                const std::vector<std::int64_t>& strides);

/// The assignments of a graph's variables, for several samples.
class States {
 public:
  /// `values` is by DimId, as decode() is given it; the ends that it lacks are added.
  States(const FactorGraph& graph, std::vector<Integers>& values, const adjoint::Choice& choice);

  [[nodiscard]] const FactorGraph& graph() const { return graph_; }
  [[nodiscard]] std::int64_t samples() const { return samples_; }
  /// Batch dims, plates and chains, in the order of the answer.
  [[nodiscard]] std::vector<DimId> axes(DimId v) const { return axes_(v, false); }
  [[nodiscard]] std::int64_t stride(DimId v, DimId dim) const;
  [[nodiscard]] std::int64_t per_sample(DimId v) const;
  [[nodiscard]] std::int64_t* of(DimId v) { return values_[v].values.data(); }
  [[nodiscard]] Integers& all(DimId v) { return values_[v]; }

  /// For each index of some dims, row-major, its place among a sample's states of v.
  [[nodiscard]] std::vector<std::int64_t> places(DimId v, const std::vector<DimId>& dims) const;

  /// Takes states of v from an array of `samples` rows, each with these axes of these sizes. They go to samples `first`
  /// … and, among each sample's, to the places from `offset` on.
  void put(DimId v, std::int64_t first, std::int64_t samples, const std::int64_t* from, const std::vector<DimId>& axes,
           const std::vector<std::int64_t>& sizes, std::int64_t offset = 0);

  /// Slices beyond a chain's length have no state.
  void erase_beyond(const RaggedChains& lengths);

 private:
  const FactorGraph& graph_;
  std::vector<Integers>& values_;
  graph::AnswerAxes axes_;
  std::int64_t samples_;
};

}  // namespace plated::chain
