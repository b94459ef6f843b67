// Plated einsum: computes the outputs of an equation from its operands.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plated/plan.hpp"

namespace plated {

/// How an equation is read, planned and run.
struct EinsumOptions {
  std::string plates = {};  ///< dims that are plates, spelled as in the equation
  std::string batch = {};   ///< dims that are batch dims
  /// Dims that are chains, by name, each with its links, as in {"t", {"a->b"}}: slice t's b is slice t+1's a.
  std::map<std::string, std::vector<std::string>> chains = {};
  Semiring semiring = Semiring::log;
  std::map<std::string, std::int64_t> sizes = {};  ///< of dims that no operand carries
  std::optional<bool> spaced = {};                 ///< force one reading of names; see EquationOptions
  int threads = 0;
  Check check = Check::all;
  std::int64_t memory_limit = 0;
  PlanOptions plan = {};
  IntegersByName evidence = {};  ///< of any variables; a plan is made for each set of them
  IntegersByName lengths = {};   ///< of ragged chains and plates
  Weights weights = {};          ///< of the slices of plates
  /// As in RunOptions; `cancelled` stops planning, too.
  std::function<bool()> cancelled = {};
  std::function<void(double)> progress = {};

  /// The part of it that says how the equation is read.
  [[nodiscard]] EquationOptions reading() const {
    return {.plates = plates, .batch = batch, .chains = chains, .sizes = sizes, .spaced = spaced};
  }
  /// The part of it that says how a plan of the equation is run.
  [[nodiscard]] RunOptions running() const {
    return {.semiring = semiring,
            .threads = threads,
            .check = check,
            .memory_limit = memory_limit,
            .evidence = evidence,
            .sizes = sizes,
            .lengths = lengths,
            .weights = weights,
            .cancelled = cancelled,
            .progress = progress};
  }
};

/// The plan that einsum and every other verb of an equation run on operands of these shapes: taken from the cache, or
/// made and cached. The operands' data is not read. Throws what FactorGraph::from_equation and compile throw.
[[nodiscard]] Plan compile(std::string_view equation, Tensors operands, const EinsumOptions& options = {});

/// Plated einsum: sums over variables, multiplies over plates.
///
///   einsum("x,iy,ijxy->", {f, g, h}, {.plates = "ij"});
///
/// One output only; see einsum_all for several. Plans are cached by equation, options and domains. Throws ShapeError
/// where operands disagree on a size, and IntractableError, with its certificate, where the cost would be exponential
/// in a plate's size.
[[nodiscard]] Tensor einsum(std::string_view equation, Tensors operands, const EinsumOptions& options = {});

/// The same for equations with any number of outputs, `"ab,bc->a,b,c"`; work is shared between them.
[[nodiscard]] std::vector<Tensor> einsum_all(std::string_view equation, Tensors operands,
                                             const EinsumOptions& options = {});

/// What verbs on equations take sizes from besides operands: `sizes`, and those of dims that no operand has but
/// the shapes of evidence and lengths tell: of `"(i) x ->"` with evidence of x of shape (1000) also i = 1000, and of a
/// chain that nothing else tells the size of the longest row. Evidence and lengths of another rank than the model's
/// tell nothing, and are refused where they are used.
[[nodiscard]] std::map<std::string, std::int64_t> implied_sizes(const FactorGraph& graph,
                                                                const IntegersByName& evidence,
                                                                const IntegersByName& lengths,
                                                                std::map<std::string, std::int64_t> sizes = {});
/// The same of an equation, with the sizes, evidence and lengths of the options.
[[nodiscard]] std::map<std::string, std::int64_t> implied_sizes(std::string_view equation, Tensors operands,
                                                                const EinsumOptions& options);

}  // namespace plated
