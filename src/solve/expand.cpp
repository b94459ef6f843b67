// Expands answers about a reduced model to all the states of the model's variables.
#include <algorithm>

#include "reduce/gather.hpp"
#include "solve/solver.hpp"

namespace plated::solve {
namespace {

/// Where the entries along one axis of a reduced answer go in the expanded one.
struct Axis {
  std::int64_t size = 0;                            // in the reduced answer
  std::int64_t stride = 0;                          // in the expanded one
  const std::vector<std::int64_t>* kept = nullptr;  // of states: their numbers in the model
};

/// A variable that is known: its state depends on the slice.
struct Known {
  const IntegerView* states = nullptr;
  std::vector<std::size_t> axes;  // those of its plates
  std::int64_t stride = 0;        // of its states
};

template <class T>
void scatter(const T* from, T* to, const std::vector<Axis>& axes, const std::vector<Known>& known,
             std::int64_t entries) {
  std::vector<std::int64_t> index(axes.size(), 0);
  std::vector<std::int64_t> slice;
  for (std::int64_t k = 0; k < entries; ++k) {
    std::int64_t target = 0;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      target += axes[a].stride * (axes[a].kept ? (*axes[a].kept)[static_cast<std::size_t>(index[a])] : index[a]);
    }
    for (const Known& variable : known) {
      slice.clear();
      for (const std::size_t a : variable.axes) slice.push_back(index[a]);
      target += variable.stride * variable.states->at(slice);
    }
    to[target] = from[k];
    for (std::size_t a = axes.size(); a-- > 0;) {
      if (++index[a] < axes[a].size) break;
      index[a] = 0;
    }
  }
}

}  // namespace

Tensor Solver::expanded(const std::vector<DimId>& variables, Tensor posterior, double absent) const {
  const bool in_order = std::is_sorted(variables.begin(), variables.end());
  if (in_order && std::none_of(variables.begin(), variables.end(), [&](DimId v) { return is_reduced(v); })) {
    return posterior;
  }
  const std::vector<Dim>& dims = model_.graph.dims();
  // The reduced graph has the dims of the model under the same ids.
  std::vector<DimId> from = axes_(variables);
  std::vector<DimId> to(from.begin(), from.end() - static_cast<std::ptrdiff_t>(variables.size()));
  to.insert(to.end(), variables.begin(), variables.end());
  Tensor::Shape shape;
  for (const DimId d : to) shape.push_back(dims[d].size);
  const Tensor::Shape strides = Tensor::row_major(shape);
  std::vector<Axis> axes;
  std::vector<Known> known;
  for (std::size_t a = 0; a < from.size(); ++a) {
    const auto place = static_cast<std::size_t>(std::find(to.begin(), to.end(), from[a]) - to.begin());
    Axis& axis = axes.emplace_back(Axis{.size = posterior.shape()[a], .stride = strides[place]});
    if (const auto kept = reduction_.kept.find(from[a]); kept != reduction_.kept.end()) axis.kept = &kept->second;
    if (const auto found = reduction_.known.find(from[a]); found != reduction_.known.end()) {
      Known& one = known.emplace_back(Known{.states = &found->second, .axes = {}, .stride = strides[place]});
      for (const DimId plate : graph().variable_plates()[from[a]]) {
        one.axes.push_back(static_cast<std::size_t>(std::find(from.begin(), from.end(), plate) - from.begin()));
      }
    }
  }
  Tensor all(posterior.dtype(), shape);
  if (posterior.dtype() == Dtype::float32) {
    const std::vector<double> entries = posterior.values();
    const std::vector<float> single(entries.begin(), entries.end());
    auto* const to_entries = static_cast<float*>(all.mutable_data());
    std::fill_n(to_entries, all.elements(), static_cast<float>(absent));
    scatter(single.data(), to_entries, axes, known, posterior.elements());
  } else {
    const std::vector<double> entries = posterior.values();
    auto* const to_entries = static_cast<double*>(all.mutable_data());
    std::fill_n(to_entries, all.elements(), absent);
    scatter(entries.data(), to_entries, axes, known, posterior.elements());
  }
  return all;
}

std::vector<std::int64_t> Solver::known_states(DimId v) const {
  const IntegerView& states = reduction_.known.at(v);
  const std::vector<DimId>& plates = graph().variable_plates()[v];
  std::vector<DimId> answered = axes_(v, false);
  answered.erase(answered.begin(), answered.begin() + static_cast<std::ptrdiff_t>(axes_.batch().size()));
  if (answered == plates) return states.values();
  Tensor::Shape shape;
  std::vector<std::size_t> place;  // of each plate among the axes of the answer
  for (const DimId d : answered) shape.push_back(graph().dims()[d].size);
  for (const DimId d : plates) {
    place.push_back(static_cast<std::size_t>(std::find(answered.begin(), answered.end(), d) - answered.begin()));
  }
  std::vector<std::int64_t> ordered;
  reduce::each_index(shape, [&](std::span<const std::int64_t> index) {
    std::vector<std::int64_t> slice;
    for (const std::size_t a : place) slice.push_back(index[a]);
    ordered.push_back(states.at(slice));
  });
  return ordered;
}

void Solver::expand(std::map<std::string, Integers>& assignment) const {
  for (auto& [name, states] : assignment) {
    const auto v = model_.graph.find(name);
    if (!v || !is_reduced(*v)) continue;
    const bool is_known = reduction_.known.contains(*v);
    const std::vector<std::int64_t> numbers = is_known ? known_states(*v) : reduction_.kept.at(*v);
    for (std::size_t k = 0; k < states.values.size(); ++k) {
      std::int64_t& state = states.values[k];
      if (state < 0) continue;  // a slice beyond a chain's length
      // Slices are counted over samples, batches and plates; what is known repeats over the former.
      state = numbers[is_known ? k % numbers.size() : static_cast<std::size_t>(state)];
    }
  }
}

}  // namespace plated::solve
