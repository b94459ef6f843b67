// Sorts rows by counting, and puts a factor of them into a model.
#include "model/listed.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked_size.hpp"
#include "base/watch.hpp"
#include "graph/derived.hpp"
#include "model/rows.hpp"
#include "plated/error.hpp"
#include "tensor/visit_integers.hpp"

namespace plated::model {
namespace {

/// Adds entries of a view, times a step, to numbers: some rows of a list at a time.
void add_entries(const IntegerView& view, std::size_t from, std::int64_t step, std::span<std::int64_t> numbers) {
  const std::int64_t stride = view.strides()[0];
  tensor::visit_integers(view, [&](const auto* entries) {
    const auto* entry = entries + static_cast<std::int64_t>(from) * stride;
    for (std::int64_t& number : numbers) {
      number += static_cast<std::int64_t>(*entry) * step;
      entry += stride;
    }
  });
}

/// Calls with (codes, groups, the states) of all rows, some at a time.
template <class Numbers>
class Rows {
 public:
  Rows(const IntegerView& states, std::vector<Numbers> codes, std::vector<Numbers> groups)
      : states_(states), codes_(std::move(codes)), groups_(std::move(groups)) {}

  template <class Visit>
  void each(const Visit& visit) const {
    constexpr std::size_t at_once = 1024;
    std::int64_t code[at_once], group[at_once], state[at_once];
    for (std::size_t from = 0; from < states_.size(); from += at_once) {
      base::check_wanted();
      const std::size_t count = std::min(at_once, states_.size() - from);
      const auto read = [&](std::int64_t* to, std::span<const Numbers> of) {
        std::fill_n(to, count, 0);
        for (const Numbers& numbers : of) add_entries(*numbers.entries, from, numbers.step, std::span(to, count));
      };
      read(code, codes_);
      read(group, groups_);
      std::fill_n(state, count, 0);
      add_entries(states_, from, 1, std::span(state, count));
      for (std::size_t k = 0; k < count; ++k) {
        if (state[k] >= 0) visit(code[k], group[k]);
      }
    }
  }

