// Prints a graph: as an aligned table for people, and as an equation that can be parsed again.
#include <algorithm>
#include <array>

#include "graph/characters.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

/// Rows under a heading, their columns aligned; an empty table prints nothing.
class Table {
 public:
  using Row = std::array<std::string, 3>;
  explicit Table(std::string heading) : heading_(std::move(heading)) {}
  void add(Row row) { rows_.push_back(std::move(row)); }

  void print_to(std::string& text) const {
    if (rows_.empty()) return;
    std::array<std::size_t, 3> width{};
    for (const Row& row : rows_) {
      for (std::size_t k = 0; k < row.size(); ++k) width[k] = std::max(width[k], graph::count_code_points(row[k]));
    }
    text += heading_ + "\n";
    for (const Row& row : rows_) {
      std::string line;
      for (std::size_t k = 0; k < row.size(); ++k) {
        line += "  " + row[k] + std::string(width[k] - graph::count_code_points(row[k]), ' ');
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
  }

 private:
  std::string heading_;
  std::vector<Row> rows_;
};

std::string or_scalar(const std::string& dims) { return dims.empty() ? "(scalar)" : dims; }

}  // namespace

std::string FactorGraph::print() const {
  std::vector<std::vector<DimId>> plates_of(dims().size());
  std::string problem;
  try {
    plates_of = variable_plates();
  } catch (const PlateError& error) {  // a table of a wrong graph is how one finds out what is wrong
    problem = error.what();
  }

  Table plates("plates");
  Table chains("chains");
  Table batch("batch dims");
  Table variables("variables");
  for (const Chain& chain : chains_) {
    std::string links;
    for (const Link& link : chain.links) {
      links += (links.empty() ? "" : ", ") + dims()[link.source].name + "->" + dims()[link.target].name;
    }
    chains.add({dims()[chain.dim].name, std::to_string(dims()[chain.dim].size), links});
  }
  for (DimId d = 0; d < dims().size(); ++d) {
    const Dim& dim = dims()[d];
    if (dim.kind == DimKind::chain) continue;
    Table& table = dim.kind == DimKind::plate ? plates : dim.kind == DimKind::batch ? batch : variables;
    const std::string inside = graph::spaced(*this, plates_of[d]);
    table.add({dim.name, std::to_string(dim.size), inside.empty() ? "" : "in " + inside});
  }
  Table factors("factors");
  for (const Factor& factor : *factors_) {
    std::string note;
    if (factor.distribution_of) {
      note = "distribution of " + dims()[*factor.distribution_of].name + (factor.trusted ? ", trusted" : "");
    }
    factors.add({factor.name, or_scalar(graph::spaced(*this, factor)), note});
  }
  Table outputs("outputs");
  for (const Output& output : outputs_) outputs.add({or_scalar(graph::spaced(*this, output.dims)), "", ""});

  std::string text;
  for (const Table* table : {&plates, &chains, &batch, &variables, &factors, &outputs}) table->print_to(text);
  if (!problem.empty()) text += "invalid: " + problem + "\n";
  return text;
}

std::string FactorGraph::equation() const {
  std::string text;
  for (std::size_t f = 0; f < factors().size(); ++f) {
    if (f > 0) text += ", ";
    text += graph::spaced(*this, factors()[f]);
  }
  text += text.empty() ? "->" : " ->";
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    text += (o > 0 ? ", " : " ") + graph::spaced(*this, outputs_[o].dims);
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace plated
