// Likelihoods of observed numbers that are learnt: the parameters of one factor or of several that share them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "learn/learnt.hpp"
#include "likelihood/starts.hpp"
#include "model/measured.hpp"

namespace plated::learn {

class Blocks;

class Emission final : public Learnt {
 public:
  /// Of a model with its data. The first factor's parameters are the start. `each`: operands are those of one block,
  /// and not of all of them. Throws OptionError where a factor has no data, and ValueError for numbers without a
  /// density.
  Emission(const Model& model, std::vector<std::size_t> factors, const Blocks& blocks, bool each);

  [[nodiscard]] std::size_t size() const override { return components_.size(); }
  [[nodiscard]] std::int64_t free() const override { return static_cast<std::int64_t>(components_.free()); }
  void start(std::span<double> parameters, base::Random& random) const override;
  void draw(std::span<double> parameters, base::Random& random) const override;
  [[nodiscard]] bool started() const override { return !start_.empty(); }
  void even(std::span<double> parameters, base::Random& random) const override { draw(parameters, random); }
  void centre(std::span<const double> /*statistics*/) override {}  // draws are from the numbers already
  [[nodiscard]] double log_prior(std::span<const double> /*parameters*/) const override { return 0; }
  void write(std::span<const double> parameters, const Operands& operands) const override;
  [[nodiscard]] std::size_t statistics() const override { return components_.statistics(); }
  void count(std::span<const double> parameters, const Operands& operands, std::span<double> statistics) const override;
  void maximise(std::span<double> parameters, std::span<const double> statistics,
                std::vector<std::string>& notes) const override;
  void recentre(std::span<const double> from, std::span<const double> to, std::span<double> statistics) const override;
  [[nodiscard]] std::size_t numbers(std::size_t block) const override;
  [[nodiscard]] std::size_t numbers_needed() const override { return needed_; }
  void restrain(std::span<double> parameters, std::span<const double> step) const override;
  [[nodiscard]] std::unique_ptr<Curved> curved(const Model& model, std::span<const double> parameters,
                                               const Operands& operands) const override;
  void store(std::span<const double> parameters, Model& model) const override;

  [[nodiscard]] const std::vector<std::size_t>& factors() const { return factors_; }
  [[nodiscard]] const likelihood::Components& components() const { return components_; }
  /// Of factor k of factors(): how its parameters lie, and its numbers where all data are read at once.
  [[nodiscard]] const model::Measured& measured(std::size_t k) const { return measured_[k]; }
  [[nodiscard]] const likelihood::Cells& cells(std::size_t k) const { return cells_[0][k]; }
  /// Adds the statistics of numbers of factor k, which lie as its operand, where all data are read at once.
  void count(std::span<const double> parameters, std::size_t k, const double* numbers, int threads,
             std::span<double> statistics) const;
  [[nodiscard]] const std::string& component_name(std::size_t component) const { return names_[component]; }

 private:
  /// Splits cells into ranges that do not depend on the number of threads, and calls run(range's number, range).
  template <class Run>
  void each_range(const likelihood::Cells& cells, int threads, const Run& run) const;
  [[nodiscard]] std::size_t range_size() const;
  void count(const likelihood::Prepared& prepared, const likelihood::Cells& cells, const double* counts, int threads,
             std::span<double> statistics) const;

  std::vector<std::size_t> factors_;
  std::vector<model::Measured> measured_;  // of each; the numbers themselves are in the cells
  likelihood::Components components_;
  likelihood::Sampled sample_;
  std::vector<std::vector<likelihood::Cells>> cells_;  // [block]: of each factor; one of all blocks
  std::size_t needed_ = 0;                             // numbers before the first M-step
  std::vector<double> start_;                          // empty: none was given
  std::vector<std::string> names_;                     // of components
};

}  // namespace plated::learn
