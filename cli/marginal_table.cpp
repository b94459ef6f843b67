// Lays out marginals.
#include "marginal_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "columns.hpp"
#include "quantities.hpp"

namespace plated::cli {
namespace {

constexpr std::size_t longest_table_line = 110;

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

std::vector<Block> blocks(const Model& model, const std::vector<Posterior>& marginals, std::string& observed) {
  std::vector<Block> all;
  std::map<std::vector<std::string>, std::size_t> by_states;
  std::vector<std::string> names;
  for (const auto& [of, probabilities] : marginals) {
    if (is_observed(model, of)) {
      observed += observed_line(model, of);
      continue;
    }
    names.clear();
    for (std::int64_t state = 0; state < of.states; ++state) names.push_back(state_name(model, of, state));
    const auto [found, is_new] = by_states.try_emplace(names, all.size());
    if (is_new) all.push_back({.states = names, .rows = {}, .heading = of.heading()});
    Block& block = all[found->second];
    if (!is_new) block.heading = "variable";
    const std::vector<double> values = probabilities.values();
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

std::string shown(double probability) { return fmt::format("{:.6f}", probability); }

std::string narrow(const Block& block) {
  Columns table({Align::left, Align::right});
  std::vector<std::string> heading = {block.heading};
  heading.insert(heading.end(), block.states.begin(), block.states.end());
  table.row(std::move(heading));
  for (const Row& row : block.rows) {
    std::vector<std::string> cells = {row.name};
    for (const double p : row.probabilities) cells.push_back(shown(p));
    if (row.observed) cells.emplace_back("observed");
    table.row(std::move(cells));
  }
  return table.text();
}

/// Over the names of states: what the slices beside it are of, where there are several of one variable.
std::string corner(const Block& block) {
  return block.rows.size() == 1 || block.heading == "variable" ? "state" : block.heading;
}

/// Some rows of a block as columns, a line for each state that one of them gives 1e-6 or more.
std::string turned(const Block& block, std::size_t begin, std::size_t end) {
  Columns table({Align::left, Align::right});
  std::vector<std::string> cells = {corner(block)};
  for (std::size_t k = begin; k < end; ++k) cells.push_back(block.rows[k].name);
  table.row(cells);
  std::size_t left_out = 0;
  for (std::size_t state = 0; state < block.states.size(); ++state) {
    cells = {block.states[state]};
    bool matters = false;
    for (std::size_t k = begin; k < end; ++k) {
      const double p = block.rows[k].probabilities[state];
      matters = matters || p >= 1e-6;
      cells.push_back(shown(p));
    }
    left_out += matters ? 0 : 1;
    if (matters) table.row(cells);
  }
  cells = {""};
  bool observed = false;
  for (std::size_t k = begin; k < end; ++k) {
    cells.emplace_back(block.rows[k].observed ? "observed" : "");
    observed = observed || block.rows[k].observed;
  }
  if (observed) table.row(cells);
  if (left_out == 0) return table.text();
  return table.text() + fmt::format("and {} below 1e-6\n", counted(static_cast<std::int64_t>(left_out), "state"));
}

std::string wide(const Block& block) {
  std::size_t first = width(corner(block));
  for (const std::string& state : block.states) first = std::max(first, width(state));
  std::string text;
  for (std::size_t begin = 0; begin < block.rows.size();) {
    std::size_t end = begin;
    std::size_t line = first;
    // Columns are padded to their own width; one is shown however wide it is.
    while (end < block.rows.size()) {
      line += 2 + std::max<std::size_t>(8, width(block.rows[end].name));
      if (end > begin && line > longest_table_line) break;
      ++end;
    }
    text += (text.empty() ? "" : "\n") + turned(block, begin, end);
    begin = end;
  }
  return text;
}

bool is_narrow(const Block& block) {
  std::size_t line = width(block.heading);
  for (const Row& row : block.rows) line = std::max(line, width(row.name));
  for (const std::string& state : block.states) line += 2 + std::max<std::size_t>(8, width(state));
  return line <= longest_table_line;
}

}  // namespace

std::string marginal_table(const Model& model, const std::vector<Posterior>& marginals) {
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
