// Writes steps, each distinct one once: asking for a contraction that is already there returns its value.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
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
    SortedSet keep = {};
    SortedSet product = {};
    SortedSet leaf = {};
    /// Keep the result in double even where nothing has multiplied it yet.
    bool wide = false;
  };
  [[nodiscard]] ValueId contract(Contract request);

  /// The product of all slices of `plates` but one's own, for each slice.
  [[nodiscard]] ValueId leave_one_out(ValueId input, const SortedSet& plates, const SortedSet& leaf);

  /// What a value of a leaf is raised to where a product over `plates` follows: the weights of these plates. Those
  /// plates that weights have an axis for and the value has none are counted here, by adding the weights up.
  struct Exponent {
    std::vector<ValueId> factors;  // the exponent is their product; none where no plate is weighted
    SortedSet counted;
  };
  [[nodiscard]] Exponent exponent(ValueId input, const SortedSet& plates);
  /// A value in double to the power of an exponent, or of one that is smaller by `less`.
  [[nodiscard]] ValueId raise(ValueId input, const Exponent& exponent, int less, const SortedSet& leaf);

  /// One everywhere.
  [[nodiscard]] ValueId ones(const SortedSet& dims, const SortedSet& leaf);
  /// An operand that is no factor: a message, or what a body reads of a slice.
  [[nodiscard]] ValueId operand(std::size_t index, std::vector<DimId> dims, Precision precision);
  /// A value that a step writes besides its output.
  [[nodiscard]] ValueId intermediate(std::vector<DimId> dims, Precision precision);
  /// Messages along a chain, whose last one is over these dims.
  [[nodiscard]] ValueId scan(Scan scan, std::vector<ValueId> inputs, std::vector<DimId> dims);
  /// The exponents of a weighted plate's slices, or ones and zeros of a ragged chain's.
  [[nodiscard]] ValueId weights(DimId plate);
  /// While it lives, steps are written even where there are such already, and not found by others.
  class Unshared {
   public:
    explicit Unshared(ScheduleBuilder& builder) : builder_(builder), share_(std::exchange(builder.share_, false)) {}
    ~Unshared() { builder_.share_ = share_; }
    Unshared(const Unshared&) = delete;
    Unshared& operator=(const Unshared&) = delete;

   private:
    ScheduleBuilder& builder_;
    bool share_;
  };
  /// Whether every sum is kept for a reverse sweep.
  [[nodiscard]] bool keeps_sums() const { return wide_sums_; }

  /// The last contraction of an output, straight into the caller's memory; dims that no input carries are broadcast.
  void deliver(std::size_t output, const Contract& request);

  /// Variables, plates and batch dims that a value has axes for.
  [[nodiscard]] const SortedSet& carried(ValueId value) const { return carried_[value]; }
  [[nodiscard]] SortedSet carried_variables(ValueId value) const;

 private:
  ValueId add_value(Value value);
  /// A factor at the observed states of its variables.
  ValueId gather(ValueId table, const ProblemFactor& source);
  /// Zero where an end and its variable differ, in the slice that the end is of, and one elsewhere.
  ValueId equality(DimId end, const SortedSet& plates);
  void add_step(Operation operation, std::vector<ValueId> inputs, ValueId output);
  /// A request's inputs, sorted, and what is done to them.
  [[nodiscard]] std::pair<std::vector<ValueId>, planner::Contract> analyse(const Contract& request) const;
  /// The value of a step that does the same; none if there is none, or if none may be shared.
  template <class Kind>
  [[nodiscard]] ValueId find_known(std::size_t hash, const Kind& operation, const std::vector<ValueId>& inputs,
                                   const SortedSet& dims, Precision precision) const;
  [[nodiscard]] std::vector<DimId> axis_order(const std::vector<ValueId>& inputs, const SortedSet& dims) const;

  Schedule& schedule_;
  bool share_;
  bool wide_sums_;
  bool fuse_products_;
  std::vector<SortedSet> carried_;  // [value]
  std::vector<ValueId> factor_value_;
  std::map<DimId, ValueId> weights_value_;
  std::map<DimId, ValueId> index_value_;                     // by observed variable
  std::unordered_multimap<std::size_t, std::size_t> known_;  // steps that may be shared, by their hash
  std::map<std::pair<std::vector<ValueId>, SortedSet>, ValueId> known_exponents_;  // by factors and what is counted
};

}  // namespace plated::planner
