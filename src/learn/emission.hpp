// Likelihoods of observed numbers that are learnt: the parameters of one factor or of several that share them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "learn/learnt.hpp"
#include "likelihood/starts.hpp"
#include "model/measured.hpp"

namespace plated::learn {

class Emission final : public Learnt {
 public:
  /// Of a model with its data. The first factor's parameters are the start. Throws OptionError where a factor has no
  /// data, and ValueError for numbers without a density.
  Emission(const Model& model, std::vector<std::size_t> factors);

  [[nodiscard]] std::size_t size() const override { return components_.size(); }
  [[nodiscard]] std::int64_t free() const override { return static_cast<std::int64_t>(components_.free()); }
  void start(std::span<double> parameters, base::Random& random) const override;
  void draw(std::span<double> parameters, base::Random& random) const override;
  [[nodiscard]] bool started() const override { return !start_.empty(); }
  void even(std::span<double> parameters, base::Random& random) const override { draw(parameters, random); }
  void centre(const Operands& /*operands*/) override {}  // draws are from the numbers already
  [[nodiscard]] double log_prior(std::span<const double> /*parameters*/) const override { return 0; }
  void write(std::span<const double> parameters, const Operands& operands) const override;
  void maximise(std::span<double> parameters, const Operands& operands) const override;
  void restrain(std::span<double> parameters, std::span<const double> step) const override;
  void store(std::span<const double> parameters, Model& model) const override;

 private:
  std::vector<std::size_t> factors_;
  std::vector<model::Measured> measured_;  // of each; the numbers themselves are in the cells
  likelihood::Components components_;
  likelihood::Sampled sample_;
  std::vector<likelihood::Cells> cells_;  // of each
  std::vector<double> start_;             // empty: none was given
  std::vector<std::string> names_;        // of components
};

}  // namespace plated::learn
