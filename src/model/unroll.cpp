// Unrolls a model: the unrolled graph with its slices of numbers, states and evidence.
#include <algorithm>
#include <map>
#include <optional>

#include "graph/unrolled_dims.hpp"
#include "model/directed.hpp"
#include "model/measured.hpp"
#include "plated/error.hpp"
#include "plated/model.hpp"
#include "tensor/check_entries.hpp"

namespace plated {
namespace {

Tensor sliced(const Tensor& numbers, const Slice& slice) {
  Tensor result = numbers;
  std::vector<std::pair<std::size_t, std::int64_t>> fixed = slice.index;
  // From the last axis on: a slice leaves the numbers of the axes before it as they are.
  std::sort(fixed.rbegin(), fixed.rend());
  for (const auto& [axis, index] : fixed) result = result.select(axis, index);
  return result;
}

/// Where a variable stands among those that links lead through: `first` begins them, `steps` lie between.
struct Place {
  DimId first = 0;
  std::int64_t steps = 0;
};

std::vector<Place> places_on_links(const FactorGraph& graph) {
  std::vector<Place> places(graph.dims().size());
  std::vector<std::optional<DimId>> before(graph.dims().size());
  for (const Chain& chain : graph.chains()) {
    for (const Link& link : chain.links) before[link.target] = link.source;
  }
  for (DimId d = 0; d < places.size(); ++d) {
    places[d].first = d;
    while (const auto previous = before[places[d].first]) {
      places[d].first = *previous;
      ++places[d].steps;
    }
  }
  return places;
}

/// Tells the copies of each variable: calls visit(name of the copy, index of its slice).
class Copies {
 public:
  explicit Copies(const FactorGraph& graph)
      : graph_(graph), plates_(graph.variable_plates()), places_(places_on_links(graph)) {}

  template <class Visit>
  void each(DimId variable, const Visit& visit) const {
    std::vector<std::int64_t> index(plates_[variable].size(), 0);
    for (const DimId plate : plates_[variable]) {
      if (graph_.dims()[plate].size == 0) return;
    }
    bool more = true;
    while (more) {
      visit(name(variable, index), index);
      more = false;
      for (std::size_t k = index.size(); k-- > 0 && !more;) {
        more = ++index[k] < graph_.dims()[plates_[variable][k]].size;
        if (!more) index[k] = 0;
      }
    }
  }

 private:
  std::string name(DimId variable, const std::vector<std::int64_t>& index) const {
    std::string copy = graph_.dims()[places_[variable].first].name;
    const auto chain = graph_.linking_chain(variable);
    for (std::size_t k = 0; k < index.size(); ++k) {
      const DimId plate = plates_[variable][k];
      // Slice t of what lies m links behind the first is state t + m of the chain.
      const std::int64_t slice = index[k] + (chain == plate ? places_[variable].steps : 0);
      copy = graph::copy_name(copy, graph_.dims()[plate].name, slice);
    }
    return copy;
  }

