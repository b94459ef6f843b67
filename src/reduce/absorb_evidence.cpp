// Absorbs evidence into the tables: each factor keeps only the observed state of an observed variable.
#include <algorithm>
#include <optional>

#include "base/sorted_set.hpp"
#include "graph/answer_axes.hpp"
#include "graph/derived.hpp"
#include "graph/spell.hpp"
#include "model/measured.hpp"
#include "reduce/gather.hpp"
#include "reduce/reduction.hpp"
#include "tensor/check_entries.hpp"

namespace plated::reduce {
namespace {

/// A factor with a variable's axes taken out, and its numbers.
struct Absorbed {
  Factor factor;
  Tensor numbers;
};

class Absorber {
 public:
  Absorber(Reduction& reduction, Reading reading) : reduction_(reduction), model_(reduction.model), reading_(reading) {
    plates_ = model_.graph.variable_plates();
    has_ends_.assign(model_.graph.dims().size(), false);
    for (const Dim& dim : model_.graph.dims()) {
      if (dim.end != End::none) has_ends_[dim.of] = true;
    }
    holders_.resize(model_.graph.dims().size());
    for (std::size_t f = 0; f < model_.graph.factors().size(); ++f) {
      for (const DimId v : model_.graph.factor_variables(f)) holders_[v].push_back(f);
    }
  }

  void run() {
    graph::Derived::state_plates(model_.graph, plates_);
    for (auto entry = model_.evidence.begin(); entry != model_.evidence.end();) {
      const auto variable = model_.graph.find(entry->first);
      if (variable && absorb(*variable, entry->second)) {
        reduction_.known.emplace(*variable, std::move(entry->second));
        entry = model_.evidence.erase(entry);
      } else {
        ++entry;
      }
    }
  }

 private:
  bool absorb(DimId v, const IntegerView& states) {
    if (!whole(v, states)) return false;
    if (reading_ == Reading::in_place && read_in_place_at(model_, v)) return false;
    std::vector<Absorbed> absorbed;
    for (const std::size_t f : holders_[v]) {
      std::optional<Absorbed> without = select(f, v, states);
      if (!without) return false;
      absorbed.push_back(std::move(*without));
    }
    for (std::size_t k = 0; k < absorbed.size(); ++k) {
      graph::Derived::put_factor(model_.graph, holders_[v][k], std::move(absorbed[k].factor));
      model_.factors[holders_[v][k]] = std::move(absorbed[k].numbers);
    }
    graph::Derived::resize_variable(model_.graph, v, 1);
    return true;
  }

  /// Whether all slices of an ordinary variable are observed, alike in all batches.
  [[nodiscard]] bool whole(DimId v, const IntegerView& states) const {
    const FactorGraph& graph = model_.graph;
    Tensor::Shape sizes;
    for (const DimId plate : plates_[v]) {
      sizes.push_back(graph.dims()[plate].size);
      if (model_.lengths.contains(graph.dims()[plate].name)) return false;
    }
    if (states.shape() != sizes || graph.linking_chain(v) || has_ends_[v]) return false;
    tensor::check_states(states, graph.dims()[v].name, graph.dims()[v].size);
    return tensor::range_of(states).least >= 0;
  }

  /// None where the result would be much larger than the factor and a table of what was seen.
  [[nodiscard]] std::optional<Absorbed> select(std::size_t f, DimId v, const IntegerView& states) const {
    const Factor& before = model_.graph.factors()[f];
    const Tensor& numbers = model_.factors[f];
    if (plates_[v].empty()) return select_one(before, numbers, v, states[0]);

    Absorbed result{before, {}};
    // The slices of a tied factor differ by what was seen in them.
    std::vector<DimId> untied = base::intersect(base::sorted(before.tied), plates_[v]);
    std::erase_if(result.factor.tied, [&](DimId d) { return base::contains(untied, d); });
    std::erase(result.factor.dims, v);
    result.factor.dims.insert(result.factor.dims.begin(), untied.begin(), untied.end());
    forget_distribution(result.factor, v);

    double elements = 1;
    Tensor::Shape shape;
    for (const DimId d : result.factor.dims) {
      shape.push_back(model_.graph.dims()[d].size);
      elements *= static_cast<double>(shape.back());
    }
    constexpr double most_growth = 4;
    const double now = static_cast<double>(numbers.elements()) +
                       static_cast<double>(states.size()) * static_cast<double>(model_.graph.dims()[v].size);
    if (elements > most_growth * now) return std::nullopt;
    result.numbers = gather_seen(before, numbers, v, states, result.factor.dims, shape);
    return result;
  }

  [[nodiscard]] static Absorbed select_one(const Factor& before, const Tensor& numbers, DimId v, std::int64_t state) {
    Absorbed result{before, numbers};
    for (std::size_t a = before.dims.size(); a-- > 0;) {
      if (before.dims[a] == v) result.numbers = result.numbers.select(a, state);
    }
    std::erase(result.factor.dims, v);
    forget_distribution(result.factor, v);
    return result;
  }

