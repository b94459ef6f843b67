// Reads the plated format: JSON with plates, chains, variables, factors and evidence; docs/formats.md describes it.
#include <algorithm>
#include <set>

#include "graph/ends.hpp"
#include "graph/spell.hpp"
#include "io/array_values.hpp"
#include "io/json_evidence.hpp"
#include "io/json_fields.hpp"
#include "io/json_likelihood.hpp"
#include "io/readers.hpp"
#include "model/directed.hpp"
#include "model/learning.hpp"
#include "model/likelihoods.hpp"

namespace plated::io {
namespace {

class PlatedReader {
 public:
  PlatedReader(const Source& source, const ReadOptions& options)
      : source_(source), options_(options), document_(read_json(source)) {}

  Model read() {
    check_object(source_, document_, "a plated model",
                 {"format", "version", "name", "space", "plates", "chains", "batch", "variables", "factors", "outputs",
                  "evidence", "lengths", "measurements"});
    const Json& format = required(source_, document_, "format", "a plated model");
    if (as_string(source_, format, "'format'") != "plated") source_.fail(format.at, "'format' should be \"plated\"");
    const Json& version = required(source_, document_, "version", "a plated model");
    if (as_size(source_, version, "'version'") != 1) source_.fail(version.at, "only version 1 is known");
    model_.format = Format::plated;
    if (const Json* name = document_.find("name")) model_.name = as_string(source_, *name, "'name'");
    read_space();
    read_dims();
    read_factors();
    read_outputs();
    source_.blame(document_.at, [&] { model_.graph.validate(); });
    if (const Json* evidence = document_.find("evidence")) {
      Observations seen = evidence_of(model_, source_, *evidence, &options_);
      model_.evidence = std::move(seen.states);
      model_.lists = std::move(seen.lists);
    }
    if (const Json* lengths = document_.find("lengths")) model_.lengths = lengths_of(model_, source_, *lengths);
    for (const auto& [variable, states] : model_.evidence) model_.observed.insert(variable);
    for (const auto& [variable, rows] : model_.lists) model_.observed.insert(variable);
    source_.blame(document_.at, [&] {
      model::check_likelihoods(model_);
      model::check_learning(model_);
    });
    if (const Json* numbers = document_.find("measurements")) read_measurements(model_, source_, options_, *numbers);
    model_.directed = model::is_directed(model_);
    return std::move(model_);
  }

 private:
  void read_space() {
    const Json& space = required(source_, document_, "space", "a plated model");
    const std::string& spelled = as_string(source_, space, "'space'");
    if (spelled != "real" && spelled != "log") source_.fail(space.at, "'space' should be \"real\" or \"log\"");
    model_.space = spelled == "log" ? Space::log : Space::real;
  }

  /// The members of an optional object.
  const std::vector<JsonMember>& section(std::string_view key) const {
    static const std::vector<JsonMember> none;
    const Json* const found = document_.find(key);
    if (found == nullptr) return none;
    if (!found->is(Json::Kind::object)) source_.fail(found->at, shown(key) + " should be an object from names");
    return found->members;
  }

  void read_dims() {
    for (const auto& [name, size] : section("plates")) {
      const std::int64_t slices = as_size(source_, size, "the size of plate " + shown(name));
      source_.blame(size.at, [&, &name = name] { model_.graph.plate(name, slices); });
    }
    for (const auto& [name, chain] : section("chains")) {
      const std::string what = "chain " + shown(name);
      check_object(source_, chain, what, {"size", "links"});
      const std::int64_t slices = as_size(source_, required(source_, chain, "size", what), "the size of " + what);
      source_.blame(chain.at, [&, &name = name] { model_.graph.chain(name, slices); });
    }
    for (const auto& [name, size] : section("batch")) {
      const std::int64_t problems = as_size(source_, size, "the size of batch dim " + shown(name));
      source_.blame(size.at, [&, &name = name] { model_.graph.batch(name, problems); });
    }
    for (const auto& [name, variable] : section("variables")) read_variable(name, variable);
    for (const auto& [name, chain] : section("chains")) read_links(name, chain);
  }

