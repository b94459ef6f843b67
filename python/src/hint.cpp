// Looks at some entries of operands, and warns where they are normalised in the wrong space.
#include "hint.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <unordered_set>
#include <vector>

namespace plated::python {

namespace nb = nanobind;

namespace {

constexpr std::int64_t looks = 4;            // at slices of an operand
constexpr std::int64_t most_entries = 1024;  // of a slice that is summed
constexpr std::size_t most_equations = 1024;
constexpr std::size_t longest_equation = 4096;

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

bool holds_logarithms(Semiring semiring) { return semiring == Semiring::log || semiring == Semiring::max_plus; }

double entry(const Tensor& tensor, std::int64_t offset) {
  if (tensor.dtype() == Dtype::float32) return static_cast<const float*>(tensor.data())[offset];
  return static_cast<const double*>(tensor.data())[offset];
}

/// What the entries of a slice have shown so far: probabilities in place of logarithms, or the other way around.
struct Sum {
  bool logarithms = false;  // are expected
  double total = 0;
  bool admitted = true;
  bool inside = false;  // some entry is neither impossible nor certain: scores of zeros and ones are no probabilities

  void add(double x) {
    const double p = logarithms ? x : std::exp(x);
    admitted = admitted && (logarithms ? x >= 0 && x <= 1 : x <= 0);
    inside = inside || (p > 0 && p < 1);
    total += p;
  }
  [[nodiscard]] bool is_one(Dtype dtype) const {
    return admitted && inside && std::abs(total - 1) < (dtype == Dtype::float32 ? 1e-5 : 1e-6);
  }
};

/// Whether the entries along some axes sum to one in each of a few slices.
bool sums_to_one(const Tensor& tensor, const std::vector<std::size_t>& axes, bool logarithms) {
  const Tensor::Shape& shape = tensor.shape();
  std::int64_t entries = 1;
  for (const std::size_t axis : axes) {
    if (shape[axis] > most_entries) return false;
    entries *= shape[axis];
    if (entries > most_entries) return false;
  }
  if (entries < 2) return false;
  for (std::int64_t look = 0; look < looks; ++look) {
    std::int64_t start = 0;  // of a slice: the first, the last, or between them
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
      start += tensor.strides()[axis] * ((shape[axis] - 1) * look / (looks - 1));
    }
    Sum sum{.logarithms = logarithms};
    for (std::int64_t k = 0; k < entries; ++k) {
      std::int64_t offset = start;
      for (std::int64_t rest = k, a = static_cast<std::int64_t>(axes.size()) - 1; a >= 0; --a) {
        const std::size_t axis = axes[static_cast<std::size_t>(a)];
        offset += tensor.strides()[axis] * (rest % shape[axis]);
        rest /= shape[axis];
      }
      sum.add(entry(tensor, offset));
    }
    if (!sum.is_one(tensor.dtype())) return false;
  }
  return true;
}

/// The variables over which a factor's entries sum to one though they should not: one of its variables, or all.
std::optional<std::vector<std::string>> normalised_over(const FactorGraph& graph, const Factor& factor,
                                                        const Tensor& tensor, bool logarithms) {
  if (tensor.data() == nullptr || tensor.elements() == 0 || tensor.rank() != factor.dims.size()) return std::nullopt;
  std::vector<std::size_t> variables;
  for (std::size_t axis = 0; axis < factor.dims.size(); ++axis) {
    if (graph.dims()[factor.dims[axis]].kind == DimKind::variable) variables.push_back(axis);
  }
  std::vector<std::vector<std::size_t>> candidates;
  for (const std::size_t axis : variables) candidates.push_back({axis});
  if (variables.size() > 1) candidates.push_back(variables);
  for (const std::vector<std::size_t>& axes : candidates) {
    if (!sums_to_one(tensor, axes, logarithms)) continue;
    std::vector<std::string> names;
    for (const std::size_t axis : axes) names.push_back(graph.dims()[factor.dims[axis]].name);
    return names;
  }
  return std::nullopt;
}

void hint(const FactorGraph& graph, std::span<const Tensor> operands, bool logarithms, const std::string& what,
          const std::string& taken, const std::string& remedy) {
  for (std::size_t f = 0; f < std::min(operands.size(), graph.factors().size()); ++f) {
    const Factor& factor = graph.factors()[f];
    const auto over = normalised_over(graph, factor, operands[f], logarithms);
    if (!over) continue;
    std::string names;
    for (const std::string& name : *over) names += (names.empty() ? "'" : ", '") + name + "'";
    const std::string subject = what.empty() ? "factor '" + factor.name + "'" : what + " " + std::to_string(f);
    const std::string found = logarithms ? " sums to one over " + names +
                                               ", and its exponentials do not: these look "
                                               "like probabilities, and "
                                         : " has exponentials that sum to one over " + names +
                                               ", and its entries do not: these look like logarithms of probabilities, "
                                               "and ";
    nb::module_::import_("plated._hints").attr("warn")(subject + found + taken + "; " + remedy + "?");
    return;
  }
}

}  // namespace

bool is_first_look(std::string_view equation, Semiring semiring) {
  if (!holds_logarithms(semiring) && semiring != Semiring::real) return false;
  static std::array<std::unordered_set<std::string, Hash, std::equal_to<>>, 3> seen;
  auto& of_semiring = seen[semiring == Semiring::real ? 0 : semiring == Semiring::log ? 1 : 2];
  if (of_semiring.find(equation) != of_semiring.end()) return false;
  if (of_semiring.size() >= most_equations || equation.size() > longest_equation) return false;
  of_semiring.emplace(equation);
  return true;
}

void hint_at_semiring(const FactorGraph& graph, std::span<const Tensor> operands, Semiring semiring) {
  const bool logarithms = holds_logarithms(semiring);
  const std::string other = semiring == Semiring::real ? "log" : semiring == Semiring::log ? "real" : "max_product";
  hint(graph, operands, logarithms, "operand",
       "the " + std::string(name(semiring)) + " semiring takes " + (logarithms ? "logarithms" : "weights"),
       "semiring='" + other + "'");
}

void hint_at_space(const FactorGraph& graph, std::span<const Tensor> numbers, bool logarithms) {
  hint(graph, numbers, logarithms, "",
       std::string("space='") + (logarithms ? "log" : "real") + "' takes " + (logarithms ? "logarithms" : "weights"),
       std::string("space='") + (logarithms ? "real" : "log") + "'");
}

}  // namespace plated::python
