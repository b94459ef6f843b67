// Writes the graphs of a piece.
#include "chain/body.hpp"

#include <algorithm>

#include "base/disjoint_sets.hpp"
#include "chain/views.hpp"
#include "graph/derived.hpp"

namespace plated::chain {
namespace {

using base::contains;
using base::intersect;
using base::is_subset;
using base::sorted;
using base::subtract;
using base::unite;

/// The plates of the linked variables, the chain among them.
SortedSet linked_plates(const FactorGraph& graph, const Piece& piece) {
  SortedSet plates{piece.chain};
  for (const DimId d : piece.rows) {
    if (graph.dims()[d].kind != DimKind::batch) plates.push_back(d);
  }
  return sorted(std::move(plates));
}

/// Factors that become one: by the variables inside plates of a slice, or by holding the same variable.
class Grouper {
 public:
  Grouper(const FactorGraph& graph, const Piece& piece, const SortedSet& ragged)
      : graph_(graph),
        piece_(piece),
        ragged_(ragged),
        linked_(linked_plates(graph, piece)),
        plates_(graph.variable_plates()),
        sets_(piece.factors.size()) {}

  Body run() {
    join_inside_plates();
    join_same_variable();
    Body body;
    std::vector<std::vector<std::size_t>> members(piece_.factors.size());
    for (std::size_t k = 0; k < members.size(); ++k) members[sets_.root(k)].push_back(piece_.factors[k]);
    for (const std::vector<std::size_t>& group : members) {
      if (group.empty()) continue;
      const Factor& factor = graph_.factors()[group[0]];
      if (group.size() == 1 && is_subset(graph_.factor_plates(group[0]), linked_)) {
        body.factors.push_back({.index = group[0], .varies = holds(factor.dims, piece_.chain), .axes = factor.dims});
        continue;
      }
      Preparation preparation = prepare(group);
      body.factors.push_back({.index = body.preparations.size(),
                              .is_prepared = true,
                              .varies = preparation.varies,
                              .axes = preparation.axes});
      body.preparations.push_back(std::move(preparation));
    }
    return body;
  }

 private:
  /// Variables that only live inside plates of the slice, and ends of chains there.
  [[nodiscard]] bool is_deep(DimId v) const {
    return contains(piece_.inside, v) && (graph_.dims()[v].end != End::none || !is_subset(plates_[v], linked_));
  }

  void join_inside_plates() {
    // What a chain inside the slice links is eliminated at once, its ends included.
    base::DisjointSets together(graph_.dims().size());
    for (const Chain& chain : graph_.chains()) {
      if (chain.dim == piece_.chain) continue;
      for (const Link& link : chain.links) together.join(link.source, link.target);
    }
    for (DimId v = 0; v < graph_.dims().size(); ++v) {
      if (graph_.dims()[v].end != End::none) together.join(v, graph_.dims()[v].of);
    }
    std::vector<std::size_t> holder(graph_.dims().size(), piece_.factors.size());
    // Lengths apply to all that lies in a chain's slices.
    for (const Chain& chain : graph_.chains()) {
      if (!contains(ragged_, chain.dim) || chain.links.empty()) continue;
      for (std::size_t k = 0; k < piece_.factors.size(); ++k) {
        if (!is_subset(plates_[chain.links[0].source], graph_.factor_plates(piece_.factors[k]))) continue;
        std::size_t& first = holder[together.root(chain.links[0].source)];
        if (first == piece_.factors.size()) first = k;
        sets_.join(k, first);
      }
    }
    for (std::size_t k = 0; k < piece_.factors.size(); ++k) {
      for (const DimId v : graph_.factor_variables(piece_.factors[k])) {
        if (!is_deep(v)) continue;
        std::size_t& first = holder[together.root(v)];
        if (first == piece_.factors.size()) first = k;
        sets_.join(k, first);
      }
    }
  }

  /// The variables that a group keeps.
  [[nodiscard]] SortedSet kept(const std::vector<std::size_t>& group) const {
    SortedSet variables;
    for (const std::size_t f : group) variables = unite(variables, graph_.factor_variables(f));
    std::erase_if(variables, [&](DimId v) { return is_deep(v); });
    return variables;
  }

  void join_same_variable() {
    std::vector<std::vector<std::size_t>> members(piece_.factors.size());
    for (std::size_t k = 0; k < members.size(); ++k) members[sets_.root(k)].push_back(piece_.factors[k]);
    std::vector<std::pair<SortedSet, std::size_t>> seen;
    for (std::size_t k = 0; k < members.size(); ++k) {
      if (members[k].empty()) continue;
      const SortedSet variables = kept(members[k]);
      if (variables.size() != 1) continue;
      const auto same = std::find_if(seen.begin(), seen.end(), [&](const auto& s) { return s.first == variables; });
      if (same == seen.end()) {
        seen.emplace_back(variables, k);
      } else {
        sets_.join(same->second, k);
      }
    }
  }

