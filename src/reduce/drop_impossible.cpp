// Drops impossible states: generalised arc consistency on the zeros of factors, then smaller tables.
#include <algorithm>
#include <deque>
#include <limits>

#include "graph/derived.hpp"
#include "reduce/gather.hpp"
#include "reduce/reduction.hpp"

namespace plated::reduce {
namespace {

class Dropper {
 public:
  explicit Dropper(Reduction& reduction)
      : reduction_(reduction),
        model_(reduction.model),
        zero_(model_.space == Space::log ? -std::numeric_limits<double>::infinity() : 0.0) {
    const FactorGraph& graph = model_.graph;
    const std::vector<std::vector<DimId>>& plates = graph.variable_plates();
    plain_.assign(graph.dims().size(), false);
    possible_.resize(graph.dims().size());
    for (DimId d = 0; d < graph.dims().size(); ++d) {
      const Dim& dim = graph.dims()[d];
      plain_[d] = dim.kind == DimKind::variable && dim.end == End::none && plates[d].empty() && dim.size > 0;
    }
    for (const Dim& dim : graph.dims()) {
      if (dim.end != End::none) plain_[dim.of] = false;
    }
  }

  void run() {
    find_speakers();
    while (!waiting_.empty() && !reduction_.impossible) {
      const std::size_t f = waiting_.front();
      waiting_.pop_front();
      queued_[f] = false;
      listen_to(f);
    }
    if (!reduction_.impossible) shrink();
  }

 private:
  /// Factors of nothing but plain variables that have a zero anywhere.
  void find_speakers() {
    const auto& factors = model_.graph.factors();
    queued_.assign(factors.size(), false);
    speakers_of_.resize(plain_.size());
    for (std::size_t f = 0; f < factors.size(); ++f) {
      const std::vector<DimId>& dims = factors[f].dims;
      const bool plain =
          factors[f].tied.empty() && std::all_of(dims.begin(), dims.end(), [&](DimId d) { return plain_[d]; });
      if (!plain || !has_zero(model_.factors[f])) continue;
      for (const DimId d : dims) {
        speakers_of_[d].push_back(f);
        // Only these: a variable that no table holds may have more states than there is memory.
        possible_[d].assign(static_cast<std::size_t>(model_.graph.dims()[d].size), true);
      }
      waiting_.push_back(f);
      queued_[f] = true;
    }
  }

  [[nodiscard]] bool has_zero(const Tensor& numbers) const {
    bool found = false;
    visit_rows(numbers, [&](auto* row, std::int64_t stride, std::int64_t size, std::span<const std::int64_t>) {
      for (std::int64_t k = 0; k < size; ++k) found = found || static_cast<double>(row[k * stride]) == zero_;
      return !found;
    });
    return found;
  }

  /// Calls visit(first entry, stride, entries, index of the axes before the last) until it returns false.
  template <class Visit>
  static void visit_rows(const Tensor& numbers, const Visit& visit) {
    if (numbers.dtype() == Dtype::float32) {
      visit_rows(static_cast<const float*>(numbers.data()), numbers, visit);
    } else {
      visit_rows(static_cast<const double*>(numbers.data()), numbers, visit);
    }
  }
  template <class T, class Visit>
  static void visit_rows(const T* data, const Tensor& numbers, const Visit& visit) {
    if (numbers.rank() == 0) {
      visit(data, std::int64_t{1}, std::int64_t{1}, std::span<const std::int64_t>{});
      return;
    }
    const std::size_t last = numbers.rank() - 1;
    bool more = true;
    each_index(std::span(numbers.shape()).first(last), [&](std::span<const std::int64_t> index) {
      if (!more) return;
      const T* row = data;
      for (std::size_t a = 0; a < last; ++a) row += index[a] * numbers.strides()[a];
      more = visit(row, numbers.strides()[last], numbers.shape()[last], index);
    });
  }

