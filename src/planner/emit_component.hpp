// Writes the messages of components: sums and products over plates, or scans along a chain.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/emit.hpp"
#include "planner/emit_scan.hpp"
#include "planner/wants.hpp"

namespace plated::planner {

class ComponentEmitter {
 public:
  ComponentEmitter(Schedule& schedule, ScheduleBuilder& builder, const Elimination& elimination, const Wants& wants,
                   const EmitOptions& options);

  /// Writes what is wanted of a component; in the order of elimination.
  void emit(std::uint32_t component);

  /// The value of a node: a factor, or a message that has been written.
  [[nodiscard]] ValueId value(std::uint32_t node);
  /// The value of a node without what is left out; none where nothing is left of it.
  [[nodiscard]] ValueId rest_of(std::uint32_t node) {
    return elimination_.nodes[node].changes ? rest_[node] : value(node);
  }
  /// Values of a component's nodes without what is left out, and ones for variables that nothing holds any more.
  [[nodiscard]] std::vector<ValueId> values_without(const ComponentRecord& component);
  /// The product of all other slices of a component; of one with scans, none. With `changed`, of what changes in them.
  [[nodiscard]] ValueId leave_one_out(std::uint32_t component, bool changed = false) const {
    const bool changes = changed && leave_one_out_[1][component] != none;
    return leave_one_out_[changes ? 1 : 0][component];
  }
  /// The nodes of slices that are not known yet: they have links, and no factors but those on ends of the chain.
  [[nodiscard]] std::vector<ValueId> later_slices(const ComponentRecord& component);
  [[nodiscard]] const ScanValues& scan(std::uint32_t component) const { return scans_[component]; }

 private:
  ValueId product(std::uint32_t component, std::vector<ValueId> tensors, bool is_whole);
  ValueId last_message(const ComponentRecord& component, const ScanValues& scan);
  /// The message of a component without what is left out.
  ValueId message_without(std::uint32_t component);
  /// The message of a component with a scan where only the slices up to one are known, for each slice.
  ValueId message_so_far(const ComponentRecord& component, const ScanValues& scan);
  /// Whether a product over plates is one over the plate whose slices are left out.
  [[nodiscard]] bool leaves_slices_out(const SortedSet& product) const {
    const std::optional<DimId>& plate = problem_.left_out_of;
    return plate && problem_.kind[*plate] == DimKind::plate && base::contains(product, *plate);
  }

  Schedule& schedule_;
  const Problem& problem_;
  ScheduleBuilder& builder_;
  const Elimination& elimination_;
  const Wants& wants_;
  const EmitOptions& options_;
  SortedSet gone_;                         // variables that are left out
  std::vector<ValueId> message_;           // [node]: f′
  std::vector<ValueId> rest_;              // [node]: of those that change
  std::vector<ScanValues> scans_;          // [component]
  std::vector<ValueId> leave_one_out_[2];  // [component]; of messages, and of the rest of those that change
};

}  // namespace plated::planner
