// Models: a factor graph together with the numbers of its factors, as model files hold them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plated/evidence.hpp"
#include "plated/factor_graph.hpp"
#include "plated/likelihood.hpp"
#include "plated/long.hpp"
#include "plated/tensor.hpp"

namespace plated {

/// Whether a model's numbers are weights or their natural logarithms.
enum class Space : std::uint8_t { real, log };

/// The formats of model files; see docs/formats.md.
enum class Format : std::uint8_t { uai, bif, plated };

/// "uai", "bif", "plated".
[[nodiscard]] std::string_view name(Format format);

/// How fit() learns a factor that is a distribution.
struct Learning {
  bool learn = false;        ///< it is learnt where FitOptions::learn names no factors
  std::string same_as = {};  ///< the factor whose numbers it shares; empty: it has its own
  /// Pseudo-counts that are added to what is counted (a Dirichlet prior of as many more than one): one for all entries,
  /// or one for each in the factor's shape. No data: none but FitOptions::pseudo_count.
  Tensor prior = {};
  /// Its numbers are where learning starts; else nothing is known of them, and it starts from random ones.
  bool started = true;
};

/// A graph and its numbers. The graph of a file has the total as its only output, unless the file names others.
///
///   Model model = in_space(read_model("asia.bif"), Space::log);
///   double ln_z = compile(model.graph).run(model.factors)[0].item();
struct Model {
  std::string name = {};             ///< the name in the file
  Format format = Format::plated;    ///< the format it was read from
  FactorGraph graph = {};            ///< variables in the file's order; those of UAI are v0, v1, …
  std::vector<Tensor> factors = {};  ///< the operands of graph.factors(), in order
  Space space = Space::real;         ///< of their numbers: UAI and BIF files hold weights
  /// For each factor the variable that it is a distribution of according to the file; empty for none. In the graph,
  /// only those whose sums are one to 2e-6 are distributions, and they are trusted.
  std::vector<std::string> children = {};
  /// Every variable has one factor that is its distribution given its parents, and no variable is its own ancestor.
  bool directed = false;
  /// The names of a variable's states; those of a variable that is not listed are numbers.
  std::map<std::string, std::vector<std::string>, std::less<>> states = {};
  /// The names in the file of variables whose names no equation could spell.
  std::map<std::string, std::string, std::less<>> labels = {};
  /// Variables that the file says are observed; all that have evidence are.
  std::set<std::string, std::less<>> observed = {};
  Evidence evidence = {};
  /// Evidence in rows, of variables that only their own distribution holds: a verb on models multiplies the rows that
  /// are about one slice of their parents' plates into a factor of the parents, in log space.
  Lists lists = {};
  Lengths lengths = {};
  /// What fit() should know of factors, by their names; factors that are not listed are not learnt by themselves.
  std::map<std::string, Learning, std::less<>> learning = {};
  /// Factors that are likelihoods of observed numbers, by their names. Their entries of `factors` are ones: what
  /// is not observed says nothing.
  std::map<std::string, Likelihood, std::less<>> likelihoods = {};
  /// The numbers that were observed; verbs on models put log-probabilities of them in the place of the ones.
  Measurements measurements = {};
  /// Notes for people, one line each: distributions that do not sum to one, variables without factors.
  std::vector<std::string> notes = {};
};

/// What a model has besides its graph and its numbers; see Model.
struct ModelOptions {
  Space space = Space::log;  ///< of the numbers
  std::string name = {};
  std::map<std::string, std::vector<std::string>, std::less<>> states = {};
  std::map<std::string, std::string, std::less<>> labels = {};
  std::set<std::string, std::less<>> observed = {};
  Evidence evidence = {};
  Lists lists = {};
  Lengths lengths = {};
  std::map<std::string, Learning, std::less<>> learning = {};
  std::map<std::string, Likelihood, std::less<>> likelihoods = {};
  Measurements measurements = {};
};

/// A model from a graph and the numbers of each of its factors, by name. Those that are distributions in the graph must
/// sum to one, to 2e-6, and are then trusted. Distributions that are to be learnt may have no numbers yet, and
/// likelihoods have none.
///
///   Model model = make_model(graph, {{"prior", prior}, {"likelihood", likelihood}});
///
/// Throws UnknownNameError for names that the graph lacks, OperandCountError for a factor without numbers, ShapeError
/// for numbers, states or evidence of another shape than the graph says, ValueError for NaN, negative weights and
/// distributions that do not sum to one, DuplicateNameError for two states of one name, and what FactorGraph::validate
/// throws.
[[nodiscard]] Model make_model(FactorGraph graph, const std::map<std::string, Tensor>& factors,
                               ModelOptions options = {});

/// The variables of a model in the file's order, without the ends of chains.
[[nodiscard]] std::vector<std::string> variables(const Model& model);
/// What the numbers of its likelihoods are called, each once.
[[nodiscard]] std::vector<std::string> measured_names(const Model& model);
/// How a variable and one of its states are shown to people: as the file names them.
[[nodiscard]] std::string label(const Model& model, std::string_view variable);
[[nodiscard]] std::string state_label(const Model& model, std::string_view variable, std::int64_t state);
/// The variable that the graph or the file calls so, if any.
[[nodiscard]] std::optional<DimId> find_variable(const Model& model, std::string_view name);
/// The state of a variable that a name or, where no state is called so, a number says. Throws UnknownNameError, which
/// lists the states that there are.
[[nodiscard]] std::int64_t state_named(const Model& model, std::string_view variable, std::string_view state);

/// The same model with its numbers as weights or as natural logarithms, −inf for 0; shares memory where nothing
/// changes. Throws ValueError for a negative weight, and for a logarithm whose weight would overflow.
[[nodiscard]] Model in_space(Model model, Space space);

/// The same model without plates and chains: FactorGraph::unroll with the slices of numbers, states and evidence.
/// Copies of a learnt factor that has no axis for a plate share their numbers (Learning::same_as). Throws OptionError
/// for a model with ragged chains, whose slices the graph does not know, and what FactorGraph::unroll throws.
[[nodiscard]] Model unroll(const Model& model);

/// Adds to the evidence: `rain=yes` or `rain=1`, in plates `sensor[3]=0`, one index a plate in declaration order. Names
/// of variables and states are the file's or the graph's. What was known of that slice before is forgotten. Returns the
/// slice by the graph's name, `rain` or `sensor[3]`. Throws UnknownNameError, ParseError and SizeError.
std::string observe(Model& model, std::string_view assignment);
/// The same of all slices of variables: what was known of these variables before is forgotten. Throws UnknownNameError,
/// ShapeError, and ValueError for a state that does not exist.
void observe(Model& model, const Evidence& evidence);
/// The same in rows, of a variable that only its own distribution holds; see Model::lists. The arrays that the list
/// views must outlive the model. Throws UnknownNameError, ShapeError, ValueError for slices and states that do not
/// exist, and OptionError where another factor holds the variable.
void observe(Model& model, std::string_view variable, const Long& list);
/// Observed numbers of likelihoods in place of those known before. Throws UnknownNameError, ShapeError, and ValueError
/// for a number that a likelihood gives no density to.
void measure(Model& model, const Measurements& measurements);

}  // namespace plated