  [[nodiscard]] Preparation prepare(const std::vector<std::size_t>& group) const {
    Preparation preparation{.factors = group};
    SortedSet carried;
    for (const std::size_t f : group) {
      carried = unite(carried, sorted(graph_.factors()[f].dims));
      if (intersect(graph_.factor_plates(f), ragged_).empty()) continue;
      carried = unite(carried, unite(sorted(piece_.rows), {piece_.chain}));
    }
    preparation.varies = contains(carried, piece_.chain);
    const SortedSet variables = kept(group);
    if (preparation.varies) preparation.axes.push_back(piece_.chain);
    for (const DimId d : piece_.rows) {
      if (contains(carried, d)) preparation.axes.push_back(d);
    }
    for (const DimId v : piece_.outer) {
      if (contains(variables, v)) preparation.axes.push_back(v);
    }
    preparation.batch = preparation.axes.size();
    for (const DimId v : intersect(variables, piece_.inside)) preparation.axes.push_back(v);
    return preparation;
  }

  const FactorGraph& graph_;
  const Piece& piece_;
  SortedSet ragged_;  // chains inside the piece
  SortedSet linked_;
  std::vector<std::vector<DimId>> plates_;
  base::DisjointSets sets_;
};

/// Mentions the plates that lie inside the slices, and what else some factors need.
class SliceWriter {
 public:
  SliceWriter(const FactorGraph& graph, const Piece& piece)
      : graph_(graph), piece_(piece), derived_(graph), plates_(graph.variable_plates()) {}

  graph::Derived& derived() { return derived_; }

  /// Plates and variables of factors, as far as they are not batch dims.
  void mention(const std::vector<std::size_t>& factors, const SortedSet& batch) {
    SortedSet dims;
    for (const std::size_t f : factors) {
      dims = unite(dims, unite(graph_.factor_plates(f), sorted(graph_.factors()[f].dims)));
    }
    mention(subtract(dims, batch), batch);
  }
  void mention(const SortedSet& dims, const SortedSet& batch) {
    for (const DimId d : dims) {
      if (graph_.dims()[d].kind == DimKind::plate) derived_.plate(d);
      if (graph_.dims()[d].kind == DimKind::chain) derived_.chain(d);
    }
    for (const DimId d : dims) {
      if (graph_.dims()[d].kind == DimKind::variable) derived_.variable(d, subtract(sorted(plates_[d]), gone(batch)));
    }
  }
  void factor(std::size_t f, const SortedSet& batch) {
    const Factor& factor = graph_.factors()[f];
    derived_.factor(factor.name, factor.dims, subtract(sorted(factor.tied), gone(batch)));
  }

 private:
  /// Plates that are no plates any more: the batch dims, and rows that nothing here carries.
  [[nodiscard]] SortedSet gone(const SortedSet& batch) const {
    return unite(batch, unite(sorted(piece_.rows), {piece_.chain}));
  }

