// Checks the shapes and values of operands and outputs.
#include "engine/check_operands.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/inspect.hpp"
#include "engine/slices.hpp"
#include "plated/error.hpp"

namespace plated::engine {
namespace {

/// An operand, output or gradient, named only when an error needs it: a run that finds nothing wrong must not allocate.
struct Subject {
  const FactorGraph& graph;
  enum class Kind : std::uint8_t { operand, output, gradient };
  Kind kind = Kind::operand;
  std::size_t index = 0;

  [[nodiscard]] std::string name() const {
    if (kind == Kind::output) return "output " + std::to_string(index);
    return (kind == Kind::gradient ? "the gradient of " : "") + operand_name(graph, index);
  }
};

void check_shape(const Subject& subject, const planner::Extents& extents, const std::vector<DimId>& dims,
                 const Tensor& tensor, bool with_data = true) {
  if (!is_floating(tensor.dtype())) {
    throw OptionError(subject.name() + " is of " + std::string(name(tensor.dtype())) +
                      ": numbers are float32 or float64, and observed states are evidence");
  }
  if (tensor.rank() != dims.size()) {
    throw RankError(subject.name() + " has " + std::to_string(dims.size()) + " dims, but a tensor of shape " +
                    shape_text(tensor.shape()) + " was given");
  }
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const std::int64_t size = extents[dims[axis]];
    if (tensor.shape()[axis] != size) {
      throw SizeError(subject.name() + ": dim '" + subject.graph.dims()[dims[axis]].name + "' has size " +
                      std::to_string(size) + ", but axis " + std::to_string(axis) + " of the tensor has size " +
                      std::to_string(tensor.shape()[axis]));
    }
  }
  if (with_data && tensor.data() == nullptr && tensor.elements() > 0) {
    throw NullDataError(subject.name() + " has no data");
  }
}

/// The bytes that a tensor's elements lie in, gaps included: [first, last).
std::pair<std::uintptr_t, std::uintptr_t> extent_in_memory(const Tensor& tensor) {
  if (tensor.elements() == 0) return {0, 0};
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
    const std::int64_t reach = tensor.strides()[axis] * (tensor.shape()[axis] - 1);
    (reach < 0 ? lowest : highest) += reach;
  }
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype()));
  const auto data = reinterpret_cast<std::uintptr_t>(tensor.data());
  return {data + static_cast<std::uintptr_t>(lowest * size), data + static_cast<std::uintptr_t>((highest + 1) * size)};
}

/// An axis whose step does not lead beyond everything that the axes with smaller steps reach. Where there is none, no
/// two indices share an element; where there is one, they may.
std::optional<std::size_t> overlapping_axis(const Tensor& tensor) {
  if (tensor.elements() == 0) return std::nullopt;
  const auto step = [&](std::size_t axis) { return std::abs(tensor.strides()[axis]); };
  for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
    if (tensor.shape()[axis] < 2) continue;
    std::int64_t reach = 0;
    for (std::size_t other = 0; other < tensor.rank(); ++other) {
      const bool smaller = step(other) < step(axis) || (step(other) == step(axis) && other < axis);
      if (smaller && tensor.shape()[other] > 1) reach += step(other) * (tensor.shape()[other] - 1);
    }
    if (step(axis) <= reach || step(axis) == 0) return axis;
  }
  return std::nullopt;
}

using Extent = std::pair<std::uintptr_t, std::uintptr_t>;

bool overlap(const Extent& a, const Extent& b) { return a.first < b.second && b.first < a.second; }

