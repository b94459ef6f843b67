// equation() of a graph with chains read back is the graph it came from.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "plated/factor_graph.hpp"
#include "random_chain_graph.hpp"

namespace plated {
namespace {

/// Which dims the equation spells; the ends of a variable spell it, too.
std::vector<bool> spelled(const FactorGraph& g) {
  std::vector<bool> result(g.dims().size(), false);
  const auto spell = [&](DimId d) { result[d] = result[g.dims()[d].end == End::none ? d : g.dims()[d].of] = true; };
  for (const Factor& factor : g.factors()) std::for_each(factor.dims.begin(), factor.dims.end(), spell);
  for (const Output& output : g.outputs()) std::for_each(output.dims.begin(), output.dims.end(), spell);
  return result;
}

/// An equation cannot link what it does not hold.
bool spells_links(const FactorGraph& g) {
  const std::vector<bool> written = spelled(g);
  for (const Chain& chain : g.chains()) {
    for (const Link& link : chain.links) {
      if (!written[link.source] || !written[link.target]) return false;
    }
  }
  return true;
}

FactorGraph read_back(const FactorGraph& g) {
  EquationOptions options;
  options.spaced = true;
  const std::vector<bool> written = spelled(g);
  for (DimId d = 0; d < g.dims().size(); ++d) {
    const Dim& dim = g.dims()[d];
    if (dim.kind == DimKind::plate) options.plates += dim.name + " ";
    if (dim.kind == DimKind::batch) options.batch += dim.name + " ";
    const bool in_equation = dim.kind != DimKind::variable || written[d];
    if (in_equation && dim.end == End::none) options.sizes[dim.name] = dim.size;
  }
  for (const Chain& chain : g.chains()) {
    auto& links = options.chains[g.dims()[chain.dim].name];
    for (const Link& link : chain.links) {
      links.push_back(g.dims()[link.source].name + " -> " + g.dims()[link.target].name);
    }
  }
  std::vector<std::vector<std::int64_t>> shapes;
  for (const Factor& factor : g.factors()) {
    auto& shape = shapes.emplace_back();
    for (const DimId d : factor.dims) shape.push_back(g.dims()[d].size);
  }
  return FactorGraph::from_equation(g.equation(), shapes, options);
}

std::set<std::string> names(const FactorGraph& g, const std::vector<DimId>& dims) {
  std::set<std::string> result;
  for (const DimId d : dims) result.insert(g.dims()[d].name);
  return result;
}

TEST(ChainRoundTrip, RandomGraphsReadBackTheSame) {
  std::size_t read = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    test::RandomChainGraph random(seed);
    const auto g = random.draw();
    if (!g || random.stated() || !spells_links(*g)) continue;  // an equation states no plates
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + g->print() + g->equation());
    const FactorGraph back = read_back(*g);
    EXPECT_EQ(back.equation(), g->equation());
    const auto plates = g->variable_plates(), plates_back = back.variable_plates();
    for (DimId d = 0; d < back.dims().size(); ++d) {
      ASSERT_TRUE(g->find(back.dims()[d].name).has_value());
      const DimId original = *g->find(back.dims()[d].name);
      EXPECT_EQ(names(back, plates_back[d]), names(*g, plates[original])) << back.dims()[d].name;
      EXPECT_EQ(back.dims()[d].size, g->dims()[original].size);
      EXPECT_EQ(back.dims()[d].end, g->dims()[original].end);
    }
    ++read;
  }
  EXPECT_GT(read, 100U);
}

}  // namespace
}  // namespace plated
