// Unrolled chains against their meaning, slice t's target is slice t+1's source, applied one pair at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "plated/factor_graph.hpp"
#include "random_chain_graph.hpp"

namespace plated {
namespace {

/// An index for each plate and chain, by name.
using Place = std::map<std::string, std::int64_t>;

/// All the copies of all the variables, those that links make one in one set.
class Meaning {
 public:
  explicit Meaning(const FactorGraph& graph) : graph_(graph), plates_(graph.variable_plates()) {
    for (DimId v = 0; v < graph.dims().size(); ++v) {
      if (graph.dims()[v].kind != DimKind::variable || graph.dims()[v].end != End::none) continue;
      for (const Place& place : places(plates_[v])) (void)node(v, place);
    }
    for (const Chain& chain : graph.chains()) {
      for (const Link& link : chain.links) join_along(chain.dim, link);
    }
  }

  /// The set of the variable that a dim of a factor or output means in a slice of it.
  int of(DimId dim, const Place& place) {
    const Dim& known = graph_.dims()[dim];
    if (known.end == End::none) return root(node(dim, place));
    const DimId chain = chain_of(known.of);
    const std::int64_t size = graph_.dims()[chain].size;
    Place there = place;
    there[graph_.dims()[chain].name] = known.end == End::first ? 0 : size - 1;
    return root(size > 0 ? node(known.of, there) : end_node(dim_name(known.of), known.end, there));
  }
  std::size_t count() {
    std::set<int> roots;
    for (const auto& entry : nodes_) roots.insert(root(entry.second));
    return roots.size();
  }
  std::vector<Place> places(const std::vector<DimId>& plates) const {
    std::vector<Place> result{{}};
    for (const DimId plate : plates) {
      std::vector<Place> longer;
      for (const Place& place : result) {
        for (std::int64_t k = 0; k < graph_.dims()[plate].size; ++k) {
          longer.push_back(place);
          longer.back()[dim_name(plate)] = k;
        }
      }
      result = std::move(longer);
    }
    return result;
  }

 private:
  std::string dim_name(DimId d) const { return graph_.dims()[d].name; }

  DimId chain_of(DimId variable) const {
    if (const auto chain = graph_.linking_chain(variable)) return *chain;
    return *std::find_if(plates_[variable].begin(), plates_[variable].end(),
                         [&](DimId d) { return graph_.dims()[d].kind == DimKind::chain; });
  }

  void join_along(DimId chain, const Link& link) {
    std::vector<DimId> others = plates_[link.source];
    std::erase(others, chain);
    const std::int64_t size = graph_.dims()[chain].size;
    for (Place place : places(others)) {
      if (size == 0) {
        join(end_node(dim_name(link.target), End::last, place), end_node(dim_name(link.source), End::first, place));
      }
      for (std::int64_t k = 0; k + 1 < size; ++k) {
        Place next = place;
        place[dim_name(chain)] = k;
        next[dim_name(chain)] = k + 1;
        join(node(link.target, place), node(link.source, next));
      }
    }
  }

  int node(DimId variable, const Place& place) { return numbered(dim_name(variable), plates_[variable], place); }
  /// Of a chain without slices.
  int end_node(const std::string& variable, End end, const Place& place) {
    std::vector<DimId> others = plates_[*graph_.find(variable)];
    std::erase(others, chain_of(*graph_.find(variable)));
    return numbered(variable + (end == End::first ? " first" : " last"), others, place);
  }
  int numbered(std::string key, const std::vector<DimId>& plates, const Place& place) {
    for (const DimId plate : plates) key += " " + dim_name(plate) + "=" + std::to_string(place.at(dim_name(plate)));
    const auto [entry, is_new] = nodes_.emplace(key, static_cast<int>(parent_.size()));
    if (is_new) parent_.push_back(entry->second);
    return entry->second;
  }
  int root(int n) const {
    while (parent_[static_cast<std::size_t>(n)] != n) n = parent_[static_cast<std::size_t>(n)];
    return n;
  }
  void join(int a, int b) { parent_[static_cast<std::size_t>(root(a))] = root(b); }

  const FactorGraph& graph_;
  std::vector<std::vector<DimId>> plates_;
  std::map<std::string, int> nodes_;
  std::vector<int> parent_;
};

/// `f0[t=1,i=0]` is the copy of f0 at t = 1 and i = 0.
std::pair<std::string, Place> copied_from(const std::string& name) {
  const std::size_t bracket = std::min(name.find('['), name.size());
  Place place;
  for (std::size_t at = bracket + 1; at < name.size();) {
    const std::size_t equals = name.find('=', at), end = name.find_first_of(",]", at);
    place[name.substr(at, equals - at)] = std::stoll(name.substr(equals + 1, end - equals - 1));
    at = end + 1;
  }
  return {name.substr(0, bracket), place};
}

/// Sets of copies and dims of the unrolled graph, one to one.
class Matching {
 public:
  void expect(int set, DimId dim) {
    EXPECT_EQ(dims_.emplace(set, dim).first->second, dim);
    EXPECT_EQ(sets_.emplace(dim, set).first->second, set);
  }

