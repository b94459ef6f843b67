// Writes answers in the result format of the UAI competitions.
#include "answer.hpp"
#include "errors.hpp"
#include "plated/uai_answer.hpp"

namespace plated::cli {

void require_flat(const Model& model) {
  for (const Dim& dim : model.graph.dims()) {
    if (dim.kind == DimKind::batch) {
      throw UsageError("the UAI format has no batch dims, and the model has '" + dim.name + "': use --json");
    }
    if (dim.kind != DimKind::variable) {
      throw UsageError("the UAI format has no plates, and the model has '" + dim.name +
                       "': add --unroll, or use --json");
    }
  }
}

std::string answer_uai(const Model& model, const Answer& answer) {
  if (answer.task == "pr") return uai_pr(answer.ln_z.item());
  if (answer.task == "mar") {
    std::vector<std::vector<double>> marginals;
    for (const Posterior& posterior : answer.marginals) marginals.push_back(posterior.probabilities.values());
    return uai_mar(marginals);
  }
  std::vector<std::int64_t> states;
  for (const std::string& variable : variables(model)) {
    states.push_back(answer.best.assignment.at(variable).values.front());
  }
  return uai_map(states);
}

}  // namespace plated::cli
