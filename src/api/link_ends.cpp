// Names the ends of linked variables.
#include "api/link_ends.hpp"

namespace plated::api {

std::vector<std::string> add_ends(const PlanImpl& plan, std::vector<std::vector<std::string>>& asked,
                                  std::vector<std::vector<DimId>>& axes) {
  std::vector<std::string> ends;
  for (const Chain& chain : plan.graph.chains()) {
    for (const Link& link : chain.links) {
      for (const bool is_first : {true, false}) {
        const DimId v = is_first ? link.source : link.target;
        ends.push_back(is_first ? first(plan.graph.dims()[v].name) : last(plan.graph.dims()[v].name));
        auto& names = asked.emplace_back();
        axes.push_back(plan.axes(v));
        std::erase(axes.back(), chain.dim);
        for (const DimId d : axes.back()) names.push_back(d == v ? ends.back() : plan.graph.dims()[d].name);
      }
    }
  }
  return ends;
}

}  // namespace plated::api