 private:
  std::map<int, DimId> dims_;
  std::map<DimId, int> sets_;
};

void expect_factors_mean_the_same(const FactorGraph& original, const FactorGraph& unrolled, Matching& matching) {
  Meaning meaning(original);
  std::map<std::string, std::size_t> by_name;
  for (std::size_t f = 0; f < original.factors().size(); ++f) by_name[original.factors()[f].name] = f;
  std::map<std::string, std::set<Place>> seen;
  for (const Factor& copy : unrolled.factors()) {
    const auto [name, place] = copied_from(copy.name);
    EXPECT_TRUE(seen[name].insert(place).second) << copy.name;
    EXPECT_TRUE(copy.tied.empty());
    auto dim = copy.dims.begin();
    for (const DimId d : original.factors()[by_name.at(name)].dims) {
      if (has_slices(original.dims()[d].kind)) continue;
      ASSERT_NE(dim, copy.dims.end());
      if (original.dims()[d].kind == DimKind::variable) matching.expect(meaning.of(d, place), *dim);
      EXPECT_EQ(unrolled.dims()[*dim++].size, original.dims()[d].size);
    }
    EXPECT_EQ(dim, copy.dims.end());
  }
  for (std::size_t f = 0; f < original.factors().size(); ++f) {
    EXPECT_EQ(seen[original.factors()[f].name].size(), meaning.places(original.factor_plates(f)).size());
  }
  std::size_t variables = 0;
  for (const Dim& dim : unrolled.dims()) variables += dim.kind == DimKind::variable ? 1 : 0;
  EXPECT_EQ(variables, meaning.count());
}

void expect_outputs_mean_the_same(const FactorGraph& original, const UnrolledGraph& u, Matching& matching) {
  Meaning meaning(original);
  for (std::size_t o = 0; o < u.outputs.size(); ++o) {
    const std::vector<DimId>& dims = original.outputs()[u.outputs[o].original].dims;
    Place place;
    for (const auto& [axis, at] : u.outputs[o].index) place[original.dims()[dims[axis]].name] = at;
    auto dim = u.graph.outputs()[o].dims.begin();
    for (const DimId d : dims) {
      if (original.dims()[d].kind == DimKind::variable) matching.expect(meaning.of(d, place), *dim);
      if (!has_slices(original.dims()[d].kind)) ++dim;
    }
    EXPECT_EQ(dim, u.graph.outputs()[o].dims.end());
  }
}

TEST(ChainMeaning, OfRandomGraphsIsWhatUnrollingGives) {
  std::size_t drawn = 0, joint = 0, nested = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const auto g = test::RandomChainGraph(seed).draw();
    if (!g) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + g->print() + g->equation());
    ++drawn;
    const UnrolledGraph u = g->unroll();
    Matching matching;
    expect_factors_mean_the_same(*g, u.graph, matching);
    expect_outputs_mean_the_same(*g, u, matching);
    for (std::size_t f = 0; f < u.factors.size(); ++f) {
      const Factor& original = g->factors()[u.factors[f].original];
      const Place place = copied_from(u.graph.factors()[f].name).second;
      for (const auto& [axis, at] : u.factors[f].index) EXPECT_EQ(place.at(g->dims()[original.dims[axis]].name), at);
    }

    // The same in any order, one plate or chain at a time.
    std::vector<std::string> order;
    for (const Dim& dim : g->dims()) {
      if (has_slices(dim.kind)) order.push_back(dim.name);
    }
    std::mt19937 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    FactorGraph step_by_step = *g;
    for (const std::string& name : order) step_by_step = step_by_step.unroll(name).graph;
    Matching stepwise;
    expect_factors_mean_the_same(*g, step_by_step, stepwise);
    if (testing::Test::HasFailure()) return;

    joint += u.graph.factors().size() > 4 ? 1 : 0;
    for (const Chain& chain : g->chains()) {
      if (chain.links.empty()) continue;
      nested += g->variable_plates()[chain.links[0].source].size() > 1 && g->dims()[chain.dim].size > 1 ? 1 : 0;
    }
  }
  // Few draws are thrown away, and many are of some size.
  EXPECT_GT(drawn, 1000U);
  EXPECT_GT(joint, 300U);
  EXPECT_GT(nested, 200U);
}

}  // namespace
}  // namespace plated
