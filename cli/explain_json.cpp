// Writes verdicts, costs and schedules as JSON.
#include "explain_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "json.hpp"
#include "plated/json.hpp"
#include "slices.hpp"

namespace plated::cli {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

std::string object(const Members& members, const std::string& indent = "") {
  std::string out;
  for (const auto& [key, value] : members) {
    out += (out.empty() ? "\n  " : ",\n  ") + indent + json_string(key) + ": " + value;
  }
  return "{" + out + "\n" + indent + "}";
}

std::string list(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& value : values) out += (out.empty() ? "" : ", ") + value;
  return "[" + out + "]";
}

std::string names(std::vector<std::string> words) {
  for (std::string& word : words) word = json_string(word);
  return list(words);
}

std::string count(std::int64_t amount) { return std::to_string(amount); }

std::string model_json(const Model& model) {
  const std::vector<Slices> all = slices(model);
  double copies = 0;
  std::int64_t largest = 0;
  for (const Slices& of : all) {
    copies += static_cast<double>(of.count);
    largest = std::max(largest, of.states);
  }
  std::int64_t observed = 0;
  for (const auto& [variable, states] : model.evidence) {
    observed += std::count_if(states.begin(), states.end(), [](std::int64_t s) { return s >= 0; });
  }
  for (const auto& [variable, rows] : model.lists) {
    observed += std::count_if(rows.states.begin(), rows.states.end(), [](std::int64_t s) { return s >= 0; });
  }
  Members dims;
  for (const auto& [kind, key] :
       {std::pair(DimKind::plate, "plates"), std::pair(DimKind::chain, "chains"), std::pair(DimKind::batch, "batch")}) {
    std::vector<std::string> sizes;
    for (const Dim& dim : model.graph.dims()) {
      if (dim.kind == kind) sizes.push_back(json_string(dim.name) + ": " + count(dim.size));
    }
    const std::string inside = list(sizes);
    dims.emplace_back(key, "{" + inside.substr(1, inside.size() - 2) + "}");
  }
  Members members = {{"name", json_string(model.name)},
                     {"format", json_string(name(model.format))},
                     {"directed", model.directed ? "true" : "false"},
                     {"variables", count(static_cast<std::int64_t>(all.size()))},
                     {"slices", json::number(copies)},
                     {"most_states", count(largest)},
                     {"factors", count(static_cast<std::int64_t>(model.factors.size()))},
                     {"observed_values", count(observed)}};
  members.insert(members.end(), dims.begin(), dims.end());
  return object(members, "  ");
}

std::string why_json(const Certificate& certificate) {
  return object({{"variables", names({certificate.u, certificate.w})},
                 {"plates", names({certificate.a, certificate.b})},
                 {"factors", names(certificate.factors)}},
                "  ");
}

std::string repairs_json(const std::vector<Repair>& repairs) {
  std::vector<std::string> all;
  for (const Repair& repair : repairs) {
    all.push_back(fmt::format("{{\"unroll\": {}, \"flops\": {}, \"peak_bytes\": {}}}", names(repair.unroll),
                              json::number(repair.flops), repair.peak_bytes));
  }
  return list(all);
}

std::string cost_json(const Cost& cost) {
  return object({{"flops", json::number(cost.flops)},
                 {"exps", json::number(cost.exps)},
                 {"bytes_read", json::number(cost.bytes_read)},
                 {"bytes_written", json::number(cost.bytes_written)},
                 {"peak_bytes", count(cost.peak_bytes)},
                 {"run_bytes", count(cost.run_bytes)},
                 {"span", json::number(cost.span)}},
                "  ");
}

std::string plans_json(const Explanation& told) {
  std::vector<std::string> all;
  for (std::size_t k = 0; k < told.plans.size(); ++k) {
    const Plan& plan = told.plans[k];
    all.push_back(object({{"steps", count(static_cast<std::int64_t>(plan.steps()))},
                          {"elimination_order", names(plan.elimination_order())},
                          {"schedule", json_string(plan.print(told.questions[k], 0, Dtype::float64))}},
                         "  "));
  }
  return list(all);
}

}  // namespace

std::string explain_json(const Model& model, const Verdict& verdict, const Explanation* told) {
  Members members = {{"model", model_json(model)}, {"verdict", json_string(verdict.verdict)}};
  if (!verdict.reason.empty()) members.emplace_back("reason", json_string(verdict.reason));
  if (verdict.intractable != nullptr) {
    members.emplace_back("why", why_json(verdict.intractable->certificate()));
    members.emplace_back("repairs", repairs_json(verdict.intractable->repairs()));
  }
  if (told != nullptr) {
    members.emplace_back("question", json_string(name(told->question.kind)));
    members.emplace_back("before", object({{"absorbed", count(told->absorbed)},
                                           {"determined", count(told->determined)},
                                           {"impossible_states", count(told->impossible)},
                                           {"barren", names(told->dropped)}},
                                          "  "));
    members.emplace_back("cost", cost_json(told->cost));
    members.emplace_back("sweeps", count(told->sweeps));
    members.emplace_back("plans", plans_json(*told));
  }
  return object(members) + "\n";
}

}  // namespace plated::cli
