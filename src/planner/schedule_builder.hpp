// Writes steps, each distinct one once: asking for a contraction that is already there returns its value.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "planner/schedule.hpp"

namespace plated::planner {

class ScheduleBuilder {
 public:
  /// With `wide_sums`, every sum is kept in double: a reverse sweep subtracts it from its terms.
  ScheduleBuilder(Schedule& schedule, const std::set<std::string>& without, bool wide_sums);

  /// Opens a component: the following steps belong to it.
  void enter(ComponentNote component) { schedule_.components.push_back(std::move(component)); }

  /// The value of a problem's factor: its operand or, for a variable that nothing touches, a vector of ones.
  [[nodiscard]] ValueId factor(std::size_t factor);

  /// How a contraction treats its inputs' dims. Variables not in `keep` are summed; plates in `product` are
  /// multiplied over, as a power where no input carries them; everything else stays.
  struct Contract {
    std::vector<ValueId> inputs;
    SortedSet keep;
    SortedSet product;
    SortedSet leaf;
    /// Keep the result in double even where nothing has multiplied it yet.
    bool wide = false;
  };
  [[nodiscard]] ValueId contract(Contract request);

  /// The product of all slices of `plates` but one's own, for each slice.
  [[nodiscard]] ValueId leave_one_out(ValueId input, const SortedSet& plates, const SortedSet& leaf);

  /// The last contraction of an output, straight into the caller's memory; dims that no input carries are broadcast.
  void deliver(std::size_t output, const Contract& request);

  /// Variables, plates and batch dims that a value has axes for.
  [[nodiscard]] const SortedSet& carried(ValueId value) const { return carried_[value]; }
  [[nodiscard]] SortedSet carried_variables(ValueId value) const;

 private:
  ValueId add_value(Value value);
  void add_step(Operation operation, std::vector<ValueId> inputs, ValueId output);
  /// A request's inputs, sorted, and what is done to them.
  [[nodiscard]] std::pair<std::vector<ValueId>, planner::Contract> analyse(const Contract& request) const;
  [[nodiscard]] std::vector<DimId> axis_order(const std::vector<ValueId>& inputs, const SortedSet& dims) const;

  Schedule& schedule_;
  bool share_;
  bool wide_sums_;
  bool fuse_products_;
  std::vector<SortedSet> carried_;  // [value]
  std::vector<ValueId> factor_value_;
  /// The operation's kind, its inputs, the dims it leaves, those it multiplies over, and whether the result is wide.
  using Key = std::tuple<std::size_t, std::vector<ValueId>, SortedSet, SortedSet, SortedSet, bool>;
  std::map<Key, ValueId> known_;
};

}  // namespace plated::planner
