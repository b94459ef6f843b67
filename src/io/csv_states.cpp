// Reads states and numbers from tables with a line of names.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/whole_integer.hpp"
#include "io/data_file.hpp"
#include "io/disk.hpp"
#include "io/numbers.hpp"
#include "io/source.hpp"
#include "model/likelihoods.hpp"
#include "model/rows.hpp"
#include "plated/data_file.hpp"
#include "plated/error.hpp"

namespace plated {
namespace io {
namespace {

using Line = std::vector<std::string>;

/// Cells of RFC 4180: quoted ones may hold commas, quotes and line ends.
class CsvReader {
 public:
  explicit CsvReader(const Source& source) : text_(source.text()), source_(source) {}

  /// False at the end of the text. An empty line is skipped.
  bool next(Line& line) {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
    if (at_ == text_.size()) return false;
    begin_ = at_;
    line.clear();
    bool more = true;
    while (more) {
      line.push_back(text_.substr(at_).starts_with('"') ? quoted() : plain());
      more = at_ < text_.size() && text_[at_] == ',';
      if (more) ++at_;
    }
    if (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') {
      source_.fail(at_, "a quoted cell continues behind its end");
    }
    return true;
  }
  /// Where the last line begins.
  [[nodiscard]] std::size_t place() const { return begin_; }

 private:
  std::string plain() {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string cell(text_.substr(at_, end - at_));
    at_ = end;
    const std::size_t first = cell.find_first_not_of(" \t");
    return first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(" \t") - first + 1);
  }

  std::string quoted() {
    std::string cell;
    const std::size_t begin = at_++;
    for (;;) {
      const std::size_t end = text_.find('"', at_);
      if (end == std::string_view::npos) source_.fail(begin, "a quoted cell has no end");
      cell += text_.substr(at_, end - at_);
      at_ = end + 1;
      if (at_ == text_.size() || text_[at_] != '"') return cell;
      cell += '"';
      ++at_;
    }
  }

