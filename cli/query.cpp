// Splits queries at commas that are not part of a name.
#include "query.hpp"

#include <algorithm>
#include <string_view>

#include "errors.hpp"

namespace plated::cli {
namespace {

std::string legal_names(const Model& model) {
  constexpr std::size_t most = 20;
  const std::vector<std::string> names = variables(model);
  std::string text;
  for (std::size_t k = 0; k < std::min(names.size(), most); ++k) {
    text += (k > 0 ? ", '" : "'") + label(model, names[k]) + "'";
  }
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::vector<std::string> read_query(const Model& model, const std::string& query) {
  std::vector<std::string> names;
  std::string_view rest = query;
  for (bool more = true; more;) {
    // The longest beginning that is a name.
    std::size_t end = rest.size();
    auto found = find_variable(model, trimmed(rest));
    while (!found && end > 0 && (end = rest.rfind(',', end - 1)) != std::string_view::npos) {
      found = find_variable(model, trimmed(rest.substr(0, end)));
    }
    if (!found) {
      throw UsageError("--query " + query + ": there is no variable '" +
                       std::string(trimmed(rest.substr(0, rest.find(',')))) + "' to ask for; the model has " +
                       legal_names(model));
    }
    const std::string& name = names.emplace_back(model.graph.dims()[*found].name);
    if (std::find(names.begin(), names.end() - 1, name) != names.end() - 1) {
      throw UsageError("--query " + query + ": '" + label(model, name) + "' is named twice");
    }
    more = end < rest.size();
    if (more) rest.remove_prefix(end + 1);
  }
  return names;
}

}  // namespace

std::vector<std::vector<std::string>> read_queries(const Model& model, const std::vector<std::string>& queries) {
  std::vector<std::vector<std::string>> all;
  for (const std::string& query : queries) {
    std::vector<std::string> names = read_query(model, query);
    if (std::find(all.begin(), all.end(), names) != all.end()) {
      throw UsageError("--query " + query + " is asked for twice: give it once");
    }
    all.push_back(std::move(names));
  }
  return all;
}

}  // namespace plated::cli
