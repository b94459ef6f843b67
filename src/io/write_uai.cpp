// Writes UAI models.
#include <algorithm>

#include "io/flat.hpp"
#include "io/numbers.hpp"
#include "io/readers.hpp"

namespace plated::io {
namespace {

void append_table(std::string& text, const FlatFactor& factor, std::int64_t row) {
  const std::vector<double> values = factor.numbers.values();
  text += "\n" + std::to_string(values.size()) + "\n";
  for (std::size_t k = 0; k < values.size(); ++k) {
    append_number(text, values[k]);
    text += (k + 1) % static_cast<std::size_t>(row) == 0 ? '\n' : ' ';
  }
}

}  // namespace

ModelText write_uai(const Model& model) {
  ModelText result;
  const FlatModel flattened = flat(model, Format::uai, result.losses);
  for (std::size_t v = 0; v < flattened.variables.size(); ++v) {
    if (flattened.variables[v] == "v" + std::to_string(v)) continue;
    result.losses.emplace_back("names of variables: they become v0, v1, … in the same order");
    break;
  }
  if (!model.learning.empty()) result.losses.emplace_back("what is said about learning");
  if (!model.states.empty()) result.losses.emplace_back("names of states: they become 0, 1, … in the same order");
  const bool has_children = std::any_of(model.children.begin(), model.children.end(),
                                        [](const std::string& child) { return !child.empty(); });
  if (!model.directed && has_children) {
    result.losses.emplace_back("which factors are distributions: only a directed model is written as BAYES");
  }

  std::string& text = result.text;
  text = model.directed ? "BAYES\n" : "MARKOV\n";
  text += std::to_string(flattened.sizes.size()) + "\n";
  for (std::size_t v = 0; v < flattened.sizes.size(); ++v)
    text += (v > 0 ? " " : "") + std::to_string(flattened.sizes[v]);
  text += "\n" + std::to_string(flattened.factors.size()) + "\n";
  for (const FlatFactor& factor : flattened.factors) {
    text += std::to_string(factor.variables.size());
    for (const std::size_t v : factor.variables) text += " " + std::to_string(v);
    text += "\n";
  }
  for (const FlatFactor& factor : flattened.factors) {
    append_table(text, factor, factor.variables.empty() ? 1 : flattened.sizes[factor.variables.back()]);
  }
  return result;
}

}  // namespace plated::io
