// Observed information: the Hessian of the objective in the entries of learnt rows, one product with a direction for
// each that is free.
#include "learn/information.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/spell.hpp"
#include "learn/semidefinite.hpp"
#include "learn/table.hpp"
#include "plated/error.hpp"

namespace plated::learn {
namespace {

/// A part that is a table, and where its parameters begin.
struct Placed {
  const Table* table;
  std::size_t offset;
};

std::vector<Placed> tables_of(const LearntParts& parts) {
  std::vector<Placed> tables;
  std::size_t offset = 0;
  for (const auto& part : parts) {
    if (const auto* const table = dynamic_cast<const Table*>(part.get())) tables.push_back({table, offset});
    offset += part->size();
  }
  return tables;
}

/// One entry that is free; the largest of its row makes the row sum to one.
struct Free {
  std::size_t table;      // among tables_
  std::size_t row;        // counted over all tables
  std::size_t entry;      // of the table
  std::size_t reference;  // likewise
};

class Information {
 public:
  Information(const Model& model, const LearntParts& parts, Counts& counts, std::span<const double> parameters)
      : model_(model), tables_(tables_of(parts)), counts_(counts), parameters_(parameters) {
    for (const Placed& placed : tables_) errors_.emplace_back(placed.table->size(), 0.0);
    std::size_t offset = 0;
    for (const auto& part : parts) {
      part->write(parameters.subspan(offset, part->size()), counts.operands());
      offset += part->size();
    }
    (void)counts.count();
    for (std::size_t t = 0; t < tables_.size(); ++t) choose_free(t);
  }

  void find_errors() {
    const std::size_t size = free_.size();
    std::vector<double> matrix(size * size);
    std::vector<double> scale(size);
    for (std::size_t i = 0; i < size; ++i) {
      const Free& at = free_[i];
      // What the entry would tell if nothing were latent: numbers of rows that are seen rarely are as large as others.
      scale[i] = 1 / std::sqrt(own(at, at.entry) + own(at, at.reference));
      fill_row(i, std::span(matrix).subspan(i * size, size));
    }
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        const double both = (matrix[i * size + j] + matrix[j * size + i]) / 2 * scale[i] * scale[j];
        matrix[i * size + j] = matrix[j * size + i] = both;
      }
    }
    const Semidefinite inverse(std::move(matrix), size);
    no_maximum_ = inverse.indefinite();
    take_errors(inverse, scale);
  }

