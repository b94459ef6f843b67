// Reads the sizes of dims that no operand has off the shapes of evidence and lengths.
#include <algorithm>
#include <set>

#include "base/sorted_set.hpp"
#include "graph/answer_axes.hpp"
#include "graph/parse_equation.hpp"
#include "plated/einsum.hpp"

namespace plated {
namespace {

using Sizes = std::map<std::string, std::int64_t>;

class Reader {
 public:
  Reader(const FactorGraph& graph, Sizes& sizes) : graph_(graph), axes_(graph), sizes_(sizes) {
    for (const Dim& dim : graph.dims()) open_.push_back(has_slices(dim.kind) || dim.kind == DimKind::batch);
    for (const Factor& factor : graph.factors()) {
      for (const DimId d : factor.dims) open_[d] = false;
    }
    for (const auto& [name, size] : sizes) {
      if (const auto dim = graph.find(name)) open_[*dim] = false;
    }
  }

  [[nodiscard]] bool is_done() const {
    return std::none_of(open_.begin(), open_.end(), [](bool open) { return open; });
  }

  void read_evidence(const std::string& variable, const std::vector<std::int64_t>& shape) {
    const auto v = graph_.find(variable);
    if (v && graph_.dims()[*v].kind == DimKind::variable) read(axes_(*v, false), shape);
  }

  void read_lengths(const std::string& name, const std::vector<std::int64_t>& shape) {
    const auto dim = graph_.find(name);
    if (!dim || !has_slices(graph_.dims()[*dim].kind)) return;
    std::vector<DimId> around = around_all(*dim);
    around.insert(around.begin(), axes_.batch().begin(), axes_.batch().end());
    read(around, shape);
  }

  /// A dim whose size nothing else tells has as many slices as the longest row.
  void read_longest(const std::string& name, const IntegerView& given) {
    const auto dim = graph_.find(name);
    if (!dim || !open_[*dim]) return;
    const std::vector<std::int64_t> lengths = given.values();
    if (lengths.empty()) return;
    settle(*dim, std::max<std::int64_t>(0, *std::max_element(lengths.begin(), lengths.end())));
  }

 private:
  /// The plates that everything in a plate or chain is in, besides itself.
  [[nodiscard]] std::vector<DimId> around_all(DimId plate) const {
    base::SortedSet common;
    bool is_first = true;
    const auto meet = [&](const std::vector<DimId>& plates) {
      const base::SortedSet sorted = base::sorted(plates);
      if (!base::contains(sorted, plate)) return;
      common = is_first ? sorted : base::intersect(common, sorted);
      is_first = false;
    };
    for (std::size_t f = 0; f < graph_.factors().size(); ++f) meet(graph_.factor_plates(f));
    for (const std::vector<DimId>& plates : graph_.variable_plates()) meet(plates);
    std::erase(common, plate);
    return common;
  }

  /// Batch dims come first, or not at all; a shape of another rank is refused where it is used.
  void read(std::vector<DimId> axes, const std::vector<std::int64_t>& shape) {
    const std::size_t batch = axes_.batch().size();
    if (shape.size() + batch == axes.size())
      axes.erase(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(batch));
    for (std::size_t k = 0; shape.size() == axes.size() && k < axes.size(); ++k) {
      if (open_[axes[k]]) settle(axes[k], shape[k]);
    }
  }

  void settle(DimId dim, std::int64_t size) {
    sizes_.emplace(graph_.dims()[dim].name, size);
    open_[dim] = false;
  }

  const FactorGraph& graph_;
  graph::AnswerAxes axes_;
  Sizes& sizes_;
  std::vector<bool> open_;  // no operand has the dim, and nothing has told its size yet
};

}  // namespace

std::map<std::string, std::int64_t> implied_sizes(const FactorGraph& graph, const IntegersByName& evidence,
                                                  const IntegersByName& lengths,
                                                  std::map<std::string, std::int64_t> sizes) {
  if (evidence.empty() && lengths.empty()) return sizes;
  Reader reader(graph, sizes);
  if (reader.is_done()) return sizes;
  for (const auto& [variable, states] : evidence) reader.read_evidence(variable, states.shape());
  for (const auto& [name, given] : lengths) reader.read_lengths(name, given.shape());
  for (const auto& [name, given] : lengths) reader.read_longest(name, given);
  return sizes;
}

std::map<std::string, std::int64_t> implied_sizes(std::string_view equation, Tensors operands,
                                                  const EinsumOptions& options) {
  if (options.evidence.empty() && options.lengths.empty()) return options.sizes;
  const graph::ParsedEquation parsed = graph::parse_equation(equation, options.spaced);
  std::set<std::string_view> tied, carried;
  for (const graph::Term& term : parsed.operands) {
    for (const auto& [name, is_tied] : term.dims) (is_tied ? tied : carried).insert(name);
  }
  EquationOptions reading = options.reading();
  for (const std::string_view name : tied) {
    if (!carried.contains(name)) reading.sizes.emplace(name, 1);  // to be replaced
  }
  if (reading.sizes.size() == options.sizes.size()) return options.sizes;
  std::vector<std::vector<std::int64_t>> shapes;
  for (const Tensor& operand : operands) shapes.push_back(operand.shape());
  const FactorGraph graph = FactorGraph::from_equation(equation, shapes, reading);
  return implied_sizes(graph, options.evidence, options.lengths, options.sizes);
}

}  // namespace plated