  static void forget_distribution(Factor& factor, DimId v) {
    if (factor.distribution_of == v) factor.distribution_of.reset();
  }

  /// Slice by slice of the variable's plates a view of the factor, the others as they are.
  [[nodiscard]] Tensor gather_seen(const Factor& before, const Tensor& numbers, DimId v, const IntegerView& states,
                                   const std::vector<DimId>& dims, const Tensor::Shape& shape) const {
    Tensor result(numbers.dtype(), shape);
    each_index(states.shape(), [&](std::span<const std::int64_t> slice) {
      const std::int64_t state = states.at(slice);
      const auto at = [&](DimId d) -> std::optional<std::int64_t> {
        if (d == v) return state;
        const auto place = std::find(plates_[v].begin(), plates_[v].end(), d);
        if (place == plates_[v].end()) return std::nullopt;
        return slice[static_cast<std::size_t>(place - plates_[v].begin())];
      };
      copy_entries(fixed(result, dims, at), fixed(numbers, before.dims, at));
    });
    return result;
  }

  template <class At>
  static Tensor fixed(Tensor tensor, const std::vector<DimId>& dims, const At& at) {
    for (std::size_t a = dims.size(); a-- > 0;) {
      if (const auto index = at(dims[a])) tensor = tensor.select(a, *index);
    }
    return tensor;
  }

  static void copy_entries(const Tensor& to, const Tensor& from) {
    if (to.dtype() == Dtype::float32) {
      copy_entries(static_cast<float*>(to.mutable_data()), to, static_cast<const float*>(from.data()), from);
    } else {
      copy_entries(static_cast<double*>(to.mutable_data()), to, static_cast<const double*>(from.data()), from);
    }
  }
  template <class T>
  static void copy_entries(T* to, const Tensor& target, const T* from, const Tensor& source) {
    each_index(target.shape(), [&](std::span<const std::int64_t> index) {
      std::int64_t a = 0;
      std::int64_t b = 0;
      for (std::size_t k = 0; k < index.size(); ++k) {
        a += index[k] * target.strides()[k];
        b += index[k] * source.strides()[k];
      }
      to[a] = from[b];
    });
  }

  Reduction& reduction_;
  Model& model_;
  Reading reading_;
  std::vector<std::vector<DimId>> plates_;
  std::vector<bool> has_ends_;                     // [variable]
  std::vector<std::vector<std::size_t>> holders_;  // [variable]
};

}  // namespace

std::optional<std::size_t> read_in_place_at(const Model& model, DimId v) {
  const FactorGraph& graph = model.graph;
  const std::vector<Dim>& dims = graph.dims();
  const std::vector<DimId>& plates = graph.variable_plates()[v];
  if (plates.empty() || graph.linking_chain(v)) return std::nullopt;
  std::optional<std::size_t> holder;
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    const auto times = std::count(graph.factors()[f].dims.begin(), graph.factors()[f].dims.end(), v);
    if (times > 1 || (times == 1 && holder)) return std::nullopt;
    if (times == 1) holder = f;
  }
  if (!holder || graph.factor_plates(*holder) != plates) return std::nullopt;
  const Factor& factor = graph.factors()[*holder];
  double entries = 1;
  for (const DimId d : plates) {
    if (model.lengths.contains(dims[d].name)) return std::nullopt;
    if (!graph::contains(factor.dims, d)) entries *= static_cast<double>(dims[d].size);
  }
  for (const DimId d : factor.dims) {
    if (dims[d].kind == DimKind::batch || dims[d].end != End::none) return std::nullopt;
    if (d != v) entries *= static_cast<double>(dims[d].size);
  }
  const auto has_end = [&](const Dim& dim) { return dim.end != End::none && dim.of == v; };
  if (std::any_of(dims.begin(), dims.end(), has_end)) return std::nullopt;
  constexpr double large = 65536;
  return entries > large ? holder : std::nullopt;
}

void absorb_evidence(Reduction& reduction, Reading reading) {
  if (!reduction.model.evidence.empty()) Absorber(reduction, reading).run();
}

Reduction reduce(const Model& model, const Evidence& evidence, const Lengths& lengths, Reading reading,
                 bool states_known) {
  Reduction reduction{.model = model};
  for (const auto& [chain, of_chain] : lengths) reduction.model.lengths.insert_or_assign(chain, of_chain);
  observe(reduction.model, evidence);
  for (const auto& [variable, list] : reduction.model.lists) reduction.listed.insert(*model.graph.find(variable));
  const bool binds = !model.measurements.empty() || !reduction.listed.empty();
  if (binds) reduction.model = model::bound(std::move(reduction.model));
  // Where nothing is bound it shares the caller's graph: the copy goes.
  reduction.model.graph = graph::total_graph(binds ? reduction.model.graph : model.graph);
  absorb_evidence(reduction, reading);
  if (states_known) drop_impossible(reduction);
  return reduction;
}

}  // namespace plated::reduce