  std::string_view text_;
  const Source& source_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;
};

/// The column of a variable or of a likelihood's numbers, and the columns that say which slice a line is about.
struct Column {
  std::string name;
  DimId variable = 0;  // unless it has numbers
  std::vector<DimId> plates;
  bool numbers = false;
  std::size_t cell = 0;
  std::vector<std::size_t> index;  // of its plates; empty: lines are slices in order
  std::vector<std::vector<std::int64_t>> slices = {};
  std::vector<double> entries = {};      // states or numbers; NaN is missing
  std::vector<std::size_t> places = {};  // of the lines in the text
};

Column column_of(const Model& model, const Source& source, const Line& names, Column column) {
  const std::vector<DimId>& plates = column.plates;
  for (const DimId plate : plates) {
    const auto found = std::find(names.begin(), names.end(), model.graph.dims()[plate].name);
    if (found != names.end()) column.index.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  if (column.index.size() == plates.size() || (column.index.empty() && plates.size() == 1)) return column;
  std::string wanted;
  for (const DimId plate : plates) wanted += (wanted.empty() ? "" : ", ") + shown(model.graph.dims()[plate].name);
  source.fail(
      0, "the slices of " + shown(names[column.cell]) + " are not told: columns " + wanted + " should say which it is");
}

std::int64_t read_index(const Source& source, std::size_t place, const std::string& cell) {
  const auto number = base::whole_integer(cell);
  if (!number || *number < 0) source.fail(place, shown(cell) + " is not the number of a slice, from 0");
  return *number;
}

double read_cell(const Model& model, const Source& source, std::size_t place, const std::string& cell,
                 const Column& column) {
  if (cell.empty()) return std::numeric_limits<double>::quiet_NaN();
  if (!column.numbers) {
    return static_cast<double>(source.blame(place, [&] { return state_named(model, column.name, cell); }));
  }
  if (cell == "NaN" || cell == "nan" || cell == "NA") return std::numeric_limits<double>::quiet_NaN();
  const ReadNumber number = read_number(cell);
  if (number.bytes != cell.size()) source.fail(place, shown(cell) + " is no number of " + shown(column.name));
  return number.value;
}

void add_line(const Model& model, const Source& source, std::size_t place, const Line& line, Column& column) {
  std::vector<std::int64_t> slice;
  for (const std::size_t k : column.index) slice.push_back(read_index(source, place, line[k]));
  const auto rows = static_cast<std::int64_t>(column.entries.size());
  if (column.index.empty() && !column.plates.empty()) slice.push_back(rows);
  column.entries.push_back(read_cell(model, source, place, line[column.cell], column));
  column.slices.push_back(std::move(slice));
  column.places.push_back(place);
}

/// As many slices as the model has, or more where the table has more.
Tensor gathered(const Model& model, const Source& source, const Column& column) {
  const std::vector<DimId>& plates = column.plates;
  std::vector<std::int64_t> shape;
  for (std::size_t k = 0; k < plates.size(); ++k) {
    const std::int64_t size = model.graph.dims()[plates[k]].size;
    std::int64_t last = -1;
    for (const auto& slice : column.slices) last = std::max(last, slice[k]);
    shape.push_back(column.index.empty() ? last + 1 : std::max(size, last + 1));
  }
  constexpr double most_cells = 1e10;  // an index that is a typo should not take all memory
  double cells = 1;
  for (const std::int64_t extent : shape) cells *= static_cast<double>(extent);
  const std::string& name = column.name;
  if (cells > most_cells) source.fail(0, "the slices of " + shown(name) + " are too many");
  std::vector<double> entries(static_cast<std::size_t>(cells), std::numeric_limits<double>::quiet_NaN());
  std::vector<bool> told(entries.size(), false);
  for (std::size_t line = 0; line < column.entries.size(); ++line) {
    std::int64_t at = 0;
    for (std::size_t k = 0; k < shape.size(); ++k) at = at * shape[k] + column.slices[line][k];
    if (told[static_cast<std::size_t>(at)]) {
      source.fail(column.places[line], "is about a slice of " + shown(name) + " that a line before was about");
    }
    told[static_cast<std::size_t>(at)] = true;
    entries[static_cast<std::size_t>(at)] = column.entries[line];
  }
  return Tensor::of<double>(shape, entries);
}

/// The columns of variables and of likelihoods' numbers, or the one that is named.
std::vector<Column> find_columns(const Model& model, const Source& source, const Line& names, std::string_view wanted) {
  std::vector<Column> columns;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto variable = find_variable(model, names[k]);
    if (variable && (wanted.empty() || find_variable(model, wanted) == variable)) {
      const Dim& dim = model.graph.dims()[*variable];
      const std::vector<DimId>& plates = model.graph.variable_plates()[*variable];
      columns.push_back(column_of(model, source, names,
                                  {.name = dim.name, .variable = *variable, .plates = plates, .cell = k, .index = {}}));
      continue;
    }
    const std::vector<std::size_t> factors = model::factors_measuring(model, names[k]);
    if (factors.empty() || (!wanted.empty() && wanted != names[k])) continue;
    const std::vector<DimId> plates = model.graph.factor_plates(factors[0]);
    columns.push_back(
        column_of(model, source, names, {.name = names[k], .plates = plates, .numbers = true, .cell = k, .index = {}}));
  }
  if (columns.empty()) {
    source.fail(0, wanted.empty() ? "no column has the name of a variable" : "no column is called " + shown(wanted));
  }
  return columns;
}

Integers as_states(const Tensor& entries) {
  Integers states(entries.shape(), -1);
  const std::vector<double> values = entries.values();
  std::transform(values.begin(), values.end(), states.values.begin(),
                 [](double state) { return std::isnan(state) ? -1 : static_cast<std::int64_t>(state); });
  return states;
}

/// The lines as they are.
Long listed_rows(const Model& model, const Column& column) {
  const auto rows = static_cast<std::int64_t>(column.entries.size());
  Long list{.states = as_states(Tensor::of<double>({rows}, column.entries))};
  const std::vector<DimId>& plates = column.plates;
  for (std::size_t k = 0; k < plates.size(); ++k) {
    std::vector<std::int64_t> slices;
    for (const auto& slice : column.slices) slices.push_back(slice[k]);
    list.slices.emplace(model.graph.dims()[plates[k]].name, Integers({rows}, std::move(slices)));
  }
  return list;
}

}  // namespace

Observations read_csv(const Model& model, const std::filesystem::path& path, std::string_view wanted, bool lists) {
  const std::string text = read_text(path);
  const Source source(one_line(path.string()), without_mark(text));
  CsvReader reader(source);
  Line names;
  if (!reader.next(names)) source.fail(0, "is empty: its first line should name the columns");
  std::vector<Column> columns = find_columns(model, source, names, wanted);
  for (Line line; reader.next(line);) {
    if (line.size() != names.size()) {
      source.fail(reader.place(), "has " + std::to_string(line.size()) + " cells, and there are " +
                                      std::to_string(names.size()) + " columns");
    }
    for (Column& column : columns) add_line(model, source, reader.place(), line, column);
  }
  Observations data;
  for (const Column& column : columns) {
    const bool listed =
        lists && !column.numbers && column.index.size() > 1 && model::can_be_listed(model, column.variable);
    const bool is_new = column.numbers ? data.measurements.emplace(column.name, gathered(model, source, column)).second
                        : listed       ? data.lists.emplace(column.name, listed_rows(model, column)).second
                                 : data.states.emplace(column.name, as_states(gathered(model, source, column))).second;
    if (!is_new) {
      source.fail(0, shown(column.name) + " has two columns");
    }
  }
  return data;
}

}  // namespace io

namespace {

Observations read_any(const Model& model, const std::filesystem::path& path, std::string_view name, bool lists) {
  const bool is_variable = find_variable(model, name).has_value();
  if (!name.empty() && !is_variable && model::factors_measuring(model, name).empty()) {
    throw UnknownNameError("there is no variable '" + std::string(name) + "' to have data");
  }
  if (path.extension() == ".csv") return io::read_csv(model, path, name, lists);
  if (path.extension() != ".npy") {
    throw OptionError(path.string() + ": data are .npy or .csv files");
  }
  if (name.empty()) throw OptionError(path.string() + ": say which variable the array is of, as in name=FILE.npy");
  if (is_variable) return {.states = {{std::string(name), io::read_npy_states(path)}}};
  return {.measurements = {{std::string(name), io::read_npy_numbers(path)}}};
}

}  // namespace

Evidence read_data(const Model& model, const std::filesystem::path& path, std::string_view variable) {
  return read_any(model, path, variable, false).states;
}

Measurements read_measurements(const Model& model, const std::filesystem::path& path, std::string_view name) {
  return read_any(model, path, name, false).measurements;
}

Observations read_observations(const Model& model, const std::filesystem::path& path, std::string_view variable) {
  return read_any(model, path, variable, true);
}

}  // namespace plated
