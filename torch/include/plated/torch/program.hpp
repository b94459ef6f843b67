// Probabilistic programs: sample, plate, observe and markov make a plated factor graph, which is summed exactly.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plated/evaluation.hpp"
#include "plated/model.hpp"
#include "plated/plan.hpp"
#include "plated/sample.hpp"
#include "plated/torch/distributions.hpp"
#include "plated/torch/value.hpp"

namespace plated::torch {

/// Further properties of a plate.
struct PlateOptions {
  /// The slices to take of a subsampled plate. What they contribute is multiplied by size / their number, outside of
  /// all sums over variables of the plate.
  at::Tensor batch = {};
  /// How many slices exist, by the plates around it. Entries beyond are never read.
  std::vector<Value> lengths = {};
};

/// Further properties of a site that is observed.
struct ObserveOptions {
  /// Entries that are false are not observed.
  std::vector<Value> mask = {};
};

/// The best assignment: its score log p(assignment, observations), and the states of every variable.
struct MapAssignment {
  at::Tensor score;
  std::map<std::string, at::Tensor> states;
};

/// A probabilistic program ([TVE] Sec. 5.1): running it once enumerates the states of its discrete variables along axes
/// with names, and every site becomes a factor of a plated factor graph.
///
///   Program model;
///   Value x = model.sample("x", Bernoulli(px));
///   Plate I = model.plate("I", z.size(0)), J = model.plate("J", z.size(1));
///   Value y = model.sample("y", Bernoulli(py), {I});
///   model.observe("z", Bernoulli(pz[{x, y}]), z, {I, J});
///   (-model.log_likelihood()).backward();
///
/// A model is a function that makes a Program of parameters and data, and is called in each step of training; plans are
/// kept between the calls. Axes of answers: plates in the order of declaration, then chains, then states. A Program is
/// not to be used by two threads at once.
class Program {
 public:
  Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  /// A plate of independent slices. Throws DuplicateNameError and SizeError.
  Plate plate(const std::string& name, std::int64_t size, const PlateOptions& options = {});
  /// A chain of slices for markov(): time steps, words.
  Plate chain(const std::string& name, std::int64_t size, const PlateOptions& options = {});

  /// Sites that are run while the result lives are in these plates, besides those that they list.
  class Scope {
   public:
    Scope(Program& program, const std::vector<Plate>& plates);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    Program& program_;
    std::size_t count_;
  };
  [[nodiscard]] Scope within(const std::vector<Plate>& plates) { return {*this, plates}; }

  /// A discrete variable that is summed over, in the plates of the scopes around it and in those listed. Throws
  /// OptionError for a continuous distribution, PlateError for a parameter outside of its plate, DuplicateNameError.
  Value sample(const std::string& name, const Distribution& distribution, const std::vector<Plate>& plates = {});

  /// Observed data: a tensor with an axis for each plate around the site, outermost first, then those listed; or a
  /// value, by name. Missing are NaN, and negative integers of discrete distributions. Returns the data as a value.
  Value observe(const std::string& name, const Distribution& distribution, const at::Tensor& data,
                const std::vector<Plate>& plates = {}, const ObserveOptions& options = {});
  Value observe(const std::string& name, const Distribution& distribution, const Value& data,
                const std::vector<Plate>& plates = {}, const ObserveOptions& options = {});

  /// Takes the states before a slice and returns those after it; it is run once, for all slices.
  using Body = std::function<std::vector<Value>(const std::vector<Value>&)>;
  /// Sites of `body` repeat along a chain: the states that it returns are those that it is given in the next slice.
  /// `before` are sampled variables, the states before the first slice; the result has those after the last one.
  /// History of order 2 is `return {before[1], x};`. Throws PlateError and SizeError where states do not fit.
  ///
  ///   Value start = model.sample("start", Categorical(initial));
  ///   model.markov(model.chain("t", y.size(0)), {start}, [&](const std::vector<Value>& before) {
  ///     Value x = model.sample("x", Categorical(transition[before[0]]));
  ///     model.observe("y", Normal(mean[x], 1), y);
  ///     return std::vector{x};
  ///   });
  std::vector<Value> markov(const Plate& chain, const std::vector<Value>& before, const Body& body);

