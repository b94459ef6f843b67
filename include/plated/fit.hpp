// Learns the distributions of a model from data, by exact EM, and scores models on data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plated/evidence.hpp"
#include "plated/likelihood.hpp"
#include "plated/long.hpp"
#include "plated/model.hpp"
#include "plated/tensor.hpp"

namespace plated {

/// What was observed, besides the evidence of the model itself; what it says of a variable or a chain counts alone.
struct Data {
  /// By variable, in its graph's or its file's name: states from 0, −1 for what is missing. Plates and chains that no
  /// factor has an axis for get as many slices as the data have.
  Evidence states = {};
  /// Numbers of likelihoods by name, NaN for what is missing; shaped as states are.
  Measurements measurements = {};
  Lengths lengths = {};
  /// How many copies the slices of a plate stand for: one number for each slice, or a single one for all.
  Weights weights = {};
  /// By variable, in place of `states`: observations as lists of rows, of which most slices may have none.
  Lists lists = {};
};

/// Where a fit has come to.
struct FitProgress {
  std::int64_t states = 0;     ///< of the variable that FitOptions::vary names; 0: none
  int fold = -1;               ///< of a cross-validation, from 0; −1: all data are fitted
  int restart = 0;             ///< from 0
  std::int64_t iteration = 0;  ///< E-steps that this restart has done
  double objective = 0;        ///< ln L, and the logarithm of the prior where there is one
};

/// How a model is learnt.
struct FitOptions {
  /// Factors by name; those with the same numbers follow. Empty: those that the model says are learnt or, where it says
  /// of none, all that are distributions.
  std::vector<std::string> learn = {};
  /// The first starts from the model's own numbers, the others from random ones. The best is kept.
  int restarts = 1;
  /// The most E- and M-steps of each restart.
  std::int64_t iterations = 500;
  /// A restart ends where an iteration gains less than this share of the objective (of 1, if that is larger).
  double tolerance = 1e-9;
  /// Extrapolates pairs of steps (SQUAREM), and falls back to the step itself where that would lose anything.
  bool accelerate = true;
  /// Added to all counts of factors that have no prior of their own, but not where the model's number is zero.
  double pseudo_count = 0;
  /// A plate and how many of its slices are a batch: an M-step follows each batch, of counts that are averaged over the
  /// batches so far (stepwise EM). `iterations` are then passes over the data; batches come in a random order. Empty:
  /// an M-step follows all data.
  std::map<std::string, std::int64_t> batch = {};
  /// Of the random starts, of folds and of the order of batches.
  std::uint64_t seed = 0;
  /// Data that are not learnt from, to score the fitted model on: Fit::held_out.
  std::optional<Data> held_out = {};
  /// A plate and a number of folds: its slices are dealt to so many folds at random, and for each of these the model is
  /// fitted once more, from the same starts, to the slices of all others: Fit::folds.
  std::map<std::string, int> cross_validate = {};
  /// A latent variable and numbers of states: the model is fitted with each of them, and the best by BIC is the fit;
  /// Fit::varied has a row for each. Factors that hold the variable, or one that a chain links it to, start from random
  /// numbers, unless the number of states is the model's own.
  std::map<std::string, std::vector<std::int64_t>> vary = {};
  /// Whether standard errors of what is learnt are wanted: Fit::standard_errors. They take as many sweeps as there are
  /// free parameters, and memory for the square of their number.
  bool standard_errors = false;
  /// Threads to use; 0 is all the machine has. Restarts run side by side. The bits of the result do not depend on it.
  int threads = 0;
  /// Bytes that each run of the model may take; 0 is no limit.
  std::int64_t memory_limit = 0;
  /// Asked every few milliseconds on the caller's thread; true ends the fit with what it has: Fit::interrupted. Where
  /// it has nothing yet, CancelledError.
  std::function<bool()> cancelled = {};
  /// Told after E-steps, on the caller's thread.
  std::function<void(const FitProgress&)> progress = {};
};

/// How one restart went.
struct Restart {
  double objective = 0;         ///< of its last numbers
  std::int64_t iterations = 0;  ///< E-steps it took
  bool converged = false;       ///< it ended before its iterations ran out
};

/// How a model that is fitted to all slices of a plate but some predicts these.
struct Fold {
  std::vector<std::int64_t> slices;  ///< that were held out
  double log_likelihood = 0;         ///< ln p of what is observed in them, given all other slices
  double cells = 0;                  ///< observed ones among them
  std::int64_t iterations = 0;       ///< E-steps of the best restart
  bool converged = false;
};

/// How good a model with so many states of a latent variable is.
struct Varied {
  std::int64_t states = 0;
  double log_likelihood = 0;
  std::int64_t parameters = 0;
  double aic = 0;
  double bic = 0;
  std::optional<double> held_out = {};         ///< as of Fit
  std::optional<double> cross_validated = {};  ///< as of Fit
  bool converged = false;
};

/// A fitted model and how good it is.
struct Fit {
  Model model;                ///< in its own space, order and dtypes, with the numbers after the last M-step
  double log_likelihood = 0;  ///< ln L of the data under these numbers
  double objective = 0;       ///< with the logarithm of the prior
  /// The objective of the best restart's numbers: the first is that of its start, the last that of the result. It
  /// never falls beyond rounding.
  std::vector<double> history;
  std::vector<Restart> restarts;  ///< all of them, in order
  std::size_t best = 0;           ///< the one that was kept
  bool converged = false;
  bool interrupted = false;     ///< cancelled: not all that was asked for was done
  std::int64_t parameters = 0;  ///< free ones: entries of learnt rows that are not zero by structure, less one each;
                                ///< parameters of likelihoods
  /// Slices of the plates and chains that all observed variables share and no learnt factor has axes for.
  double observations = 0;
  double aic = 0;
  double bic = 0;  ///< with the number of observations
  /// For each learnt factor, by name and in its shape, the standard errors of its probabilities: the square roots of
  /// the diagonal of the inverse of the observed information, the negative Hessian of the objective in the entries of
  /// rows that sum to one. Zero for zeros; infinite for what the data do not determine, and `notes` say what and why.
  std::map<std::string, Tensor> standard_errors = {};
  /// The same of likelihoods, by factor and by parameter, in the parameters' own shapes and units.
  std::map<std::string, std::map<std::string, Tensor>> likelihood_errors = {};
  /// ln L of FitOptions::held_out under the fitted model.
  std::optional<double> held_out = {};
  std::vector<Fold> folds = {};  ///< of FitOptions::cross_validate
  /// The sum of ln p over all folds; none where a cross-validation was not asked for, or interrupted.
  std::optional<double> cross_validated = {};
  std::vector<Varied> varied = {};  ///< of FitOptions::vary, in its order; this is the fit of the least BIC
  /// For people, one line each: states that could be swapped, what is not determined, likelihoods that are degenerate
  /// or have no weight.
  std::vector<std::string> notes;
};

/// Learns factors that are distributions by exact EM in log space: one sweep forward and one backward in each iteration
/// count how often each entry is expected to occur, and rows are made of these counts. A cell that is missing counts
/// nothing where only its own distribution holds it. Rows that nothing reaches keep their start, and what is zero stays
/// zero. The parameters of likelihoods are those of greatest weighted likelihood.
///
///   Fit best = fit(model, {.states = {{"grade", grades}}}, {.restarts = 10});
///   write_model(best.model, "fitted.json");
///
/// Throws UnknownNameError and OptionError for factors that cannot be learnt (those that are no distribution),
/// ShapeError and ValueError for data that do not fit (states out of range, numbers that a likelihood gives no density,
/// variables all of whose cells are missing),
/// OptionError for a plate that cannot be cross-validated (a learnt factor has an axis for it) and for a variable that
/// cannot be varied (it has data or names of states, or a factor that holds it has zeros or is not learnt),
/// ImpossibleError where the model gives the data no probability whatever is learnt, and what compile() and runs throw.
[[nodiscard]] Fit fit(const Model& model, const Data& data = {}, const FitOptions& options = {});

/// How a model is run on data.
struct EvaluateOptions {
  /// A plate, or a chain with some of its factors, whose slices are scored one by one; empty: none.
  std::string plate = {};
  std::vector<std::string> factors = {};
  int threads = 0;
  std::int64_t memory_limit = 0;
  std::function<bool()> cancelled = {};
  std::function<void(double)> progress = {};
};

/// For each factor, by name and in its shape, how often each entry is expected to occur given the data: the gradient of
/// ln Z by the factor's logarithms. Cells that are missing count as in fit(). Throws as fit() does.
[[nodiscard]] std::map<std::string, Tensor> expected_counts(const Model& model, const Data& data = {},
                                                            const EvaluateOptions& options = {});

/// How well a model predicts data.
struct Score {
  double log_likelihood = 0;
  double cells = 0;  ///< that are observed: ln L for each of them is comparable between data of different sizes
  /// ln p of what is observed in each slice of EvaluateOptions::plate, given all other slices; without data where none
  /// was asked for. leave_one_out() says more.
  Tensor slices;
};

/// ln L of data under a model: of data that it was not fitted to, how good a model it is. Throws as fit() does.
[[nodiscard]] Score evaluate(const Model& model, const Data& data = {}, const EvaluateOptions& options = {});

}  // namespace plated
