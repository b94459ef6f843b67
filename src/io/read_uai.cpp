// Reads UAI models: a preamble of variables and scopes, then a table for each factor, last variable fastest.
#include <algorithm>

#include "base/checked_size.hpp"
#include "io/readers.hpp"
#include "io/uai_words.hpp"
#include "model/directed.hpp"
#include "plated/error.hpp"

namespace plated::io {
namespace {

struct Scope {
  std::size_t at = 0;
  std::vector<std::size_t> variables;
};

std::vector<Scope> read_scopes(const Source& source, UaiWords& words, std::size_t variables) {
  std::vector<Scope> scopes(words.count("a number of factors"));
  for (Scope& scope : scopes) {
    scope.at = words.next();
    scope.variables.resize(words.count("the number of a factor's variables"));
    for (std::size_t& variable : scope.variables) {
      const std::size_t at = words.next();
      variable = static_cast<std::size_t>(words.integer(0, "the number of a variable"));
      if (variable >= variables) {
        source.fail(at, "there is no variable " + std::to_string(variable) + ": the model has " +
                            std::to_string(variables) + ", counted from 0");
      }
    }
    std::vector<std::size_t> sorted = scope.variables;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      source.fail(scope.at, "a factor has the variable " + std::to_string(*twice) + " twice");
    }
  }
  return scopes;
}

Tensor read_table(const Source& source, UaiWords& words, const Tensor::Shape& shape, std::size_t factor) {
  const std::size_t at = words.next();
  const std::int64_t count = words.integer(0, "the number of a table's entries");
  const std::int64_t wanted = source.blame(at, [&] { return base::checked_product(shape); });
  if (count != wanted) {
    source.fail(at, "factor " + std::to_string(factor) + " has " + std::to_string(count) +
                        " entries, and its variables' states make " + std::to_string(wanted));
  }
  words.check_room(at, count, "the number of a table's entries");
  Tensor table = Tensor::uninitialised(Dtype::float64, shape);
  auto* const entries = static_cast<double*>(table.mutable_data());
  for (std::int64_t k = 0; k < count; ++k) entries[k] = words.weight();
  return table;
}

/// Some programs write sections of their own behind the tables. On a line of its own that is let pass; on the line of
/// the last table it is a number too many.
void note_rest(const Source& source, UaiWords& words, Model& model) {
  const std::size_t end = words.at();
  if (words.done()) return;
  const std::size_t rest = words.at();
  if (source.text().substr(end, rest - end).find('\n') == std::string_view::npos) {
    source.fail(rest, "the last table is complete, but " + shown(words.word()) + " follows");
  }
  model.notes.push_back("the file continues after its tables, with " + shown(words.word()) + ", which is not read");
}

}  // namespace

Model read_uai(const Source& source) {
  UaiWords words(source);
  Model model{.format = Format::uai};
  const std::size_t begin = words.next();
  const std::string_view kind = words.word();
  const bool bayes = kind == "BAYES";
  if (!bayes && kind != "MARKOV") {
    source.fail(begin, "a UAI model begins with MARKOV or BAYES, not with " + shown(kind));
  }
  const std::size_t count = words.count("a number of variables");
  std::vector<std::int64_t> sizes(count);
  std::vector<std::string> names(count);
  for (std::size_t v = 0; v < count; ++v) {
    sizes[v] = words.integer(1, "a number of states");
    names[v] = "v" + std::to_string(v);
    model.graph.variable(names[v], sizes[v]);
  }
  const std::vector<Scope> scopes = read_scopes(source, words, count);
  for (std::size_t f = 0; f < scopes.size(); ++f) {
    model::NewFactor factor{.name = "f" + std::to_string(f)};
    Tensor::Shape shape;
    for (const std::size_t v : scopes[f].variables) {
      factor.dims.push_back(names[v]);
      shape.push_back(sizes[v]);
    }
    // In a BAYES file the last variable of a scope is the child.
    if (bayes && !factor.dims.empty()) factor.child = factor.dims.back();
    factor.numbers = read_table(source, words, shape, f);
    source.blame(scopes[f].at, [&] { model::add_factor(model, std::move(factor)); });
  }
  note_rest(source, words, model);
  model.graph.output({});
  model.directed = bayes && model::is_directed(model);
  if (bayes && !model.directed) model.notes.emplace_back("the file says BAYES, but its factors are no directed model");
  return model;
}

}  // namespace plated::io
