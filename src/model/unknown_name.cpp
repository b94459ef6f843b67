// Lists names in errors.
#include "model/unknown_name.hpp"

#include <algorithm>

#include "graph/spell.hpp"
#include "plated/error.hpp"

namespace plated::model {

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t k = 0; k < std::min(names.size(), most); ++k) {
    text += (k > 0 ? ", " : "") + graph::quoted(names[k]);
  }
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

void fail_without_variable(const Model& model, std::string_view name, std::string_view purpose) {
  std::vector<std::string> labels;
  for (const std::string& variable : variables(model)) labels.push_back(label(model, variable));
  throw UnknownNameError("there is no variable " + graph::quoted(name) + " " + std::string(purpose) +
                         "; the model has " + (labels.empty() ? "none" : listed(labels)));
}

}  // namespace plated::model
