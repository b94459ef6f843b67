// Reads BIF networks: variables with named states, and a table of probabilities for each given its parents.
#include <algorithm>
#include <unordered_map>

#include "base/checked_size.hpp"
#include "base/whole_integer.hpp"
#include "io/bif_table.hpp"
#include "io/bif_words.hpp"
#include "io/names.hpp"
#include "io/readers.hpp"
#include "model/directed.hpp"
#include "plated/error.hpp"

namespace plated::io {
namespace {

class BifReader {
 public:
  BifReader(const Source& source, const ReadOptions& options)
      : source_(source), words_(source), defaults_left_(options.most_defaults) {}

  Model read() {
    if (const std::size_t bad = not_utf8(source_.text()); bad != std::string_view::npos) {
      source_.fail(bad, "this is not UTF-8 text");
    }
    while (!words_.is(0)) read_block();
    if (variables_.empty()) source_.fail(0, "a BIF file has variables, and this one has none");
    refuse_cycles();
    return build();
  }

 private:
  void read_block() {
    const BifWord block = words_.expect('w', "a BIF file");
    if (block.text == "network") {
      if (words_.is('w')) name_ = words_.take().text;
      read_properties("the network");
    } else if (block.text == "variable") {
      read_variable();
    } else if (block.text == "probability") {
      read_probability(block.at);
    } else {
      source_.fail(block.at, "a BIF file has blocks 'network', 'variable' and 'probability', not " + shown(block.text));
    }
  }

  void read_properties(const std::string& where) {
    words_.expect('{', where);
    while (!words_.is('}')) words_.skip_past(';', where);
    words_.take();
  }

  void read_variable() {
    const BifWord name = words_.expect('w', "a variable's declaration");
    const std::string where = "variable " + shown(name.text);
    BifVariable variable{.name = name.text};
    words_.expect('{', where);
    while (!words_.is('}')) {
      if (!words_.is_word("type")) {
        words_.skip_past(';', where);
        continue;
      }
      const BifWord type = words_.take();
      if (!variable.states.empty()) source_.fail(type.at, where + " has two types");
      read_states(variable, where);
    }
    words_.take();
    if (variable.states.empty()) source_.fail(name.at, where + " has no type: 'type discrete [ 2 ] { yes, no };'");
    if (!by_name_.emplace(name.text, variables_.size()).second) source_.fail(name.at, where + " is declared twice");
    variables_.push_back(std::move(variable));
  }

  void read_states(BifVariable& variable, const std::string& where) {
    const BifWord type = words_.expect('w', where);
    if (type.text != "discrete") source_.fail(type.at, where + " is not discrete but " + shown(type.text));
    words_.expect('[', where);
    const BifWord count = words_.expect('w', where);
    words_.expect(']', where);
    words_.expect('{', where);
    while (words_.is('w')) {
      const BifWord state = words_.take();
      if (!variable.by_name.emplace(state.text, variable.states.size()).second) {
        source_.fail(state.at, where + " has the state " + shown(state.text) + " twice");
      }
      variable.states.push_back(state.text);
    }
    words_.expect('}', where);
    words_.expect(';', where);
    if (variable.states.empty()) source_.fail(count.at, where + " has no states");
    if (base::whole_integer(count.text) != static_cast<std::int64_t>(variable.states.size())) {
      source_.fail(count.at, where + " is said to have " + shown(count.text) + " states and lists " +
                                 std::to_string(variable.states.size()));
    }
  }

  std::size_t known_variable() {
    const BifWord name = words_.expect('w', "the head of a probability");
    const auto found = by_name_.find(name.text);
    if (found == by_name_.end()) source_.fail(name.at, "there is no variable " + shown(name.text) + " so far");
    return found->second;
  }

  void read_probability(std::size_t at) {
    BifTable table{.at = at};
    words_.expect('(', "the head of a probability");
    table.child = known_variable();
    // Older files leave out the bar: the first variable is the child.
    if (words_.is('|')) words_.take();
    while (!words_.is(')')) table.parents.push_back(known_variable());
    words_.take();
    BifVariable& child = variables_[table.child];
    const std::string where = "the probability of " + shown(child.name);
    if (child.table) source_.fail(at, where + " is given twice");
    child.table = tables_.size();
    std::vector<std::size_t> all = table.parents;
    all.push_back(table.child);
    std::sort(all.begin(), all.end());
    if (const auto twice = std::adjacent_find(all.begin(), all.end()); twice != all.end()) {
      source_.fail(at, where + " names " + shown(variables_[*twice].name) + " twice");
    }
    BifTableReader(source_, words_, variables_, where, defaults_left_).read(table);
    tables_.push_back(std::move(table));
  }

  void refuse_cycles() const {
    std::vector<std::vector<std::size_t>> parents(variables_.size());
    for (const BifTable& table : tables_) parents[table.child] = table.parents;
    const std::vector<std::size_t> cycle = model::find_cycle(parents);
    if (cycle.empty()) return;
    std::string path;
    constexpr std::size_t most = 8;
    for (std::size_t k = 0; k < cycle.size() && k < most; ++k) path += std::string(variables_[cycle[k]].name) + " → ";
    if (cycle.size() > most) path += "… → ";
    source_.fail(tables_[*variables_[cycle[0]].table].at,
                 "the parents form a cycle: " + path + std::string(variables_[cycle[0]].name));
  }

  Model build() {
    Model model{.name = std::string(name_), .format = Format::bif};
    std::vector<std::string> names;
    Speller speller;
    for (const BifVariable& variable : variables_) {
      // A name that another variable has as it stands goes to that one.
      const auto taken = [&](const std::string& name) {
        const auto other = by_name_.find(name);
        return model.graph.find(name).has_value() ||
               (other != by_name_.end() && variables_[other->second].name != variable.name);
      };
      names.push_back(speller.spell(variable.name, taken));
      if (names.back() != variable.name) model.labels.emplace(names.back(), variable.name);
      model.graph.variable(names.back(), static_cast<std::int64_t>(variable.states.size()));
      model.states.emplace(names.back(), std::vector<std::string>(variable.states.begin(), variable.states.end()));
      if (!variable.table)
        model.notes.push_back("variable " + shown(variable.name) + " has no probability: all its states weigh one");
    }
    for (BifTable& table : tables_) {
      model::NewFactor factor{.name = names[table.child], .child = names[table.child]};
      for (const std::size_t parent : table.parents) factor.dims.push_back(names[parent]);
      factor.dims.push_back(names[table.child]);
      factor.numbers = std::move(table.numbers);
      source_.blame(table.at, [&] { model::add_factor(model, std::move(factor)); });
    }
    model.graph.output({});
    model.directed = model::is_directed(model);
    return model;
  }

  const Source& source_;
  BifWords words_;
  std::int64_t defaults_left_;
  std::string_view name_;
  std::vector<BifVariable> variables_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::vector<BifTable> tables_;
};

}  // namespace

Model read_bif(const Source& source, const ReadOptions& options) { return BifReader(source, options).read(); }

}  // namespace plated::io