/// Tensors that are written must be writable and share no memory with themselves, each other, or what is read.
/// `index_of` numbers them as the caller counts.
template <class IndexOf>
void check_written(const FactorGraph& graph, std::span<const Tensor> written, Subject::Kind kind, IndexOf index_of,
                   std::span<const Tensor> operands) {
  struct Stretch {
    Extent extent;
    std::size_t index;
  };
  // Kept between calls: a run that finds nothing wrong must not allocate.
  thread_local std::vector<Stretch> stretches;
  stretches.clear();
  for (std::size_t k = 0; k < written.size(); ++k) {
    const Subject subject{graph, kind, index_of(k)};
    if (!written[k].writable()) throw ShapeError(subject.name() + " views read-only memory");
    if (const auto axis = overlapping_axis(written[k])) {
      throw OverlapError(subject.name() + " may overlap itself: axis " + std::to_string(*axis) + " has stride " +
                         std::to_string(written[k].strides()[*axis]));
    }
    const Extent extent = extent_in_memory(written[k]);
    if (extent.first < extent.second) stretches.push_back({extent, k});
  }
  // Outputs are written while operands are still being read, so that they must not share memory. Interleaved views that
  // share no element are refused as well: telling them apart is a hard problem, and copying one is easy.
  const auto refuse = [&](std::size_t k, const Subject& other) {
    throw OverlapError(Subject{graph, kind, index_of(k)}.name() + " overlaps " + other.name() +
                       " in memory; write into memory of its own");
  };
  std::sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) { return a.extent < b.extent; });
  for (std::size_t k = 1; k < stretches.size(); ++k) {
    if (!overlap(stretches[k - 1].extent, stretches[k].extent)) continue;
    const auto [low, high] = std::minmax(stretches[k - 1].index, stretches[k].index);
    refuse(high, {graph, kind, index_of(low)});
  }
  for (std::size_t f = 0; f < operands.size(); ++f) {
    const Extent extent = extent_in_memory(operands[f]);
    // The stretches are apart now, so that only the last one to begin before an operand's end can reach into it.
    const auto after = std::lower_bound(stretches.begin(), stretches.end(), extent.second,
                                        [](const Stretch& a, std::uintptr_t end) { return a.extent.first < end; });
    if (after == stretches.begin() || !overlap(std::prev(after)->extent, extent)) continue;
    refuse(std::prev(after)->index, {graph, Subject::Kind::operand, f});
  }
}

}  // namespace

std::string operand_name(const FactorGraph& graph, std::size_t operand) {
  const std::string number = "operand " + std::to_string(operand);
  // What a question brings along comes after the factors.
  return operand < graph.factors().size() ? number + " ('" + graph.factors()[operand].name + "')" : number;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "(" + text + ")";
}

planner::Extents named_extents(const FactorGraph& graph, const std::map<std::string, std::int64_t>& sizes) {
  planner::Extents extents = planner::extents_of(graph);
  for (const auto& [name, size] : sizes) {
    const auto dim = graph.find(name);
    if (!dim) throw UnknownNameError("a size is given for '" + name + "', and the model has no such dim");
    if (size < 0) throw SizeError("dim '" + name + "' cannot have the negative size " + std::to_string(size));
    if (graph.dims()[*dim].kind == DimKind::variable && size != graph.dims()[*dim].size) {
      throw SizeError("variable '" + name + "' has " + std::to_string(graph.dims()[*dim].size) +
                      " states, and no run can change that to " + std::to_string(size));
    }
    extents[*dim] = size;
  }
  return extents;
}

void read_extents(const FactorGraph& graph, std::span<const Tensor> operands,
                  const std::map<std::string, std::int64_t>& sizes, planner::Extents& extents, bool with_data) {
  if (operands.size() != graph.factors().size()) {
    throw OperandCountError("the model has " + std::to_string(graph.factors().size()) + " factors, but " +
                            std::to_string(operands.size()) + " operands were given");
  }
  if (sizes.empty()) {
    extents.clear();
    for (const Dim& dim : graph.dims()) extents.push_back(dim.size);
  } else {
    extents = named_extents(graph, sizes);
  }
  // The first operand that has a plate tells its size, unless that was given by name.
  thread_local std::vector<char> known;
  known.assign(extents.size(), 0);
  for (const auto& [name, size] : sizes) known[*graph.find(name)] = 1;
  for (std::size_t f = 0; f < operands.size(); ++f) {
    const std::vector<DimId>& dims = graph.factors()[f].dims;
    for (std::size_t axis = 0; operands[f].rank() == dims.size() && axis < dims.size(); ++axis) {
      const DimId d = dims[axis];
      if (known[d] != 0 || graph.dims()[d].kind == DimKind::variable) continue;
      extents[d] = operands[f].shape()[axis];
      known[d] = 1;
    }
    check_shape({graph, Subject::Kind::operand, f}, extents, dims, operands[f], with_data);
  }
}