  const FactorGraph& graph_;
  const Piece& piece_;
  graph::Derived derived_;
  std::vector<std::vector<DimId>> plates_;
};

std::vector<DimId> joined(const std::vector<DimId>& a, const std::vector<DimId>& b) {
  std::vector<DimId> all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

}  // namespace

Body plan_body(const FactorGraph& graph, const Piece& piece, const SortedSet& ragged) {
  return Grouper(graph, piece, subtract(ragged, {piece.chain})).run();
}

std::vector<DimId> message_axes(const Piece& piece, const std::vector<DimId>& linked) {
  return joined(joined(piece.rows, piece.outer), linked);
}

std::vector<DimId> slice_batch(const Piece& piece) { return joined(joined({piece.chain}, piece.rows), piece.outer); }

FactorGraph body_graph(const FactorGraph& graph, const Piece& piece, const Body& body, bool forward) {
  const SortedSet linked = linked_plates(graph, piece);
  const std::vector<std::vector<DimId>>& plates = graph.variable_plates();
  graph::Derived derived(graph);
  for (const DimId d : joined(piece.rows, piece.outer)) derived.batch(d);
  for (const DimId v : piece.inside) {
    if (is_subset(plates[v], linked) && graph.dims()[v].end == End::none) derived.variable(v, {});
  }
  derived.factor("message", message_axes(piece, forward ? piece.sources : piece.targets));
  for (const BodyFactor& factor : body.factors) {
    const std::string name =
        factor.is_prepared ? "slice " + std::to_string(factor.index) : graph.factors()[factor.index].name;
    std::vector<DimId> axes = factor.axes;
    std::erase(axes, piece.chain);
    derived.factor(name, std::move(axes));
  }
  derived.output(message_axes(piece, forward ? piece.targets : piece.sources));
  return std::move(derived).finish();
}

FactorGraph preparation_graph(const FactorGraph& graph, const Piece& piece, const Preparation& preparation,
                              std::int64_t slices) {
  SliceWriter writer(graph, piece);
  const SortedSet batch =
      sorted({preparation.axes.begin(), preparation.axes.begin() + static_cast<std::ptrdiff_t>(preparation.batch)});
  for (const DimId d : batch) {
    if (d == piece.chain) {
      writer.derived().batch(d, slices);
    } else {
      writer.derived().batch(d);
    }
  }
  SortedSet dims;
  for (const std::size_t f : preparation.factors) {
    dims = unite(dims, unite(graph.factor_plates(f), sorted(graph.factors()[f].dims)));
  }
  writer.mention(subtract(subtract(dims, batch), unite(sorted(piece.rows), {piece.chain})), batch);
  for (const std::size_t f : preparation.factors) writer.factor(f, batch);
  writer.derived().output(preparation.axes);
  return std::move(writer.derived()).finish();
}

FactorGraph start_graph(const FactorGraph& graph, const Piece& piece, bool with_message) {
  SliceWriter writer(graph, piece);
  const SortedSet batch = sorted(joined(piece.rows, piece.outer));
  for (const DimId d : batch) writer.derived().batch(d);
  writer.mention(sorted(piece.start()), batch);
  writer.mention(piece.absorbed, unite(batch, sorted(piece.start())));
  for (const std::size_t f : piece.absorbed) writer.factor(f, batch);
  if (with_message) {
    writer.derived().factor("message", message_axes(piece, piece.start()));
    writer.derived().output(joined(piece.rows, piece.outer));
  } else {
    writer.derived().output(message_axes(piece, piece.start()));
  }
  return std::move(writer.derived()).finish();
}

FactorGraph slice_graph(const FactorGraph& graph, const Piece& piece, const SliceQuestion& question) {
  SliceWriter writer(graph, piece);
  std::vector<DimId> batch = joined({piece.chain}, piece.rows);
  if (question.outer_is_batch) batch = joined(batch, piece.outer);
  for (const DimId d : batch) {
    if (d == piece.chain) {
      writer.derived().batch(d, question.slices);
    } else {
      writer.derived().batch(d);
    }
  }
  const SortedSet batch_set = sorted(batch);
  if (!question.outer_is_batch) {
    // One problem for each row: whatever plates the outer variables have are rows.
    for (const DimId v : piece.outer) writer.derived().variable(v, {});
  }
  writer.mention(piece.factors, unite(batch_set, sorted(piece.outer)));
  SortedSet unheld = piece.inside;
  for (const std::size_t f : piece.factors) unheld = subtract(unheld, graph.factor_variables(f));
  writer.mention(unheld, batch_set);
  for (const std::size_t f : piece.factors) {
    if (std::find(question.masked.begin(), question.masked.end(), f) == question.masked.end()) {
      writer.factor(f, batch_set);
    }
  }
  writer.derived().factor("message before", joined({piece.chain}, message_axes(piece, piece.sources)));
  writer.derived().factor("message after", joined({piece.chain}, message_axes(piece, piece.targets)));
  if (question.offsets) writer.derived().factor("scalars", slice_batch(piece));
  for (std::size_t k = 0; k < question.probes.size(); ++k) {
    writer.derived().factor("probe " + std::to_string(k), question.probes[k]);
  }
  for (const std::vector<DimId>& output : question.outputs) writer.derived().output(output);
  if (question.outputs.empty()) writer.derived().output(batch);
  return std::move(writer.derived()).finish();
}

FactorGraph state_graph(const FactorGraph& graph, const Piece& piece, std::int64_t states,
                        const std::vector<std::vector<DimId>>& probes) {
  graph::Derived derived(graph);
  derived.batch(piece.chain, states);
  for (const DimId d : joined(piece.rows, piece.outer)) derived.batch(d);
  for (const DimId v : piece.sources) derived.variable(v, {});
  derived.factor("message from before", joined({piece.chain}, message_axes(piece, piece.sources)));
  derived.factor("message from after", joined({piece.chain}, message_axes(piece, piece.sources)));
  for (std::size_t k = 0; k < probes.size(); ++k) derived.factor("probe " + std::to_string(k), probes[k]);
  derived.output(slice_batch(piece));
  return std::move(derived).finish();
}

}  // namespace plated::chain
