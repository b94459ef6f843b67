// Evaluations: a plan that has run forward once, and whatever is asked of what it computed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plated/integers.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/plan.hpp"
#include "plated/sample.hpp"
#include "plated/tensor.hpp"

namespace plated {

/// The run of a plan on operands, in one semiring, with its values kept. Questions start from them: nothing runs
/// forward again (in the real semiring, whose weights may underflow, the first question about a posterior does so once,
/// in log space). Throws what the verbs of the same name throw, and OptionError for a question that the semiring does
/// not have.
///
///   Evaluation e = plan.evaluate({prior, likelihood});
///   Tensor log_z = e.value()[0];
///   Marginals posterior = e.marginals();
///
/// It references the operands: their memory must outlive it. Cheap to copy: copies are the same evaluation. Two threads
/// may ask one evaluation at once, but not while one of them calls update().
class Evaluation {
 public:
  [[nodiscard]] Semiring semiring() const;

  /// The outputs, as Plan::run gives them to rounding. In every semiring.
  [[nodiscard]] std::vector<Tensor> value() const;

  /// In the log and real semirings; what value_and_gradient gives second. Without cotangents: ones.
  [[nodiscard]] std::vector<Tensor> gradient(Tensors cotangents = {}) const;
  /// The same of some operands only, by their numbers; the others' gradients have no data.
  [[nodiscard]] std::vector<Tensor> gradient(Tensors cotangents, std::span<const std::int64_t> operands) const;
  [[nodiscard]] Marginals marginals(const MarginalOptions& wanted = {}) const;
  [[nodiscard]] std::map<std::string, Integers> sample(const SampleOptions& draws) const;
  [[nodiscard]] Tensor entropy() const;
  [[nodiscard]] Tensor expectation(Tensors statistics) const;

  /// In max_plus, max_product and min_plus. Max-marginals run a plan of their own, as joint marginals do.
  [[nodiscard]] MapResult map() const;
  [[nodiscard]] std::map<std::string, Tensor> max_marginals() const;

  /// To be called after the caller has changed one slice of an operand in place: the index along its plates in the
  /// order of its axes, or along the first few of them. Of M slices O(log M) work brings the value up to date, with the
  /// bits of a fresh evaluation; other questions pay their own sweep. Along a chain that depends on the slice all
  /// messages run again, and an operand that was copied (it lacks slices, or its magnitude had to be reduced) costs a
  /// fresh evaluation. Throws UnknownNameError, ShapeError for an index that is out of range or too long, and
  /// ValueError for an entry that the semiring does not admit.
  void update(std::size_t operand, std::span<const std::int64_t> index);
  void update(std::size_t operand, std::int64_t index) { update(operand, std::span<const std::int64_t>(&index, 1)); }
  /// The same for a factor by its name.
  void update(std::string_view factor, std::span<const std::int64_t> index);
  void update(std::string_view factor, std::int64_t index) { update(factor, std::span<const std::int64_t>(&index, 1)); }

 private:
  friend class Plan;
  struct Impl;
  explicit Evaluation(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

/// The evaluation of an equation on operands; see Plan::evaluate.
[[nodiscard]] Evaluation evaluate(std::string_view equation, Tensors operands, const EinsumOptions& options = {});

}  // namespace plated