void check_outputs(const FactorGraph& graph, const planner::Extents& extents, std::span<const Tensor> outputs,
                   std::span<const Tensor> operands) {
  if (outputs.size() != graph.outputs().size()) {
    throw OperandCountError("the model has " + std::to_string(graph.outputs().size()) + " outputs, but " +
                            std::to_string(outputs.size()) + " tensors to write them into were given");
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    check_shape({graph, Subject::Kind::output, k}, extents, graph.outputs()[k].dims, outputs[k]);
  }
  check_written(
      graph, outputs, Subject::Kind::output, [](std::size_t k) { return k; }, operands);
}

void check_gradients(const FactorGraph& graph, const planner::Extents& extents, const std::vector<bool>& wanted,
                     std::span<const Tensor> gradients, std::span<const Tensor> operands) {
  // Kept between calls: a run that finds nothing wrong must not allocate.
  thread_local std::vector<std::size_t> factor;
  factor.clear();
  for (std::size_t f = 0; f < wanted.size(); ++f) {
    if (!wanted[f]) continue;
    check_shape({graph, Subject::Kind::gradient, f}, extents, graph.factors()[f].dims, gradients[factor.size()]);
    factor.push_back(f);
  }
  check_written(
      graph, gradients, Subject::Kind::gradient, [&](std::size_t k) { return factor[k]; }, operands);
}

void check_place(const char* what, const std::string& name, const Tensor& place,
                 const std::vector<std::int64_t>& shape) {
  const auto called = [&] { return "the place of " + std::string(what) + (name.empty() ? "" : " '" + name + "'"); };
  if (place.shape() != shape) {
    throw SizeError(called() + " has the shape " + shape_text(place.shape()) + " instead of " + shape_text(shape));
  }
  if (!place.writable()) throw ShapeError(called() + " views read-only memory");
  if (overlapping_axis(place)) throw OverlapError(called() + " may overlap itself");
}

void check_apart(std::span<const Tensor> places, std::span<const Tensor> read) {
  // Kept between calls: a question that has been asked before must not allocate.
  thread_local std::vector<Extent> stretches;
  stretches.clear();
  for (const Tensor& place : places) {
    if (place.elements() > 0) stretches.push_back(extent_in_memory(place));
  }
  std::sort(stretches.begin(), stretches.end());
  for (std::size_t k = 1; k < stretches.size(); ++k) {
    if (overlap(stretches[k - 1], stretches[k])) throw OverlapError("the places of two answers overlap in memory");
  }
  for (std::size_t f = 0; f < read.size(); ++f) {
    const Extent extent = extent_in_memory(read[f]);
    const auto after = std::lower_bound(stretches.begin(), stretches.end(), extent.second,
                                        [](const Extent& a, std::uintptr_t end) { return a.first < end; });
    if (after == stretches.begin() || !overlap(*std::prev(after), extent)) continue;
    throw OverlapError("the place of an answer overlaps operand " + std::to_string(f) +
                       " in memory; write into memory of its own");
  }
}

void check_like(const std::string& what, const Tensor& tensor, const std::vector<std::int64_t>& shape) {
  if (tensor.shape() != shape) {
    throw SizeError(what + " has the shape " + shape_text(tensor.shape()) + " instead of " + shape_text(shape));
  }
  if (tensor.data() == nullptr && tensor.elements() > 0) throw NullDataError(what + " has no data");
  if (admits(tensor, Semiring::real, 1)) return;
  const std::vector<std::int64_t> bad = kernels::first_bad_entry(tensor, Semiring::real).value();
  throw ValueError(what + " has the entry " + std::to_string(tensor.at(bad)) + " at index " + shape_text(bad));
}

void refuse_values(const FactorGraph& graph, std::size_t operand, const Tensor& tensor, Semiring semiring) {
  const std::vector<std::int64_t> bad = kernels::first_bad_entry(tensor, semiring).value();
  throw ValueError(operand_name(graph, operand) + " has the entry " + std::to_string(tensor.at(bad)) + " at index " +
                   shape_text(bad) + ", which the " + std::string(name(semiring)) + " semiring does not admit");
}

}  // namespace plated::engine
