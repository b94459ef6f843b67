// Orders the axes of assignments.
#include "adjoint/backtrace_axes.hpp"

#include <algorithm>

namespace plated::adjoint {

DimId end_name(const planner::Problem& problem, DimId variable) {
  return static_cast<DimId>(problem.domain.size() + variable);
}

std::vector<DimId> assignment_axes(const planner::Problem& problem, DimId variable) {
  const std::size_t dims = problem.domain.size();
  const bool is_end = variable >= dims;
  const DimId v = is_end ? static_cast<DimId>(variable - dims) : variable;
  std::vector<DimId> list;
  for (DimId d = 0; d < dims; ++d) {
    if (problem.kind[d] == DimKind::batch) list.push_back(d);
  }
  for (const bool chains : {false, true}) {
    for (const DimId d : problem.variable_plates[v]) {
      if ((problem.kind[d] == DimKind::chain) == chains) list.push_back(d);
    }
  }
  if (is_end) {
    const auto link = std::find_if(problem.links.begin(), problem.links.end(),
                                   [&](const planner::ProblemLink& l) { return l.source == v || l.target == v; });
    std::erase(list, link->chain);
  }
  return list;
}

std::int64_t number_stride(const planner::Problem& problem, const planner::Extents& extents, DimId variable, DimId d) {
  const std::vector<DimId> list = assignment_axes(problem, variable);
  const auto at = std::find(list.begin(), list.end(), d);
  if (at == list.end()) return 0;
  return planner::elements(extents, {at + 1, list.end()});
}

}  // namespace plated::adjoint
