// Writes answers as CSV (RFC 4180, with bare line feeds): records that other programs group and plot.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "answer.hpp"

namespace plated::cli {
namespace {

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

void append(std::string& out, const std::vector<std::string>& cells) {
  for (std::size_t k = 0; k < cells.size(); ++k) out += (k > 0 ? "," : "") + csv_cell(cells[k]);
  out += '\n';
}

/// The shortest text that reads back to the same number.
std::string number(const Tensor& of, double value) {
  if (of.dtype() == Dtype::float32) return fmt::format("{}", static_cast<float>(value));
  return fmt::format("{}", value);
}

/// A column for each axis, and one for the numbers.
std::string numbers(const std::vector<std::string>& axes, const Tensor& tensor, const std::string& name) {
  Slices of;
  of.axes = axes;
  of.shape = tensor.shape();
  std::vector<std::string> cells = axes;
  cells.push_back(name);
  std::string out;
  append(out, cells);
  const std::vector<double> values = tensor.values();
  for (std::size_t k = 0; k < values.size(); ++k) {
    cells.clear();
    for (const std::int64_t place : of.index(static_cast<std::int64_t>(k))) cells.push_back(std::to_string(place));
    cells.push_back(number(tensor, values[k]));
    append(out, cells);
  }
  return out;
}

std::vector<std::string> batch_dims(const Model& model) {
  std::vector<std::string> names;
  for (const Dim& dim : model.graph.dims()) {
    if (dim.kind == DimKind::batch) names.push_back(dim.name);
  }
  return names;
}

/// The columns that say which slice a record is about: one for every axis that a variable of the answer has.
class SliceColumns {
 public:
  explicit SliceColumns(const std::vector<Slices>& all) {
    for (const Slices& of : all) {
      for (const std::string& axis : of.axes) {
        if (std::find(axes_.begin(), axes_.end(), axis) == axes_.end()) axes_.push_back(axis);
      }
    }
  }
  [[nodiscard]] std::vector<std::string> heading(const std::vector<std::string>& further) const {
    std::vector<std::string> cells = {"variable"};
    cells.insert(cells.end(), axes_.begin(), axes_.end());
    cells.insert(cells.end(), further.begin(), further.end());
    return cells;
  }
  /// A cell is empty where the variable does not have the axis.
  [[nodiscard]] std::vector<std::string> record(const Slices& of, std::int64_t slice) const {
    std::vector<std::string> cells = {of.label};
    const std::vector<std::int64_t> index = of.index(slice);
    for (const std::string& axis : axes_) {
      const auto found = std::find(of.axes.begin(), of.axes.end(), axis);
      cells.push_back(found == of.axes.end()
                          ? std::string()
                          : std::to_string(index[static_cast<std::size_t>(found - of.axes.begin())]));
    }
    return cells;
  }

 private:
  std::vector<std::string> axes_;
};

std::string marginals_csv(const Model& model, const std::vector<Posterior>& marginals) {
  std::vector<Slices> all;
  for (const Posterior& posterior : marginals) all.push_back(posterior.of);
  const SliceColumns columns(all);
  std::string out;
  append(out, columns.heading({"state", "probability"}));
  for (const auto& [of, probabilities] : marginals) {
    const std::vector<double> values = probabilities.values();
    for (std::int64_t slice = 0; slice < of.count; ++slice) {
      const auto first = values.begin() + slice * of.states;
      // Slices beyond the length of a chain do not exist.
      if (!(std::accumulate(first, first + of.states, 0.0) > 0)) continue;
      std::vector<std::string> cells = columns.record(of, slice);
      const std::size_t fixed = cells.size();
      for (std::int64_t state = 0; state < of.states; ++state) {
        cells.resize(fixed);
        cells.push_back(state_name(model, of, state));
        cells.push_back(number(probabilities, first[state]));
        append(out, cells);
      }
    }
  }
  return out;
}

std::string assignment_csv(const Model& model, const MapResult& best) {
  const std::vector<Slices> all = answered_slices(model);
  const SliceColumns columns(all);
  std::string out;
  append(out, columns.heading({"state"}));
  for (const Slices& of : all) {
    const Integers& states = best.assignment.at(of.variables[0]);
    for (std::int64_t slice = 0; slice < of.count; ++slice) {
      const std::int64_t state = states.values[static_cast<std::size_t>(slice)];
      if (state < 0) continue;
      std::vector<std::string> cells = columns.record(of, slice);
      cells.push_back(state_name(model, of, state));
      append(out, cells);
    }
  }
  return out;
}

/// A record for each sample, a column for each slice; empty beyond a chain's length.
std::string samples_csv(const Model& model, const std::map<std::string, Integers>& samples) {
  const std::vector<Slices> all = answered_slices(model);
  std::vector<std::string> cells = {"sample"};
  std::int64_t count = 0;
  for (const Slices& of : all) {
    count = samples.at(of.variables[0]).shape.front();
    for (std::int64_t slice = 0; slice < of.count; ++slice) cells.push_back(of.name(slice));
  }
  std::string out;
  append(out, cells);
  for (std::int64_t sample = 0; sample < count; ++sample) {
    cells = {std::to_string(sample)};
    for (const Slices& of : all) {
      const std::vector<std::int64_t>& states = samples.at(of.variables[0]).values;
      for (std::int64_t slice = 0; slice < of.count; ++slice) {
        const std::int64_t state = states[static_cast<std::size_t>(sample * of.count + slice)];
        cells.push_back(state < 0 ? std::string() : state_name(model, of, state));
      }
    }
    append(out, cells);
  }
  return out;
}

}  // namespace

std::string answer_csv(const Model& model, const Answer& answer) {
  if (answer.task == "pr") return numbers(batch_dims(model), answer.ln_z, "ln_z");
  if (answer.task == "entropy") return numbers(batch_dims(model), answer.entropy, "entropy_nats");
  if (answer.task == "leave-one-out") return numbers(answer.left_axes, answer.left_out, "ln_p");
  if (answer.task == "map") return assignment_csv(model, answer.best);
  if (answer.task == "sample") return samples_csv(model, answer.samples);
  return marginals_csv(model, answer.marginals);
}

}  // namespace plated::cli
