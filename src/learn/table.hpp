// Conditional distributions that are learnt: rows of probabilities, shared by one factor or several.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "learn/learnt.hpp"

namespace plated::learn {

class Table final : public Learnt {
 public:
  /// The first factor's numbers are the start, and its shape is everyone's. Throws ValueError for a row without weight.
  /// `observed`: there are data of its child.
  Table(const Model& model, std::vector<std::size_t> factors, double pseudo_count, bool observed);

  [[nodiscard]] std::size_t size() const override { return start_.size(); }
  [[nodiscard]] std::int64_t free() const override;
  void start(std::span<double> parameters, base::Random& random) const override;
  void draw(std::span<double> parameters, base::Random& random) const override;
  [[nodiscard]] bool started() const override { return started_; }
  void even(std::span<double> parameters, base::Random& random) const override;
  void centre(std::span<const double> statistics) override;
  [[nodiscard]] double log_prior(std::span<const double> parameters) const override;
  void write(std::span<const double> parameters, const Operands& operands) const override;
  [[nodiscard]] std::size_t statistics() const override { return size(); }
  void count(std::span<const double> parameters, const Operands& operands, std::span<double> statistics) const override;
  void maximise(std::span<double> parameters, std::span<const double> statistics,
                std::vector<std::string>& notes) const override;
  void recentre(std::span<const double> /*from*/, std::span<const double> /*to*/,
                std::span<double> /*statistics*/) const override {}
  [[nodiscard]] std::size_t numbers(std::size_t /*block*/) const override { return 0; }
  [[nodiscard]] std::size_t numbers_needed() const override { return 0; }
  void restrain(std::span<double> parameters, std::span<const double> step) const override;
  [[nodiscard]] std::unique_ptr<Curved> curved(const Model& model, std::span<const double> parameters,
                                               const Operands& operands) const override;
  void store(std::span<const double> parameters, Model& model) const override;

  [[nodiscard]] const std::vector<std::size_t>& factors() const { return factors_; }
  /// Where an entry is in the operands, which are stored by states of the child first (Counting::operand).
  [[nodiscard]] std::size_t place(std::size_t entry) const {
    return (entry / inner_ % states_ * outer_ + entry / (states_ * inner_)) * inner_ + entry % inner_;
  }
  /// How often an entry is expected to occur, pseudo-counts included.
  [[nodiscard]] double counted(std::size_t entry, const Operands& operands) const;
  /// The entries of each row that are not zero by structure.
  void each_row_entries(const std::function<void(const std::vector<std::size_t>&)>& visit) const;

 private:
  /// Calls visit(first entry) for each row; its entries are inner_ apart.
  template <class Visit>
  void each_row(const Visit& visit) const;
  void normalise_start(const std::string& name);

  std::vector<std::size_t> factors_;
  std::size_t axis_ = 0;  // of the child
  // Entries are numbered (outer, state, inner), in the factor's row-major order.
  std::size_t outer_ = 1, states_ = 1, inner_ = 1;
  bool started_ = true;
  bool observed_ = false;
  std::vector<double> centre_;  // rows of frequencies that draws are scattered around; empty: none
  std::vector<double> start_;   // probabilities; zero is zero by structure
  std::vector<double> pseudo_;  // counts of the prior, 0 where the start is zero; empty: none
};

}  // namespace plated::learn
