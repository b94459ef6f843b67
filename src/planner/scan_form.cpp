// Looks at the dims and steps of a scan's body.
#include "planner/scan_form.hpp"

#include <algorithm>
#include <vector>

#include "base/sorted_set.hpp"

namespace plated::planner {
namespace {

/// Whether a body sums the product of all its operands, each of them once.
bool is_one_product(const Schedule& body) {
  std::size_t reads = 0;
  for (const Step& step : body.steps) {
    const auto* contract = step.as<Contract>();
    if (contract == nullptr || !contract->product.empty() || !contract->power.plates.empty() || contract->empty_sum ||
        contract->semiring) {
      return false;
    }
    reads += step.inputs.size();
  }
  return reads == body.operands.size() + body.steps.size() - 1;  // nothing is there that no step reads
}

}  // namespace

std::optional<ScanForm> scan_form(const Schedule& schedule, const Step& step) {
  const auto& scan = *step.as<Scan>();
  if (scan.before.size() != 1 || scan.semiring || !is_one_product(*scan.body)) return std::nullopt;
  const DimId before = scan.before[0];
  const DimId after = scan.after[0];
  const SortedSet rows = base::sorted(scan.kept);
  ScanForm form;
  bool has_matrix = false;
  for (std::size_t k = 1; k < scan.body->operands.size(); ++k) {
    const std::vector<DimId>& axes = schedule.values[step.inputs[k]].dims;
    const SortedSet dims = base::sorted(axes);
    const bool varies = base::contains(dims, scan.chain);
    const SortedSet own = base::subtract(base::subtract(dims, rows), {scan.chain});
    if (own == base::sorted(std::vector<DimId>{before, after})) {
      if (has_matrix || varies || dims.size() != 2) return std::nullopt;
      has_matrix = true;
      form.matrix = k;
    } else if (own == SortedSet{before} && !form.before) {
      form.before = k;
    } else if (own == SortedSet{after} && !form.after) {
      form.after = k;
    } else {
      return std::nullopt;
    }
  }
  if (!has_matrix) return std::nullopt;
  return form;
}

}  // namespace plated::planner