  /// Gives states of a sampled variable, by its plates as answers have them; negative ones stay unknown. Throws
  /// UnknownNameError, and SizeError for other shapes.
  void condition(const std::string& name, const at::Tensor& states);
  /// Gives states of many variables, such as those of map(): with all of them log_likelihood() is log p(states, data).
  void replay(const std::map<std::string, at::Tensor>& states);

  /// log p(observations), summed over all variables; autograd differentiates it, twice.
  [[nodiscard]] at::Tensor log_likelihood(const RunOptions& options = {}) const;
  /// The posterior of every sampled variable: probabilities of its states, in every slice. Not differentiated, as are
  /// the following.
  [[nodiscard]] std::map<std::string, at::Tensor> marginals(const RunOptions& options = {}) const;
  /// The jointly most probable states of all variables (`infer_discrete`).
  [[nodiscard]] MapAssignment map(const RunOptions& options = {}) const;
  /// Joint samples of the posterior; the first axis are the samples.
  [[nodiscard]] std::map<std::string, at::Tensor> posterior_samples(const SampleOptions& draws,
                                                                    const RunOptions& options = {}) const;

  /// For every sampled variable, slice and state, the score of the best assignment of everything that has that state.
  [[nodiscard]] std::map<std::string, at::Tensor> max_marginals(const RunOptions& options = {}) const;
  /// The entropy of the joint posterior of all variables, in nats.
  [[nodiscard]] at::Tensor entropy(const RunOptions& options = {}) const;
  /// The posterior expectation of a function of values, added up over all slices of the plates that it is in.
  ///
  ///   model.expectation(x)              // of a Bernoulli in plate I: how many of its slices are 1
  ///   model.expectation(costs[{x, y}])
  ///
  /// Throws RankError for a value with axes without names, and IntractableError where a function of these values
  /// together cannot be summed.
  [[nodiscard]] at::Tensor expectation(const Value& statistic, const RunOptions& options = {}) const;
  /// For each slice of a plate log p(what is observed in it | all other slices); of a chain, the named sites of each
  /// slice are left out. See plated::leave_one_out.
  [[nodiscard]] at::Tensor leave_one_out(const std::string& plate, const RunOptions& options = {},
                                         const std::vector<std::string>& sites = {}) const;
  /// A forward run that is kept, for many questions in the names of graph(); it shares the program's numbers.
  [[nodiscard]] Evaluation evaluate(const RunOptions& options = {}) const;

  /// Joint draws of the prior: of every sampled variable, then of every observed site given them, in place of its data.
  /// The first axis are the draws; the others of a site are those of its data. Entries beyond lengths are −1, or NaN.
  /// What the program computes from data, such as a value that was observed and that later sites depend on, stays as it
  /// is, and so do states that condition() gives. Throws OptionError for a distribution that cannot be drawn from.
  [[nodiscard]] std::map<std::string, at::Tensor> simulate(const SampleOptions& draws,
                                                           const RunOptions& options = {}) const;
  /// The same of the posterior: variables as posterior_samples() gives them, and new data given these. The states of
  /// what is missing in the data are predicted by it, too.
  [[nodiscard]] std::map<std::string, at::Tensor> posterior_predictive(const SampleOptions& draws,
                                                                       const RunOptions& options = {}) const;

  /// The program as a model: its graph with the numbers, the observed states and the lengths of this call; what is
  /// observed of numbers without states is a factor. Scales of subsampled plates are not part of it: weights() are, as
  /// Data::weights takes them. The numbers' memory is shared.
  [[nodiscard]] Model model() const;
  [[nodiscard]] Weights weights() const;
  /// The graph that the program has made, without its numbers.
  [[nodiscard]] FactorGraph graph() const;
  /// The same with every observed site as a variable, and the names of these: draw_svg(graph, {.observed = …,
  /// .directed = true}) draws the program.
  [[nodiscard]] std::pair<FactorGraph, std::vector<std::string>> picture() const;
  /// The sites in the words of the program, and the plan that sums them.
  [[nodiscard]] std::string explain() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plated::torch
