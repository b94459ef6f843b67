// Standard errors of tables: rows of probabilities that sum to one.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/spell.hpp"
#include "learn/curved.hpp"
#include "learn/table.hpp"

namespace plated::learn {
namespace {

/// One entry that is free; the largest of its row makes the row sum to one.
struct FreeEntry {
  std::size_t row;
  std::size_t entry;
  std::size_t reference;
};

class CurvedTable final : public Curved {
 public:
  CurvedTable(const Model& model, const Table& table, std::span<const double> values, const Operands& operands)
      : model_(model), table_(table), values_(values), errors_(table.size(), 0.0) {
    for (std::size_t entry = 0; entry < table.size(); ++entry) counts_.push_back(table.counted(entry, operands));
    std::size_t row = 0;
    table.each_row_entries([&](const std::vector<std::size_t>& entries) { choose_free(row++, entries); });
  }

  [[nodiscard]] std::size_t size() const override { return free_.size(); }
  [[nodiscard]] double own(std::size_t i) const override { return own_of(free_[i].entry) + own_of(free_[i].reference); }

  [[nodiscard]] double score(std::size_t i) const override {
    const FreeEntry& at = free_[i];
    return counts_[at.entry] / values_[at.entry] - counts_[at.reference] / values_[at.reference];
  }

  [[nodiscard]] bool move(std::span<const double> steps, std::span<double> parameters) const override {
    for (std::size_t i = 0; i < free_.size(); ++i) {
      parameters[free_[i].entry] += steps[i];
      parameters[free_[i].reference] -= steps[i];
    }
    return std::all_of(free_.begin(), free_.end(),
                       [&](const FreeEntry& at) { return parameters[at.entry] > 0 && parameters[at.reference] > 0; });
  }

  void direct(std::size_t i, const Counts& counts) const override {
    const FreeEntry& at = free_[i];
    for (const std::size_t factor : table_.factors()) {
      double* const direction = counts.direction(factor);
      direction[table_.place(at.entry)] = 1 / values_[at.entry];
      direction[table_.place(at.reference)] = -1 / values_[at.reference];
    }
  }

  void project(const std::vector<Tensor>& products, std::span<double> row) const override {
    for (std::size_t j = 0; j < free_.size(); ++j) {
      const FreeEntry& at = free_[j];
      for (const std::size_t factor : table_.factors()) {
        const auto* const product = static_cast<const double*>(products[factor].data());
        row[j] -= product[table_.place(at.entry)] / values_[at.entry] -
                  product[table_.place(at.reference)] / values_[at.reference];
      }
    }
  }

  void curve(std::size_t i, std::span<double> row) const override {
    row[i] += own_of(free_[i].entry);
    for (std::size_t j = 0; j < free_.size(); ++j) {
      if (free_[j].row == free_[i].row) row[j] += own_of(free_[i].reference);
    }
  }

  void take_errors(const Semidefinite& inverse, std::span<const double> scale, std::size_t offset) override {
    const double infinite = std::numeric_limits<double>::infinity();
    for (std::size_t begin = 0; begin < free_.size();) {
      std::size_t end = begin;
      while (end < free_.size() && free_[end].row == free_[begin].row) ++end;
      double of_reference = 0;  // by the delta method: one less all others
      bool row_known = true;
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t at = offset + i;
        const bool known = inverse.determined(at);
        row_known = row_known && known;
        for (std::size_t j = begin; j < end; ++j) {
          of_reference += scale[at] * scale[offset + j] * inverse(at, offset + j);
        }
        errors_[free_[i].entry] = known ? scale[at] * std::sqrt(inverse(at, at)) : infinite;
        if (!known) undetermined_.push_back(free_[i].entry);
      }
      const std::size_t reference = free_[begin].reference;
      errors_[reference] = row_known ? std::sqrt(std::max(of_reference, 0.0)) : infinite;
      if (!row_known) undetermined_.push_back(reference);
      begin = end;
    }
  }

  void report(Fit& result, bool no_maximum) const override {
    for (const std::size_t factor : table_.factors()) {
      result.standard_errors.emplace(model_.graph.factors()[factor].name,
                                     Tensor::of(model_.factors[factor].shape(), errors_));
    }
    note(result, at_zero_, "are zero, at the boundary: they are taken as fixed and have no standard error");
    note(result, unreached_, "have standard errors without bound: nothing that is observed reaches their rows");
    note(result, undetermined_, undetermined_note(no_maximum));
  }

 private:
  /// An entry's part of the information if all were observed.
  [[nodiscard]] double own_of(std::size_t entry) const { return counts_[entry] / values_[entry] / values_[entry]; }

  void choose_free(std::size_t row, const std::vector<std::size_t>& entries) {
    double total = 0;
    std::size_t reference = entries[0];
    for (const std::size_t entry : entries) {
      total += counts_[entry];
      if (values_[entry] > values_[reference]) reference = entry;
    }
    for (const std::size_t entry : entries) {
      if (!(total > 0)) {
        if (entries.size() > 1) unreached_.push_back(entry);
        if (entries.size() > 1) errors_[entry] = std::numeric_limits<double>::infinity();
      } else if (entry != reference) {
        if (is_at_zero(values_[entry], counts_[entry], total)) {
          at_zero_.push_back(entry);
        } else {
          free_.push_back({.row = row, .entry = entry, .reference = reference});
        }
      }
    }
  }

  void note(Fit& result, const std::vector<std::size_t>& entries, const std::string& why) const {
    if (entries.empty()) return;
    std::string shown;
    for (std::size_t k = 0; k < std::min<std::size_t>(entries.size(), 3); ++k) {
      shown += (shown.empty() ? "" : ", ") + spelled(entries[k]);
    }
    const std::string& name = model_.graph.factors()[table_.factors()[0]].name;
    std::string note = "factor " + graph::quoted(name) + ": entries " + shown;
    if (entries.size() > 3) note.append(" and ").append(std::to_string(entries.size() - 3)).append(" more");
    result.notes.push_back(note.append(" ").append(why));
  }

  [[nodiscard]] std::string spelled(std::size_t entry) const {
    Tensor::Shape index = model_.factors[table_.factors()[0]].shape();
    for (std::size_t a = index.size(); a-- > 0;) {
      const auto extent = static_cast<std::size_t>(index[a]);
      index[a] = static_cast<std::int64_t>(entry % extent);
      entry /= extent;
    }
    return graph::as_shape(index);
  }

  const Model& model_;
  const Table& table_;
  std::span<const double> values_;
  std::vector<double> counts_;   // [entry]: pseudo-counts included
  std::vector<FreeEntry> free_;  // those of a row follow each other
  std::vector<double> errors_;   // [entry]
  std::vector<std::size_t> at_zero_, unreached_, undetermined_;
};

}  // namespace

std::unique_ptr<Curved> Table::curved(const Model& model, std::span<const double> parameters,
                                      const Operands& operands) const {
  return std::make_unique<CurvedTable>(model, *this, parameters, operands);
}

}  // namespace plated::learn
