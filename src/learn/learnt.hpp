// A part of a model that is learnt, as EM sees it: a few numbers, where they start, and how counts change them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "plated/model.hpp"

namespace plated::learn {

class Curved;

/// The numbers of one restart, for each factor of the model.
struct Operands {
  std::span<double* const> logs;          ///< what runs read: logarithms, in the shapes of the planned graph
  std::span<const double* const> counts;  ///< the expected counts of the last run, likewise
  std::size_t block = 0;                  ///< of data that are read in batches: which of them these are
};

/// Its parameters are a stretch of those of the whole model, which the caller holds.
class Learnt {
 public:
  Learnt() = default;
  Learnt(const Learnt&) = delete;
  Learnt& operator=(const Learnt&) = delete;
  virtual ~Learnt() = default;

  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Those that are free.
  [[nodiscard]] virtual std::int64_t free() const = 0;
  /// The model's own numbers; random ones where it has none.
  virtual void start(std::span<double> parameters, base::Random& random) const = 0;
  virtual void draw(std::span<double> parameters, base::Random& random) const = 0;
  /// Whether the model has numbers of its own for it.
  [[nodiscard]] virtual bool started() const = 0;
  /// Parameters under which counts say what was observed, and nothing else: see centre().
  virtual void even(std::span<double> parameters, base::Random& random) const = 0;
  /// Lets draw() scatter around what was observed, by statistics under even parameters.
  virtual void centre(std::span<const double> statistics) = 0;
  /// The logarithm of the prior, without constants.
  [[nodiscard]] virtual double log_prior(std::span<const double> parameters) const = 0;
  /// The factors' operands under the parameters.
  virtual void write(std::span<const double> parameters, const Operands& operands) const = 0;
  /// How many numbers an M-step needs to know of the data: they are sums over slices.
  [[nodiscard]] virtual std::size_t statistics() const = 0;
  /// Adds them, of counts under the parameters.
  virtual void count(std::span<const double> parameters, const Operands& operands,
                     std::span<double> statistics) const = 0;
  /// The M-step: the best parameters for statistics under those that come in. What it has to say goes to the notes, one
  /// line each.
  virtual void maximise(std::span<double> parameters, std::span<const double> statistics,
                        std::vector<std::string>& notes) const = 0;
  /// Turns statistics under parameters into those of the same counts under others.
  virtual void recentre(std::span<const double> from, std::span<const double> to,
                        std::span<double> statistics) const = 0;
  /// How many numbers a block of the data has, and how many are to be seen before the first M-step: parameters of a few
  /// numbers could be those of no others.
  [[nodiscard]] virtual std::size_t numbers(std::size_t block) const = 0;
  [[nodiscard]] virtual std::size_t numbers_needed() const = 0;
  /// Moves extrapolated parameters towards those of a step until they are possible.
  virtual void restrain(std::span<double> parameters, std::span<const double> step) const = 0;
  /// What standard errors need, at parameters and counts under them. All outlive it.
  [[nodiscard]] virtual std::unique_ptr<Curved> curved(const Model& model, std::span<const double> parameters,
                                                       const Operands& operands) const = 0;
  /// Puts the parameters into the model.
  virtual void store(std::span<const double> parameters, Model& model) const = 0;
};

}  // namespace plated::learn