  void report(Fit& result) const {
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      const Table& table = *tables_[t].table;
      for (const std::size_t factor : table.factors()) {
        result.standard_errors.emplace(model_.graph.factors()[factor].name,
                                       Tensor::of(model_.factors[factor].shape(), errors_[t]));
      }
    }
    note(result, at_zero_, "are zero, at the boundary: they are taken as fixed and have no standard error");
    note(result, unreached_, "have standard errors without bound: nothing that is observed reaches their rows");
    note(result, undetermined_,
         no_maximum_
             ? "have standard errors without bound: the information is not positive definite, so that the numbers "
               "are no maximum"
             : "have standard errors without bound: the information is singular, the data do not determine them");
  }

 private:
  struct Entry {
    std::size_t table;
    std::size_t entry;
  };

  [[nodiscard]] double value(std::size_t table, std::size_t entry) const {
    return parameters_[tables_[table].offset + entry];
  }
  [[nodiscard]] double count(std::size_t table, std::size_t entry) const {
    return tables_[table].table->counted(entry, counts_.operands());
  }
  /// An entry's part of the information if all were observed.
  [[nodiscard]] double own(const Free& at, std::size_t entry) const {
    return count(at.table, entry) / value(at.table, entry) / value(at.table, entry);
  }

  void choose_free(std::size_t t) {
    const Table& table = *tables_[t].table;
    table.each_row_entries([&](const std::vector<std::size_t>& entries) {
      double total = 0;
      std::size_t reference = entries[0];
      for (const std::size_t entry : entries) {
        total += count(t, entry);
        if (value(t, entry) > value(t, reference)) reference = entry;
      }
      for (const std::size_t entry : entries) {
        if (!(total > 0)) {
          if (entries.size() > 1) unreached_.push_back({t, entry});
          if (entries.size() > 1) errors_[t][entry] = std::numeric_limits<double>::infinity();
        } else if (entry != reference) {
          if (is_boundary(value(t, entry), count(t, entry), total)) {
            at_zero_.push_back({t, entry});
          } else {
            free_.push_back({.table = t, .row = rows_, .entry = entry, .reference = reference});
          }
        }
      }
      ++rows_;
    });
  }

  /// Whether a number is zero at the maximum, or on its way there: another step would make it smaller.
  static bool is_boundary(double value, double count, double total) {
    if (value < 1e-8) return true;
    return count < 0.01 && count < 0.99 * value * total;
  }

  /// −H in one direction: that of an entry which its reference makes up for.
  void fill_row(std::size_t i, std::span<double> row) {
    const Free& at = free_[i];
    counts_.clear_direction();
    const Table& own_table = *tables_[at.table].table;
    for (const std::size_t factor : own_table.factors()) {
      double* const direction = counts_.direction(factor);
      direction[own_table.place(at.entry)] = 1 / value(at.table, at.entry);
      direction[own_table.place(at.reference)] = -1 / value(at.table, at.reference);
    }
    const std::vector<Tensor>& products = counts_.curve();
    for (std::size_t j = 0; j < row.size(); ++j) {
      const Free& other = free_[j];
      const Table& table = *tables_[other.table].table;
      double sum = 0;
      for (const std::size_t factor : table.factors()) {
        const auto* const product = static_cast<const double*>(products[factor].data());
        sum += product[table.place(other.entry)] / value(other.table, other.entry) -
               product[table.place(other.reference)] / value(other.table, other.reference);
      }
      row[j] = -sum;
      // The logarithms' own curvature: they are not linear in the entries.
      if (other.row == at.row) row[j] += own(at, at.reference);
    }
    row[i] += own(at, at.entry);
  }

  void take_errors(const Semidefinite& inverse, const std::vector<double>& scale) {
    const double infinite = std::numeric_limits<double>::infinity();
    for (std::size_t begin = 0; begin < free_.size();) {
      std::size_t end = begin;
      while (end < free_.size() && free_[end].row == free_[begin].row) ++end;
      const Free& first = free_[begin];
      double of_reference = 0;  // by the delta method: one less all others
      bool row_known = true;
      for (std::size_t i = begin; i < end; ++i) {
        const bool known = inverse.determined(i);
        row_known = row_known && known;
        for (std::size_t j = begin; j < end; ++j) of_reference += scale[i] * scale[j] * inverse(i, j);
        errors_[first.table][free_[i].entry] = known ? scale[i] * std::sqrt(inverse(i, i)) : infinite;
        if (!known) undetermined_.push_back({first.table, free_[i].entry});
      }
      errors_[first.table][first.reference] = row_known ? std::sqrt(std::max(of_reference, 0.0)) : infinite;
      if (!row_known) undetermined_.push_back({first.table, first.reference});
      begin = end;
    }
  }

  /// One line for each table.
  void note(Fit& result, const std::vector<Entry>& entries, const std::string& why) const {
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      std::string shown;
      std::size_t number = 0;
      for (const Entry& entry : entries) {
        if (entry.table != t) continue;
        if (++number <= 3) shown += (shown.empty() ? "" : ", ") + spelled(t, entry.entry);
      }
      if (number == 0) continue;
      const std::string& name = model_.graph.factors()[tables_[t].table->factors()[0]].name;
      std::string note = "factor " + graph::quoted(name) + ": entries " + shown;
      if (number > 3) note.append(" and ").append(std::to_string(number - 3)).append(" more");
      result.notes.push_back(note.append(" ").append(why));
    }
  }

  [[nodiscard]] std::string spelled(std::size_t t, std::size_t entry) const {
    Tensor::Shape index = model_.factors[tables_[t].table->factors()[0]].shape();
    for (std::size_t a = index.size(); a-- > 0;) {
      const auto extent = static_cast<std::size_t>(index[a]);
      index[a] = static_cast<std::int64_t>(entry % extent);
      entry /= extent;
    }
    return graph::as_shape(index);
  }

  const Model& model_;
  std::vector<Placed> tables_;
  Counts& counts_;
  std::span<const double> parameters_;
  std::size_t rows_ = 0;
  std::vector<Free> free_;                   // those of a row follow each other
  std::vector<std::vector<double>> errors_;  // [table][entry]
  std::vector<Entry> at_zero_, unreached_, undetermined_;
  bool no_maximum_ = false;
};

}  // namespace

void check_information(const LearntParts& parts, const FitOptions& options) {
  std::int64_t free = 0;
  for (const auto& part : parts) free += part->free();
  const double bytes = 3 * 8.0 * static_cast<double>(free) * static_cast<double>(free);
  if (options.memory_limit == 0 || bytes <= static_cast<double>(options.memory_limit)) return;
  const auto needed = static_cast<std::int64_t>(bytes);
  throw MemoryLimitError("the information of " + std::to_string(free) + " free parameters needs " +
                             std::to_string(needed) + " bytes, and the limit is " +
                             std::to_string(options.memory_limit) + ": leave out standard errors",
                         needed, options.memory_limit);
}

void add_standard_errors(Fit& result, const Model& observed, const LearntParts& parts, const Counting& counting,
                         std::span<const double> parameters, const FitOptions& options) {
  try {
    Counts counts(counting, options.threads, options.cancelled);
    Information information(observed, parts, counts, parameters);
    information.find_errors();
    information.report(result);
  } catch (const CancelledError&) {
    result.interrupted = true;
  }
}

}  // namespace plated::learn
