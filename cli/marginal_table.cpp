// Lays out marginals.
#include "marginal_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "columns.hpp"

namespace plated::cli {
namespace {

constexpr std::size_t longest_line = 110;

struct Row {
  std::string name;
  std::vector<double> probabilities;
  bool observed = false;
};

/// Variables whose states have the same names.
struct Block {
  std::vector<std::string> states;
  std::vector<Row> rows;
  std::string heading;  ///< of its only variable; "variable" where there are more
};

std::vector<Block> blocks(const Model& model, const std::map<std::string, Tensor>& marginals, std::string& observed) {
  std::vector<Block> all;
  std::map<std::vector<std::string>, std::size_t> by_states;
  std::vector<std::string> names;
  for (const Slices& of : slices(model)) {
    if (is_observed(model, of)) {
      observed += observed_line(model, of);
      continue;
    }
    names.clear();
    for (std::int64_t state = 0; state < of.states; ++state) names.push_back(state_label(model, of.variable, state));
    const auto [found, is_new] = by_states.try_emplace(names, all.size());
    if (is_new) all.push_back({.states = names, .rows = {}, .heading = of.heading()});
    Block& block = all[found->second];
    if (!is_new) block.heading = "variable";
    const std::vector<double> values = marginals.at(of.variable).values();
    for (std::int64_t slice = 0; slice < of.count; ++slice) {
      const auto first = values.begin() + slice * of.states;
      Row row{of.name(slice), {first, first + of.states}, observed_state(model, of, slice) >= 0};
      // Slices beyond the length of a chain do not exist.
      const double mass = std::accumulate(row.probabilities.begin(), row.probabilities.end(), 0.0);
      if (mass > 0) block.rows.push_back(std::move(row));
    }
  }
  return all;
}

std::string narrow(const Block& block) {
  Columns table({Align::left, Align::right});
  std::vector<std::string> heading = {block.heading};
  heading.insert(heading.end(), block.states.begin(), block.states.end());
  table.row(std::move(heading));
  for (const Row& row : block.rows) {
    std::vector<std::string> cells = {row.name};
    for (const double p : row.probabilities) cells.push_back(fmt::format("{:.6f}", p));
    if (row.observed) cells.emplace_back("observed");
    table.row(std::move(cells));
  }
  return table.text();
}

std::string wide(const Block& block) {
  std::size_t indent = width(block.heading);
  for (const Row& row : block.rows) indent = std::max(indent, width(row.name));
  indent += 2;
  std::string text = block.heading + std::string(indent - width(block.heading), ' ') +
                     "states and their probabilities, where 1e-6 or more\n";
  for (const Row& row : block.rows) {
    std::string line = row.name + std::string(indent - width(row.name), ' ');
    std::size_t used = indent;
    for (std::size_t state = 0; state < block.states.size(); ++state) {
      if (row.probabilities[state] < 1e-6) continue;
      const std::string cell = fmt::format("{} {:.6f}", block.states[state], row.probabilities[state]);
      if (used > indent && used + width(cell) > longest_line) {
        line.erase(line.find_last_not_of(' ') + 1);
        line += "\n" + std::string(indent, ' ');
        used = indent;
      }
      line += cell + "   ";
      used += width(cell) + 3;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + (row.observed ? "  observed\n" : "\n");
  }
  return text;
}

bool is_narrow(const Block& block) {
  std::size_t line = width(block.heading);
  for (const Row& row : block.rows) line = std::max(line, width(row.name));
  for (const std::string& state : block.states) line += 2 + std::max<std::size_t>(8, width(state));
  return line <= longest_line;
}

}  // namespace

std::string marginal_table(const Model& model, const std::map<std::string, Tensor>& marginals) {
  std::string text;
  std::string observed;
  for (const Block& block : blocks(model, marginals, observed)) {
    if (block.rows.empty()) continue;
    text += (text.empty() ? "" : "\n") + (is_narrow(block) ? narrow(block) : wide(block));
  }
  if (observed.empty()) return text;
  return text + (text.empty() ? "" : "\n") + observed;
}

}  // namespace plated::cli