 private:
  const IntegerView& states_;
  std::vector<Numbers> codes_, groups_;
};

}  // namespace

Listed::Listed(const Model& model, std::string_view variable, const Long& list, std::optional<DimId> cut)
    : variable_(listed_variable(model, variable, list)), factor_(holder_of(model, variable_)) {
  check_rows(model, variable_, list);
  find_groups(model, cut);
  std::vector<DimId> of_rows{variable_};
  for (const DimId plate : model.graph.variable_plates()[variable_]) {
    if (!graph::contains(plates_, plate)) of_rows.push_back(plate);
  }
  find_axes(model, of_rows);
  group_axes_ = plates_.size();
  sort_rows(model, list);
}

Listed::Listed(const Model& model, const GroupedRows& rows) : variable_(rows.child), factor_(rows.factor) {
  std::vector<DimId> of_rows{variable_};
  for (const auto& [dim, entries] : rows.others) of_rows.push_back(dim);
  find_axes(model, of_rows);
  shape_.insert(shape_.begin(), rows.count);
  group_axes_ = 1;
  const std::vector<DimId>& dims = model.graph.factors()[factor_].dims;
  std::vector<Numbers> of_codes =
      codes(dims, [&](DimId d) { return d == variable_ ? &rows.states : &rows.others.at(d); });
  sort_rows(rows.states, std::move(of_codes), {{.entries = &rows.groups, .step = 1}}, rows.count);
}

void Listed::find_groups(const Model& model, std::optional<DimId> cut) {
  plates_ = plates_of_parents(model, variable_);
  if (cut && graph::contains(model.graph.variable_plates()[variable_], *cut)) {
    std::erase(plates_, *cut);
    plates_.insert(plates_.begin(), *cut);
    is_cut_ = true;
  }
}

void Listed::find_axes(const Model& model, const std::vector<DimId>& of_rows) {
  const std::vector<Dim>& all = model.graph.dims();
  const std::vector<DimId>& dims = model.graph.factors()[factor_].dims;
  table_ = model.factors[factor_];
  child_axis_ = static_cast<std::size_t>(std::find(dims.begin(), dims.end(), variable_) - dims.begin());
  dims_ = plates_;
  for (const DimId d : plates_) shape_.push_back(all[d].size);
  table_of_.assign(plates_.size(), 0);
  // From the last axis on, so that the last of the free ones is the innermost.
  for (std::size_t a = dims.size(); a-- > 0;) {
    const auto place = static_cast<std::size_t>(std::find(plates_.begin(), plates_.end(), dims[a]) - plates_.begin());
    const bool in_rows = std::find(of_rows.begin(), of_rows.end(), dims[a]) != of_rows.end();
    std::int64_t& steps = place < plates_.size() ? tables_ : in_rows ? codes_ : width_;
    std::vector<Axis>& axes = place < plates_.size() ? of_group_ : in_rows ? of_rows_ : free_;
    const auto known = static_cast<std::size_t>(
        std::find_if(axes.begin(), axes.end(), [&](const Axis& other) { return dims[other.axis] == dims[a]; }) -
        axes.begin());
    const bool is_new = known == axes.size();
    axes.push_back(
        {.axis = a, .size = table_.shape()[a], .step = is_new ? steps : axes[known].step, .diagonal_of = known});
    if (!is_new) continue;
    if (place < plates_.size()) table_of_[place] = steps;
    steps = base::checked_product(steps, table_.shape()[a]);
    if (&axes != &free_) continue;
    dims_.insert(dims_.begin() + std::ssize(plates_), dims[a]);
    shape_.insert(shape_.begin() + std::ssize(plates_), table_.shape()[a]);
  }
}

void Listed::put_factor(Model& model) const {
  std::vector<std::vector<DimId>> plates = model.graph.variable_plates();
  plates[variable_].clear();
  graph::Derived::state_plates(model.graph, plates);
  Factor factor = model.graph.factors()[factor_];
  factor.dims = dims_;
  factor.tied.clear();
  factor.distribution_of.reset();
  graph::Derived::put_factor(model.graph, factor_, std::move(factor));
  graph::Derived::resize_variable(model.graph, variable_, 1);
  model.factors[factor_] = Tensor::scalar(0.0).broadcast(shape_);
  model.children[factor_].clear();
  model.directed = false;
  model.evidence.erase(model.graph.dims()[variable_].name);
  model.lists.erase(model.graph.dims()[variable_].name);
}

void Listed::put_message(Model& model) const {
  put_factor(model);
  const Tensor message = Tensor::uninitialised(Dtype::float64, shape_);
  ListedScratch scratch;
  spread(Tensor::of(table_.shape(), table_.values()), message, scratch);
  model.factors[factor_] = message;
}

template <class EntriesOf>
std::vector<Listed::Numbers> Listed::codes(const std::vector<DimId>& dims, const EntriesOf& entries_of) const {
  std::vector<Numbers> result;
  for (const Axis& axis : of_rows_) result.push_back({.entries = entries_of(dims[axis.axis]), .step = axis.step});
  return result;
}

void Listed::sort_rows(const Model& model, const Long& list) {
  const auto entries_of = [&](DimId d) {
    return d == variable_ ? &list.states : &list.slices.at(model.graph.dims()[d].name);
  };
  std::vector<Numbers> of_groups;
  std::int64_t groups = 1;
  for (std::size_t k = plates_.size(); k-- > 0;) {
    of_groups.push_back({.entries = entries_of(plates_[k]), .step = groups});
    groups = base::checked_product(groups, shape_[k]);
  }
  sort_rows(list.states, codes(model.graph.factors()[factor_].dims, entries_of), std::move(of_groups), groups);
}

void Listed::sort_rows(const IntegerView& states, std::vector<Numbers> codes, std::vector<Numbers> in_group,
                       std::int64_t groups) {
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  if (states.size() > most || codes_ > most) throw SizeError("a list has more than 2^32 rows, or kinds of them");
  begins_.assign(static_cast<std::size_t>(groups) + 1, 0);
  const Rows<Numbers> rows(states, std::move(codes), std::move(in_group));
  rows.each([&](std::int64_t, std::int64_t group) { ++begins_[static_cast<std::size_t>(group) + 1]; });
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  const auto place = [&]<class T>(std::vector<T> sorted) {
    sorted.resize(begins_.back());
    rows.each([&](std::int64_t code, std::int64_t group) {
      sorted[begins_[static_cast<std::size_t>(group)]++] = static_cast<T>(code);
    });
    rows_ = std::move(sorted);
  };
  if (codes_ <= std::numeric_limits<std::uint8_t>::max()) {
    place(std::vector<std::uint8_t>());
  } else if (codes_ <= std::numeric_limits<std::uint16_t>::max()) {
    place(std::vector<std::uint16_t>());
  } else {
    place(std::vector<std::uint32_t>());
  }
  // Each has become where the next group begins.
  std::copy_backward(begins_.begin(), begins_.end() - 1, begins_.end());
  begins_[0] = 0;
}

}  // namespace plated::model