  void read_variable(const std::string& name, const Json& value) {
    const std::string what = "variable " + shown(name);
    if (value.is(Json::Kind::number)) {
      const std::int64_t size = as_size(source_, value, "the size of " + what);
      source_.blame(value.at, [&] { model_.graph.variable(name, size); });
      return;
    }
    check_object(source_, value, what, {"size", "states", "plates", "observed", "label"});
    std::optional<std::int64_t> size;
    if (const Json* stated = value.find("size")) size = as_size(source_, *stated, "the size of " + what);
    if (const Json* states = value.find("states")) {
      std::vector<std::string> names = as_strings(source_, *states, "the states of " + what);
      const auto count = static_cast<std::int64_t>(names.size());
      if (size.value_or(count) != count) {
        source_.fail(states->at, what + " has the size " + std::to_string(*size) + " and names " +
                                     std::to_string(count) + " states");
      }
      if (std::set<std::string>(names.begin(), names.end()).size() != names.size()) {
        source_.fail(states->at, what + " has two states of one name");
      }
      size = count;
      model_.states.emplace(name, std::move(names));
    }
    if (!size) source_.fail(value.at, what + " lacks 'size' or 'states'");
    if (const Json* label = value.find("label")) {
      model_.labels.emplace(name, as_string(source_, *label, "the label of " + what));
    }
    if (const Json* observed = value.find("observed");
        observed != nullptr && as_boolean(source_, *observed, "'observed'")) {
      model_.observed.insert(name);
    }
    const Json* const plates = value.find("plates");
    const std::vector<std::string> stated =
        plates == nullptr ? std::vector<std::string>{} : as_strings(source_, *plates, "the plates of " + what);
    source_.blame(value.at, [&] {
      if (plates == nullptr) {
        model_.graph.variable(name, *size);
      } else {
        model_.graph.variable(name, *size, stated);
      }
    });
  }

  void read_links(const std::string& chain, const Json& value) {
    const std::string what = "the links of chain " + shown(chain);
    const Json& links = required(source_, value, "links", "chain " + shown(chain));
    if (!links.is(Json::Kind::array) || (links.packed && links.size() > 0)) {
      source_.fail(links.at, what + " should be a list of pairs, [\"a\", \"b\"]");
    }
    for (const Json& link : links.items) {
      const std::vector<std::string> pair = as_strings(source_, link, what);
      if (pair.size() != 2) source_.fail(link.at, what + " should be pairs, [\"a\", \"b\"]");
      source_.blame(link.at, [&] { model_.graph.link(chain, pair[0], pair[1]); });
    }
  }

  void read_factors() {
    const Json& factors = required(source_, document_, "factors", "a plated model");
    if (!factors.is(Json::Kind::array) || (factors.packed && factors.size() > 0)) {
      source_.fail(factors.at, "'factors' should be a list of objects");
    }
    std::set<std::string, std::less<>> names;  // that the file gives: factors without one avoid them
    for (const Json& factor : factors.items) {
      const Json* const name = factor.is(Json::Kind::object) ? factor.find("name") : nullptr;
      if (name != nullptr && name->is(Json::Kind::string)) names.insert(name->string);
    }
    for (const Json& factor : factors.items) read_factor(factor, names);
  }

