// Factors and outputs that hold what only a slice has: `^target`, `source$`, and ends of variables that no link leads
// through; and variables of slices that no factor holds.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "chain/views.hpp"
#include "plated/factor_graph.hpp"
#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::chain {

/// Messages begin and come out at `^source` and `target$`; any other end is a variable of the first or the last slice.
/// A factor that holds such ends is rewritten as a factor of all slices, whose entries are the semiring's one but in
/// that slice. Where that would make messages carry more variables, and in outputs, the end becomes a variable of its
/// own outside of the chain, which a factor rewritten in that way makes equal to the slice's. Outputs of variables in
/// plates inside the slices are asked of all slices.
///
/// A variable of slices that no factor holds gets a factor of ones: what is in slices is found by its factors.
class PointEnds {
 public:
  explicit PointEnds(const FactorGraph& graph);

  [[nodiscard]] bool any() const { return !points_.empty() || !ones_.empty(); }
  [[nodiscard]] bool holds(std::size_t factor) const { return point(factor) != nullptr; }

  /// The graph without such ends. Dims and outputs are the same, and so are the numbers of factors; factors that make
  /// variables equal come behind them, and those of ones last.
  [[nodiscard]] const FactorGraph& graph() const { return graph_; }

  /// Its operands. What follows the given graph's factors stays behind them. Throws ValueError where a chain's length
  /// is 0 and something holds a slice's variable.
  [[nodiscard]] std::vector<Tensor> operands(std::span<const Tensor> given, Semiring semiring,
                                             const RaggedChains* lengths) const;
  /// What takes the place of a factor's operand: ones but in its slice, or `elsewhere`.
  [[nodiscard]] Tensor expanded(std::size_t factor, const Tensor& operand, double elsewhere,
                                const RaggedChains* lengths) const;
  /// Adds what its slices say of an operand's entries, summed over the rows that share them, or their mean.
  enum class Share : std::uint8_t { sum, mean };
  void collect(std::size_t factor, const Tensor& sliced, const Tensor& place, Share share,
               const RaggedChains* lengths) const;
  [[nodiscard]] Tensor::Shape expanded_shape(std::size_t factor) const;

  /// Where outputs go that are asked of all slices, and the cotangents that make of them what was asked.
  [[nodiscard]] std::vector<Tensor> output_places(const std::vector<Tensor>& places) const;
  void take_outputs(const std::vector<Tensor>& sliced, std::vector<Tensor>& places, const RaggedChains* lengths) const;
  [[nodiscard]] std::vector<Tensor> cotangents(std::span<const Tensor> given, const RaggedChains* lengths) const;

  /// What operands() allocates.
  [[nodiscard]] double bytes(Dtype dtype) const;

 private:
  /// A factor of the slices that is one in all but the first or the last of them. Its axes are the chain, the rows on
  /// which the last slice depends, and the operand's own.
  struct Point {
    std::size_t factor = 0;  // or output
    DimId chain = 0;
    End end = End::first;
    std::size_t more = 0;  // axes before the operand's
    bool equates = false;  // a variable of the slice with one outside
    bool is_output = false;
    std::string holder;  // for messages
  };
  class Writer;

  [[nodiscard]] const Point* point(std::size_t factor) const;
  [[nodiscard]] const std::vector<DimId>& axes(const Point& point) const;
  [[nodiscard]] std::vector<std::int64_t> slots(const Point& point, const RaggedChains* lengths) const;
  void check_exist(const Point& point, const RaggedChains& lengths) const;

  std::size_t factors_;  // of the given graph
  FactorGraph graph_;
  std::vector<Point> points_;
  std::vector<DimId> ones_;  // variables with a factor of ones
};

}  // namespace plated::chain
