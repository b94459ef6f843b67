// Writes BIF networks.
#include "io/flat.hpp"
#include "io/numbers.hpp"
#include "io/readers.hpp"
#include "plated/error.hpp"

namespace plated::io {
namespace {

/// A name as a BIF file can hold it, in quotes where it has to be; `instead` where quotes do not help.
std::string bif_word(const std::string& name, const std::string& instead, bool& lost) {
  if (name.find_first_of("\"\n\r") != std::string::npos) {
    lost = true;
    return instead;
  }
  const bool plain = !name.empty() && name.find_first_of(" ,\t\v\f{}()[];|") == std::string::npos &&
                     name.find("//") == std::string::npos && name.find("/*") == std::string::npos;
  return plain ? name : "\"" + name + "\"";
}

/// All names of a network, as they are written.
struct BifNames {
  std::vector<std::string> variables;
  std::vector<std::vector<std::string>> states;
};

BifNames spell_names(const Model& model, const FlatModel& flattened, std::vector<std::string>& losses) {
  BifNames names;
  bool lost = false;
  for (std::size_t v = 0; v < flattened.variables.size(); ++v) {
    const std::string& name = flattened.variables[v];
    names.variables.push_back(bif_word(label(model, name), "\"" + name + "\"", lost));
    std::vector<std::string>& states = names.states.emplace_back();
    for (std::int64_t k = 0; k < flattened.sizes[v]; ++k) {
      states.push_back(bif_word(state_label(model, name, k), "s" + std::to_string(k), lost));
    }
  }
  if (lost) losses.emplace_back("names with quotation marks or line ends");
  return names;
}

void append_numbers(std::string& text, const std::vector<double>& values, std::size_t begin, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    text += k > 0 ? ", " : " ";
    append_number(text, values[begin + k]);
  }
  text += ";\n";
}

void append_table(std::string& text, const FlatFactor& factor, const BifNames& names) {
  const std::size_t child = factor.variables.back();
  const std::size_t states = names.states[child].size();
  text += "probability ( " + names.variables[child];
  for (std::size_t k = 0; k + 1 < factor.variables.size(); ++k) {
    text += (k == 0 ? " | " : ", ") + names.variables[factor.variables[k]];
  }
  text += " ) {\n";
  const std::vector<double> values = factor.numbers.values();
  if (factor.variables.size() == 1) {
    text += "  table";
    append_numbers(text, values, 0, states);
  } else {
    std::vector<std::size_t> index(factor.variables.size() - 1, 0);
    for (std::size_t row = 0; row < values.size(); row += states) {
      text += "  (";
      for (std::size_t k = 0; k < index.size(); ++k) {
        text += (k > 0 ? ", " : "") + names.states[factor.variables[k]][index[k]];
      }
      text += ")";
      append_numbers(text, values, row, states);
      for (std::size_t k = index.size(); k-- > 0;) {
        if (++index[k] < names.states[factor.variables[k]].size()) break;
        index[k] = 0;
      }
    }
  }
  text += "}\n";
}

}  // namespace

ModelText write_bif(const Model& model) {
  ModelText result;
  const FlatModel flattened = flat(model, Format::bif, result.losses);
  if (!model.directed) {
    throw OptionError("the model is not directed: BIF holds one distribution for each variable given its parents");
  }
  if (!model.learning.empty()) result.losses.emplace_back("what is said about learning");
  if (!model.evidence.empty()) result.losses.emplace_back("the evidence");
  const BifNames names = spell_names(model, flattened, result.losses);
  bool lost = false;
  result.text = "network " + bif_word(model.name.empty() ? "unknown" : model.name, "unknown", lost) + " {\n}\n";
  for (std::size_t v = 0; v < names.variables.size(); ++v) {
    result.text +=
        "variable " + names.variables[v] + " {\n  type discrete [ " + std::to_string(flattened.sizes[v]) + " ] { ";
    for (std::size_t k = 0; k < names.states[v].size(); ++k) result.text += (k > 0 ? ", " : "") + names.states[v][k];
    result.text += " };\n}\n";
  }
  for (const FlatFactor& factor : flattened.factors) append_table(result.text, factor, names);
  return result;
}

}  // namespace plated::io