  const FactorGraph& graph_;
  std::vector<std::vector<DimId>> plates_;
  std::vector<Place> places_;
};

/// States, labels, observations and evidence of each copy.
void copy_meanings(const Model& model, Model& result) {
  const Copies copies(model.graph);
  for (const std::string& variable : variables(model)) {
    const DimId id = *model.graph.find(variable);
    const auto states = model.states.find(variable);
    const auto label = model.labels.find(variable);
    const bool observed = model.observed.contains(variable);
    const auto evidence = model.evidence.find(variable);
    if (evidence != model.evidence.end()) {
      tensor::check_states(evidence->second, variable, model.graph.dims()[id].size);
    }
    if (states == model.states.end() && label == model.labels.end() && !observed && evidence == model.evidence.end())
      continue;
    copies.each(id, [&](const std::string& copy, const std::vector<std::int64_t>& index) {
      if (states != model.states.end()) result.states.emplace(copy, states->second);
      if (label != model.labels.end())
        result.labels.emplace(copy, copy == variable ? label->second : label->second + copy.substr(copy.find('[')));
      if (observed) result.observed.insert(copy);
      if (evidence == model.evidence.end()) return;
      const std::int64_t state = evidence->second.at(index);
      if (state < 0) return;
      const auto [known, added] = result.evidence.emplace(copy, Integers({}, {state}));
      // Linked variables are one: two observations of a state of a chain must agree.
      if (!added && known->second[0] != state) {
        throw ImpossibleError("'" + copy + "' is observed in two states, as two variables that a link joins");
      }
    });
  }
}

/// What is said about learning a factor is said about its copies. Those of slices that share its numbers are the same,
/// and so are those of factors that share another's: the first copy has the numbers.
void copy_learning(const Model& model, const std::vector<Slice>& copies, Model& result) {
  const std::vector<Factor>& originals = model.graph.factors();
  const auto find = [&](const std::string& name) {
    const auto found =
        std::find_if(originals.begin(), originals.end(), [&](const Factor& f) { return f.name == name; });
    return static_cast<std::size_t>(found - originals.begin());
  };
  using Numbers = std::pair<std::size_t, std::vector<std::pair<std::size_t, std::int64_t>>>;
  const auto numbers_of = [&](const Slice& slice) {
    std::size_t root = slice.original;
    for (auto of = model.learning.find(originals[root].name); of != model.learning.end() && !of->second.same_as.empty();
         of = model.learning.find(originals[root].name)) {
      root = find(of->second.same_as);
    }
    return Numbers(root, slice.index);
  };
  std::map<Numbers, std::string> first;
  for (std::size_t f = 0; f < copies.size(); ++f) {
    const Numbers numbers = numbers_of(copies[f]);
    if (numbers.first == copies[f].original) first.emplace(numbers, result.graph.factors()[f].name);
  }
  for (std::size_t f = 0; f < copies.size(); ++f) {
    const auto said = model.learning.find(originals[copies[f].original].name);
    // What was measured has become tables, and likelihoods that were not say nothing.
    if (said == model.learning.end() || model.likelihoods.contains(said->first)) continue;
    Learning learning = said->second;
    if (learning.prior.rank() > 0) learning.prior = sliced(learning.prior, copies[f]);
    const std::string& name = result.graph.factors()[f].name;
    const auto source = first.find(numbers_of(copies[f]));
    learning.same_as = source == first.end() || source->second == name ? "" : source->second;
    result.learning.emplace(name, std::move(learning));
  }
}

}  // namespace

Model unroll(const Model& model) {
  if (!model.measurements.empty() || !model.lists.empty()) return unroll(model::bound(model));
  for (const auto& [chain, lengths] : model.lengths) {
    const std::int64_t size = model.graph.dims()[*model.graph.find(chain)].size;
    const bool ragged =
        std::any_of(lengths.values.begin(), lengths.values.end(), [&](std::int64_t length) { return length != size; });
    if (ragged) throw OptionError("chain '" + chain + "' is ragged: a graph has no lengths, so it cannot be unrolled");
  }
  for (const Dim& dim : model.graph.dims()) {
    if (dim.kind == DimKind::batch && !model.evidence.empty()) {
      throw OptionError("the evidence may differ between the problems of batch dim '" + dim.name +
                        "': it cannot be unrolled");
    }
  }
  UnrolledGraph unrolled = model.graph.unroll();
  Model result{.name = model.name, .format = model.format, .space = model.space, .notes = model.notes};
  for (std::size_t f = 0; f < unrolled.factors.size(); ++f) {
    const Slice& slice = unrolled.factors[f];
    result.factors.push_back(sliced(model.factors[slice.original], slice));
    std::string child;
    if (!model.children[slice.original].empty()) {
      const std::vector<DimId>& dims = model.graph.factors()[slice.original].dims;
      const DimId original = *model.graph.find(model.children[slice.original]);
      const auto axis = static_cast<std::size_t>(std::find(dims.begin(), dims.end(), original) - dims.begin());
      // The axes that slices fix are gone from the copy.
      const auto gone =
          std::count_if(slice.index.begin(), slice.index.end(), [&](const auto& fixed) { return fixed.first < axis; });
      child = unrolled.graph.dims()[unrolled.graph.factors()[f].dims[axis - static_cast<std::size_t>(gone)]].name;
    }
    result.children.push_back(std::move(child));
  }
  result.graph = std::move(unrolled.graph);
  copy_meanings(model, result);
  copy_learning(model, unrolled.factors, result);
  result.directed = model::is_directed(result);
  return result;
}

}  // namespace plated
