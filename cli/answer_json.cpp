// Writes answers as JSON.
#include "answer.hpp"
#include "json.hpp"
#include "plated/json.hpp"

namespace plated::cli {
namespace {

/// An object with a member for each variable, in the file's order, a line each.
template <class Values>
std::string by_variable(const Model& model, const std::map<std::string, Values>& values, const std::string& indent) {
  std::string out = "{";
  for (const std::string& variable : variables(model)) {
    const auto found = values.find(variable);
    if (found == values.end()) continue;
    out += (out.size() > 1 ? ",\n" : "\n") + indent + "  " + json_string(label(model, variable)) + ": " +
           json::nested(found->second);
  }
  return out + (out.size() > 1 ? "\n" + indent + "}" : "}");
}

/// The same for each query, in its order.
std::string by_query(const std::vector<Posterior>& marginals) {
  std::string out = "{";
  for (const Posterior& posterior : marginals) {
    out += (out.size() > 1 ? ",\n  " : "\n  ") + json_string(posterior.of.label) + ": " +
           json::nested(posterior.probabilities);
  }
  return out + (out.size() > 1 ? "\n}" : "}");
}

}  // namespace

std::string answer_json(const Model& model, const Answer& answer) {
  if (answer.task == "pr") return "{\"ln_z\": " + json::nested(answer.ln_z) + "}\n";
  if (answer.task == "entropy") return "{\"entropy_nats\": " + json::nested(answer.entropy) + "}\n";
  if (answer.task == "leave-one-out") return "{\"leave_one_out_ln_p\": " + json::nested(answer.left_out) + "}\n";
  if (answer.task == "mar") return "{\"marginals\": " + by_query(answer.marginals) + "}\n";
  if (answer.task == "sample") return "{\"samples\": " + by_variable(model, answer.samples, "") + "}\n";
  return "{\"map\": {\n  \"ln_score\": " + json::nested(answer.best.score) +
         ",\n  \"assignment\": " + by_variable(model, answer.best.assignment, "  ") + "}}\n";
}

}  // namespace plated::cli
