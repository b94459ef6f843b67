// Checks tied dims and outputs.
#include "graph/written_dims.hpp"

#include <algorithm>
#include <iterator>

#include "graph/spell.hpp"
#include "plated/error.hpp"

namespace plated::graph {
std::vector<DimId> tied_plates(const FactorGraph& graph, const std::vector<DimId>& axes, const std::vector<DimId>& tied,
                               const std::string& where) {
  std::vector<DimId> plates;
  for (auto dim = tied.begin(); dim != tied.end(); ++dim) {
    const Dim& known = graph.dims()[*dim];
    if (known.kind == DimKind::variable) {
      throw PlateError("variable " + quoted(known.name) + " is tied in " + where +
                       ", but only a plate or chain can be: a tied factor is the same in every slice of it");
    }
    if (contains(axes, *dim)) {
      throw DuplicateNameError("dim " + quoted(known.name) + " is both an axis and tied in " + where);
    }
    if (std::find(tied.begin(), dim, *dim) != dim) {
      throw DuplicateNameError("dim " + quoted(known.name) + " is tied twice in " + where);
    }
    // A factor without an axis for a batch dim is the same in every problem anyway: nothing to record.
    if (has_slices(known.kind)) plates.push_back(*dim);
  }
  return plates;
}

std::vector<DimId> batch_dims(const FactorGraph& graph) {
  std::vector<DimId> batch;
  for (DimId d = 0; d < graph.dims().size(); ++d) {
    if (graph.dims()[d].kind == DimKind::batch) batch.push_back(d);
  }
  return batch;
}

Output complete_output(const FactorGraph& graph, const std::vector<DimId>& batch, const std::vector<DimId>& written,
                       const std::string& where) {
  std::vector<DimId> sorted = written;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    throw DuplicateNameError("dim " + quoted(graph.dims()[*twice].name) + " is written twice in " + where);
  }
  Output output;
  std::set_difference(batch.begin(), batch.end(), sorted.begin(), sorted.end(), std::back_inserter(output.dims));
  output.dims.insert(output.dims.end(), written.begin(), written.end());
  return output;
}

}  // namespace plated::graph
