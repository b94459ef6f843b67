// What a program has said: its dims, sites and links, and the factor graph of them. Knows no numbers.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plated/factor_graph.hpp"
#include "plated/plan.hpp"
#include "plated/torch/dims.hpp"

namespace plated::torch {

using Dims = std::vector<DimPointer>;

/// "'x', 'y'": names for a message.
[[nodiscard]] std::string quoted(const Dims& dims);

/// A sample or observe statement that has been run.
struct Site {
  std::string name;
  std::string distribution;  // "Normal"
  Dims axes;                 // of its table
  Dims plates;               // the plates and chains that it lies in
  DimPointer variable;       // whose distribution it is; null where it observes numbers
  bool observed = false;
};

class Trace {
 public:
  /// Declare dims. Throws DuplicateNameError for a name that is taken.
  DimPointer add_plate(std::string name, DimKind kind, std::int64_t size, double scale);
  DimPointer add_variable(std::string name, std::int64_t states, const Dims& plates);

  /// The plates of the scopes that are open, and those of a site. Throws DuplicateNameError where one is there twice.
  [[nodiscard]] Dims plates_of(const std::string& site, const Dims& listed) const;
  /// Throws PlateError where a site in these plates cannot use a value with this axis.
  static void check_axis(const std::string& site, const Dims& plates, const DimPointer& axis);
  void add_site(Site site);

  void enter(const DimPointer& plate) { scopes_.push_back(plate); }
  void leave() { scopes_.pop_back(); }
  [[nodiscard]] const Dims& scopes() const { return scopes_; }

  /// Begins a chain at a state outside of it, which becomes the first of the states that the result stands for.
  DimPointer begin(const DimPointer& chain, const DimPointer& state);
  /// Ends a chain: the state that follows `before` is `after`. The result is the last of them, outside of the chain.
  DimPointer end(const DimPointer& chain, const DimPointer& before, const DimPointer& after);

  [[nodiscard]] const std::vector<Site>& sites() const { return sites_; }
  [[nodiscard]] const std::vector<std::shared_ptr<Dim>>& dims() const { return dims_; }
  /// Finds a variable that was sampled. Throws UnknownNameError, which lists those that there are.
  [[nodiscard]] DimPointer variable(const std::string& name) const;

  /// Whether subsampled plates are batch dims, which they have to be beside chains.
  [[nodiscard]] bool scales_batches() const;
  /// The given dims in the order of answers and evidence: batch dims, plates, chains.
  [[nodiscard]] Dims in_order(const Dims& plates) const;

  /// The same program before anything is observed.
  [[nodiscard]] Trace without_observations() const;

  [[nodiscard]] FactorGraph graph() const;
  /// The graph with every observation as a variable, and their names.
  [[nodiscard]] std::pair<FactorGraph, std::vector<std::string>> picture() const;
  /// The plan of the graph; one of the plans made before where only sizes of plates and chains differ.
  [[nodiscard]] Plan plan(const std::vector<std::string>& observable) const;

 private:
  struct Linked {
    DimPointer chain, before, after;
  };
  std::shared_ptr<Dim> add(Dim dim);
  [[nodiscard]] std::string key(const std::vector<std::string>& observable) const;
  void declare(FactorGraph& graph) const;

  std::vector<std::shared_ptr<Dim>> dims_;  // in the order of declaration
  std::vector<Site> sites_;
  std::vector<Linked> links_;
  Dims scopes_;
};

}  // namespace plated::torch