  void read_factor(const Json& value, std::set<std::string, std::less<>>& names) {
    const std::string number = graph::numbered_factor(model_.factors.size());
    check_object(
        source_, value, "factor " + number,
        {"name", "dims", "tied", "distribution_of", "values", "dtype", "learn", "prior", "same_as", "likelihood"});
    model::NewFactor factor;
    if (const Json* name = value.find("name")) factor.name = as_string(source_, *name, "the name of factor " + number);
    for (std::size_t k = model_.factors.size(); factor.name.empty(); ++k) {
      if (names.insert(graph::numbered_factor(k)).second) factor.name = graph::numbered_factor(k);
    }
    const std::string what = "factor " + shown(factor.name);
    factor.dims = as_strings(source_, required(source_, value, "dims", what), "the dims of " + what);
    if (const Json* tied = value.find("tied")) factor.tied = as_strings(source_, *tied, "the tied dims of " + what);
    if (const Json* child = value.find("distribution_of"))
      factor.child = as_string(source_, *child, "the child of " + what);
    Tensor::Shape shape;
    for (const std::string& dim : factor.dims) {
      const auto found = model_.graph.find(graph::split_end(dim).variable);
      if (!found) source_.fail(value.at, what + " has the dim " + shown(dim) + ", which nothing declares");
      shape.push_back(model_.graph.dims()[*found].size);
    }
    const bool learnt = read_learning(value, factor.name, shape, what);
    const Json* const values = value.find("values");
    if (const Json* const likelihood = value.find("likelihood")) {
      if (values != nullptr) source_.fail(values->at, what + " is a likelihood: it has parameters, and no values");
      model_.likelihoods.emplace(factor.name, read_likelihood(source_, options_, *likelihood, shape, what, allocated_));
      factor.numbers = model::neutral_numbers(shape, model_.space);
    } else if (values == nullptr && learnt && !factor.child.empty()) {
      factor.numbers = unknown_numbers(value, factor, shape, what);
    } else {
      const Json& given = required(source_, value, "values", what);
      factor.numbers = source_.blame(given.at, [&] {
        return ArrayReader(source_, options_, model_.space, allocated_).read(given, shape, value.find("dtype"), what);
      });
    }
    // Numbers that are not to be read now are not summed now either.
    const bool unread = values != nullptr && values->is(Json::Kind::object) && !options_.check_arrays;
    const std::int64_t most = unread ? -1 : std::int64_t{1} << 62;
    source_.blame(value.at, [&] { model::add_factor(model_, std::move(factor), most); });
  }

  /// What is said about learning a factor; whether it is to be learnt.
  bool read_learning(const Json& value, const std::string& name, const Tensor::Shape& shape, const std::string& what) {
    Learning learning;
    if (const Json* learn = value.find("learn")) learning.learn = as_boolean(source_, *learn, "'learn' of " + what);
    if (const Json* same = value.find("same_as")) learning.same_as = as_string(source_, *same, "'same_as' of " + what);
    if (const Json* prior = value.find("prior")) {
      const Tensor::Shape& own = prior->is(Json::Kind::number) ? Tensor::Shape{} : shape;
      learning.prior = source_.blame(prior->at, [&] {
        return ArrayReader(source_, options_, Space::real, allocated_)
            .read(*prior, own, nullptr, "the prior of " + what);
      });
    }
    const bool said = learning.learn || !learning.same_as.empty() || learning.prior.data() != nullptr;
    if (said) model_.learning.emplace(name, learning);
    return learning.learn;
  }

  /// The numbers of a factor that is to be learnt and has none.
  Tensor unknown_numbers(const Json& value, const model::NewFactor& factor, const Tensor::Shape& shape,
                         const std::string& what) {
    const auto axis = std::find(factor.dims.begin(), factor.dims.end(), factor.child) - factor.dims.begin();
    if (axis == std::ssize(factor.dims)) {
      source_.fail(value.at, what + " is a distribution of " + shown(factor.child) + ", which is not among its dims");
    }
    model_.learning.at(factor.name).started = false;
    return model::uniform_start(shape, shape[static_cast<std::size_t>(axis)], model_.space);
  }

  void read_outputs() {
    const Json* const outputs = document_.find("outputs");
    if (outputs == nullptr) {
      model_.graph.output({});
      return;
    }
    if (!outputs->is(Json::Kind::array) || (outputs->packed && outputs->size() > 0)) {
      source_.fail(outputs->at, "'outputs' should be a list of lists of dims");
    }
    for (const Json& output : outputs->items) {
      const std::vector<std::string> dims = as_strings(source_, output, "an output's dims");
      source_.blame(output.at, [&] { model_.graph.output(dims); });
    }
  }

  const Source& source_;
  const ReadOptions& options_;
  Json document_;
  Model model_;
  std::int64_t allocated_ = 0;  // bytes that arrays in files were unpacked to
};

}  // namespace

Model read_plated(const Source& source, const ReadOptions& options) { return PlatedReader(source, options).read(); }

}  // namespace plated::io
