// Writes answers as tables: ln Z and entropy, and the layout that marginals, assignments and samples share.
#include <fmt/format.h>

#include <cmath>

#include "answer.hpp"
#include "columns.hpp"
#include "marginal_table.hpp"
#include "slices.hpp"

namespace plated::cli {
namespace {

std::string partition_table(const Tensor& ln_z) {
  Columns table({Align::left, Align::left});
  const std::vector<double> values = ln_z.values();
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::string batch = values.size() > 1 ? fmt::format(" of batch {}", k) : "";
    table.row({"ln Z" + batch, fmt::format("{}", values[k])});
    table.row({"log10 Z" + batch, fmt::format("{}", values[k] / std::log(10.0))});
    const double z = std::exp(values[k]);
    if (std::isnormal(z) || std::isinf(values[k])) table.row({"Z" + batch, fmt::format("{:.6g}", z)});
  }
  return table.text();
}

std::string entropy_table(const Tensor& entropy) {
  Columns table({Align::left, Align::left});
  const std::vector<double> values = entropy.values();
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::string batch = values.size() > 1 ? fmt::format(" of batch {}", k) : "";
    table.row({"entropy" + batch, fmt::format("{} nats", values[k])});
    table.row({"", fmt::format("{:.6g} bits", values[k] / std::log(2.0))});
  }
  return table.text();
}

std::string left_out_table(const Answer& answer) {
  Slices of;
  of.axes = answer.left_axes;
  of.shape = answer.left_out.shape();
  Columns table({Align::left});
  std::vector<std::string> cells = of.axes;
  cells.emplace_back("ln p(slice | all others)");
  table.row(cells);
  const std::vector<double> values = answer.left_out.values();
  for (std::size_t k = 0; k < values.size(); ++k) {
    cells.clear();
    for (const std::int64_t place : of.index(static_cast<std::int64_t>(k))) cells.push_back(std::to_string(place));
    cells.push_back(fmt::format("{}", values[k]));
    table.row(cells);
  }
  return table.text();
}

std::string assignment_table(const Model& model, const MapResult& best) {
  std::string text;
  for (const double score : best.score.values()) text += fmt::format("ln score  {}\n", score);
  Columns table({Align::left, Align::left, Align::left});
  table.row({"variable", "state"});
  std::string observed;
  for (const Slices& of : answered_slices(model)) {
    const Integers& states = best.assignment.at(of.variables[0]);
    if (is_observed(model, of)) {
      observed += observed_line(model, of);
      continue;
    }
    for (std::int64_t slice = 0; slice < of.count; ++slice) {
      table.row({of.name(slice), state_name(model, of, states.values[static_cast<std::size_t>(slice)]),
                 observed_state(model, of, slice) >= 0 ? "observed" : ""});
    }
  }
  return text + "\n" + table.text() + (observed.empty() ? "" : "\n" + observed);
}

/// One line per sample or, if there are more slices than samples, one line per slice.
std::string sample_table(const Model& model, const std::map<std::string, Integers>& samples) {
  std::vector<std::vector<std::string>> lines;
  for (const Slices& of : answered_slices(model)) {
    const Integers& drawn = samples.at(of.variables[0]);
    const std::int64_t count = drawn.shape.front();
    for (std::int64_t slice = 0; slice < of.count; ++slice) {
      std::vector<std::string>& line = lines.emplace_back(1, of.name(slice));
      for (std::int64_t s = 0; s < count; ++s) {
        line.push_back(state_name(model, of, drawn.values[static_cast<std::size_t>(s * of.count + slice)]));
      }
    }
  }
  const std::size_t count = lines.empty() ? 0 : lines.front().size() - 1;
  Columns table({Align::left});
  if (lines.size() <= count) {
    for (std::size_t s = 0; s <= count; ++s) {
      std::vector<std::string> row = {s == 0 ? "sample" : std::to_string(s - 1)};
      for (const auto& line : lines) row.push_back(line[s]);
      table.row(std::move(row));
    }
  } else {
    std::vector<std::string> heading = {"variable"};
    for (std::size_t s = 0; s < count; ++s) heading.push_back(std::to_string(s));
    table.row(std::move(heading));
    for (auto& line : lines) table.row(std::move(line));
  }
  return table.text();
}

}  // namespace

bool is_observed(const Model& model, const Slices& of) {
  if (of.count == 0) return false;
  for (std::int64_t slice = 0; slice < of.count; ++slice) {
    if (observed_state(model, of, slice) < 0) return false;
  }
  return true;
}

std::string observed_line(const Model& model, const Slices& of) {
  if (of.shape.empty())
    return fmt::format("observed: {} = {}\n", of.label, state_name(model, of, observed_state(model, of, 0)));
  return fmt::format("observed: {}, all {} slices\n", of.heading(), of.count);
}

std::string answer_table(const Model& model, const Answer& answer) {
  if (answer.task == "pr") return partition_table(answer.ln_z);
  if (answer.task == "entropy") return entropy_table(answer.entropy);
  if (answer.task == "leave-one-out") return left_out_table(answer);
  if (answer.task == "map") return assignment_table(model, answer.best);
  if (answer.task == "sample") return sample_table(model, answer.samples);
  return marginal_table(model, answer.marginals);
}

}  // namespace plated::cli