  /// Which states of its variables a factor gives weight, the others being what is still possible.
  void listen_to(std::size_t f) {
    const std::vector<DimId>& dims = model_.graph.factors()[f].dims;
    std::vector<std::vector<bool>> seen;
    for (const DimId d : dims) seen.emplace_back(possible_[d].size(), false);
    bool any = dims.empty();
    visit_rows(model_.factors[f],
               [&](auto* row, std::int64_t stride, std::int64_t size, std::span<const std::int64_t> index) {
                 if (dims.empty()) {
                   any = static_cast<double>(*row) != zero_;
                   return true;
                 }
                 for (std::size_t a = 0; a < index.size(); ++a) {
                   if (!possible_[dims[a]][static_cast<std::size_t>(index[a])]) return true;
                 }
                 for (std::int64_t k = 0; k < size; ++k) {
                   const auto state = static_cast<std::size_t>(k);
                   if (!possible_[dims.back()][state] || static_cast<double>(row[k * stride]) == zero_) continue;
                   if (!diagonal(dims, index, k)) continue;
                   any = true;
                   seen.back()[state] = true;
                   for (std::size_t a = 0; a < index.size(); ++a) seen[a][static_cast<std::size_t>(index[a])] = true;
                 }
                 return true;
               });
    if (!any) {
      reduction_.impossible = true;
      return;
    }
    for (std::size_t a = 0; a < dims.size(); ++a) {
      if (seen[a] == possible_[dims[a]]) continue;
      possible_[dims[a]] = seen[a];
      for (const std::size_t g : speakers_of_[dims[a]]) {
        if (g == f || queued_[g]) continue;
        queued_[g] = true;
        waiting_.push_back(g);
      }
    }
  }

  /// A repeated dim means its diagonal: other entries are not there.
  static bool diagonal(const std::vector<DimId>& dims, std::span<const std::int64_t> index, std::int64_t last) {
    const auto at = [&](std::size_t a) { return a < index.size() ? index[a] : last; };
    for (std::size_t a = 1; a < dims.size(); ++a) {
      const auto first = static_cast<std::size_t>(std::find(dims.begin(), dims.end(), dims[a]) - dims.begin());
      if (first < a && at(first) != at(a)) return false;
    }
    return true;
  }

  void shrink() {
    for (DimId d = 0; d < plain_.size(); ++d) {
      std::vector<std::int64_t> kept;
      for (std::size_t s = 0; s < possible_[d].size(); ++s) {
        if (possible_[d][s]) kept.push_back(static_cast<std::int64_t>(s));
      }
      if (kept.size() < possible_[d].size()) reduction_.kept.emplace(d, std::move(kept));
    }
    for (std::size_t f = 0; f < model_.factors.size(); ++f) shrink_factor(f);
    for (const auto& [d, kept] : reduction_.kept) {
      graph::Derived::resize_variable(model_.graph, d, static_cast<std::int64_t>(kept.size()));
    }
  }

  void shrink_factor(std::size_t f) {
    const std::vector<DimId>& dims = model_.graph.factors()[f].dims;
    const auto is_smaller = [&](DimId d) { return reduction_.kept.contains(d); };
    if (std::none_of(dims.begin(), dims.end(), is_smaller)) return;
    Factor factor = model_.graph.factors()[f];
    Tensor& numbers = model_.factors[f];
    std::vector<std::vector<std::int64_t>> offsets;
    std::vector<std::vector<std::int64_t>> lost;  // the same with the states of the child that are left out
    for (std::size_t a = 0; a < factor.dims.size(); ++a) {
      const auto found = reduction_.kept.find(factor.dims[a]);
      std::vector<std::int64_t> here;
      std::vector<std::int64_t> gone;
      for (std::int64_t s = 0; s < numbers.shape()[a]; ++s) {
        const bool stays =
            found == reduction_.kept.end() || std::binary_search(found->second.begin(), found->second.end(), s);
        (stays ? here : gone).push_back(s * numbers.strides()[a]);
      }
      lost.push_back(factor.distribution_of == factor.dims[a] ? gone : here);
      offsets.push_back(std::move(here));
    }
    if (factor.distribution_of && reduction_.kept.contains(*factor.distribution_of)) {
      const std::vector<double> weights = gather(numbers, lost).values();
      // It still sums to one only if what left had no weight.
      if (std::any_of(weights.begin(), weights.end(), [&](double w) { return w != zero_; })) {
        factor.distribution_of.reset();
        graph::Derived::put_factor(model_.graph, f, factor);
      }
    }
    numbers = gather(numbers, offsets);
  }

  Reduction& reduction_;
  Model& model_;
  double zero_;
  std::vector<bool> plain_;                            // [dim]: a variable without plates, chains and ends
  std::vector<std::vector<bool>> possible_;            // [dim][state]; empty where no speaker holds it
  std::vector<std::vector<std::size_t>> speakers_of_;  // [dim]
  std::deque<std::size_t> waiting_;
  std::vector<bool> queued_;
};

}  // namespace

void drop_impossible(Reduction& reduction) { Dropper(reduction).run(); }

}  // namespace plated::reduce
