// Random chains that can be eliminated: several links, higher orders, plates around and inside, beside and inside each
// other, ragged, with ends that are free, weighed or tied to each other; links that no factor spans, variables that
// nothing holds, factors of slices that hold outside variables only; named and declared in any order.
//
// All plates and chains nest (outer plates, a chain, plates inside it), which keeps every graph tractable.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "property/chain_options.hpp"
#include "property/chain_work.hpp"
#include "property/disguise.hpp"

namespace plated::test {

class ChainGenerator {
 public:
  using Names = Case::Names;
  ChainGenerator(std::uint64_t seed, const ChainOptions& options) : random_(seed), options_(options) { seed_ = seed; }

  Case run() {
    for (;;) {
      c_ = {};
      c_.seed = seed_;
      slices_.clear();
      ragged_.clear();
      inside_.clear();
      draw();
      if (ragged_.empty() && chain_work(c_.build(), {}) > options_.most_work) continue;
      for (std::int64_t n = random_.chance(6) ? 0 : 1 + random_.below(3); n > 0; --n) draw_output();
      if (options_.odd) disguise();
      draw_lengths();
      if (chain_work(c_.build(), c_.lengths) <= options_.most_work) return c_;
    }
  }

 private:
  /// What may be asked of one chain: variables of a slice and ends, with the plates that an output must name.
  struct Part {
    std::string chain;
    Names around, inner, ends;
  };

  std::int64_t size(int zero_percent, int one_percent, std::int64_t most) {
    if (options_.small_sizes && random_.chance(zero_percent)) return 0;
    if (options_.small_sizes && random_.chance(one_percent)) return 1;
    return 2 + random_.below(most - 1);
  }

  static Names joined(Names names, const Names& more) {
    for (const std::string& name : more) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
  }
  static Names first_of(const Names& names, std::int64_t count) { return {names.begin(), names.begin() + count}; }
  bool is_chain(const std::string& name) const {
    return std::any_of(c_.chains.begin(), c_.chains.end(), [&](const auto& d) { return d.name == name; });
  }

  std::string variable(const std::string& name, std::int64_t domain, const Names& stated = {}, bool state = false) {
    c_.variables.push_back({name, domain, {}});
    if (state) c_.variables.back().stated = stated;
    return name;
  }

  bool is_linked(const std::string& name) const {
    return std::any_of(c_.chains.begin(), c_.chains.end(), [&](const auto& chain) {
      return std::any_of(chain.links.begin(), chain.links.end(),
                         [&](const auto& link) { return link.first == name || link.second == name; });
    });
  }

  /// A factor over variables in a slice of plates and chains, tied in some of them.
  void factor(Names dims, const Names& plates) {
    Case::Term term{std::move(dims), {}};
    for (const std::string& p : plates) {
      (random_.chance(is_chain(p) ? 45 : 25) ? term.tied : term.dims).push_back(p);
    }
    for (const auto& d : c_.batch) {
      if (random_.chance(40)) term.dims.push_back(d.name);
    }
    if (!term.dims.empty() && random_.chance(3)) term.dims.push_back(std::string(random_.pick(term.dims)));
    random_.shuffle(term.dims);
    c_.factors.push_back(std::move(term));
  }

  void draw() {
    const std::int64_t depth = random_.chance(45) ? 1 : random_.chance(12) ? 2 : 0;
    const char* plate_names[] = {"n", "m"};
    for (std::int64_t k = 0; k < depth; ++k) c_.plates.push_back({plate_names[k], size(4, 25, 2), {}});
    outer_.assign(plate_names, plate_names + depth);
    if (random_.chance(25)) c_.batch.push_back({"k", size(3, 20, 2), {}});
    draw_globals();
    Names around = first_of(outer_, random_.chance(80) ? depth : random_.below(depth + 1));
    const Part part = draw_chain("t", around, "", globals_within(around), 5);
    if (options_.nested && random_.chance(60)) {
      // Its sources and targets enter every slice of a chain inside the slice.
      Names home = joined(around, {"t"});
      draw_chain("s", home, "s", joined(globals_within(around), some_joined(part.inner, 50)), 2);
    } else if (random_.chance(12)) {
      around = first_of(outer_, random_.below(depth + 1));
      draw_chain("s", around, "s", globals_within(around), 3);
    }
  }

  void draw_globals() {
    globals_.clear();
    const char* names[] = {"z", "y"};
    for (std::int64_t count = random_.chance(45) ? 1 + random_.below(2) : 0, k = 0; k < count; ++k) {
      const Names home = first_of(outer_, random_.below(std::ssize(outer_) + 1));
      const bool state = random_.chance(25);
      globals_.emplace_back(variable(names[k], size(0, 8, 3), home, state), home);
      if (!state || random_.chance(60)) factor({names[k]}, home);
    }
    if (globals_.size() == 2 && random_.chance(40)) {
      factor({globals_[0].first, globals_[1].first}, joined(globals_[0].second, globals_[1].second));
    }
    if (!globals_.empty() && random_.chance(15)) {
      c_.plates.push_back({"q", size(5, 20, 2), {}});
      variable("u", 2);
      factor({"u", globals_[0].first}, joined(globals_[0].second, {"q"}));
    }
  }

  Names globals_within(const Names& around) const {
    Names result;
    for (const auto& [name, home] : globals_) {
      const auto inside = [&](const std::string& p) {
        return std::find(around.begin(), around.end(), p) != around.end();
      };
      if (std::all_of(home.begin(), home.end(), inside)) result.push_back(name);
    }
    return result;
  }

  Names some(const Names& names, int percent) {
    Names result;
    for (const std::string& name : names) {
      if (random_.chance(percent)) result.push_back(name);
    }
    return result;
  }

  /// At least one of them, unless parts may be loose.
  Names some_joined(const Names& names, int percent) {
    Names result = some(names, percent);
    if (result.empty() && !options_.loose_parts) result.push_back(random_.pick(names));
    return result;
  }

  Part draw_chain(const std::string& name, const Names& around, const std::string& suffix, const Names& above,
                  std::int64_t most) {
    Case::Chained chain{name, size(8, 12, most), {}};
    const Names home = joined(around, {name});
    // Each path of links: two variables at order 1, three at order 2.
    std::vector<Names> paths;
    const std::int64_t kind = random_.below(100);
    const std::vector<std::int64_t> orders = kind < 40   ? std::vector<std::int64_t>{1}
                                             : kind < 62 ? std::vector<std::int64_t>{1, 1}
                                             : kind < 70 ? std::vector<std::int64_t>{1, 1, 1}
                                             : kind < 90 ? std::vector<std::int64_t>{2}
                                             : kind < 95 ? std::vector<std::int64_t>{2, 1}
                                                         : std::vector<std::int64_t>{3};
    Part part{name, around, {}, {}};
    std::vector<bool> spanned;
    for (std::size_t p = 0; p < orders.size(); ++p) {
      const std::int64_t domain = size(0, 7, random_.chance(30) ? 3 : 2);
      spanned.push_back(!options_.odd || !random_.chance(18));
      paths.emplace_back();
      for (std::int64_t k = 0; k <= orders[p]; ++k) {
        const std::string letter(1, static_cast<char>('a' + k));
        paths[p].push_back(variable(letter + (p > 0 ? std::to_string(p) : "") + suffix, domain, home, !spanned[p]));
        if (k > 0) chain.links.emplace_back(paths[p][static_cast<std::size_t>(k - 1)], paths[p].back());
      }
      part.inner = joined(part.inner, paths[p]);
    }
    c_.chains.push_back(chain);
    if (options_.ragged && random_.chance(35)) ragged_[name] = 0;
    draw_slice(paths, spanned, home, above, suffix, part);
    draw_ends(paths, around, above, part);
    slices_.push_back(part);
    return {name, around, paths[0], {}};
  }

  void disguise() {
    const Disguise disguise(c_, random_);
    std::map<std::string, std::int64_t> renamed;
    for (const auto& [chain, least] : ragged_) renamed[disguise.named(chain)] = least;
    ragged_ = std::move(renamed);
  }

  void draw_lengths() {
    const FactorGraph graph = c_.build();
    const oracle::Slices slices(graph, {});
    for (const auto& [name, least] : ragged_) {
      const DimId chain = *graph.find(name);
      std::vector<DimId> axes = random_.chance(60) ? slices.batch() : std::vector<DimId>{};
      for (const DimId d : slices.around(chain)) axes.push_back(d);
      Tensor::Shape shape;
      for (const DimId d : axes) shape.push_back(graph.dims()[d].size);
      Integers lengths(shape, 0);
      for (std::int64_t& length : lengths.values) {
        length = std::max(least, random_.below(graph.dims()[chain].size + 1));
      }
      c_.lengths.emplace(name, lengths);
    }
  }

  /// Factors that hold at most one variable of a path each, or none at all.
  void draw_unspanned(const Names& path, const Names& home, const Names& above) {
    for (const std::string& v : path) {
      if (random_.chance(45)) factor(joined({v}, some(above, 30)), home);
    }
  }

  void draw_slice(const std::vector<Names>& paths, const std::vector<bool>& spanned, const Names& home,
                  const Names& above, const std::string& suffix, Part& part) {
    const Names linked = part.inner;
    for (std::size_t p = 0; p < paths.size(); ++p) {
      if (!spanned[p]) {
        draw_unspanned(paths[p], home, above);
        continue;
      }
      // A chain inside a chain is joined to it by its transitions.
      const bool nested = !above.empty() && home.size() > 1 && is_chain(home[home.size() - 2]);
      Names held = joined(paths[p], nested ? joined(some(above, 40), {above.back()}) : some(above, 40));
      if (p > 0 && random_.chance(15)) held = joined(held, {paths[p - 1].back()});
      if (paths[p].size() > 2 && random_.chance(35)) {
        factor({paths[p][0], paths[p][1]}, home);  // a chain of order 2 that never looks two slices back at once
        held = {paths[p].begin() + 1, paths[p].end()};
      }
      factor(held, home);
      if (random_.chance(60)) factor({paths[p].back()}, home);
      if (random_.chance(12)) factor({paths[p].front()}, home);
      if (p > 0 && random_.chance(40)) factor({paths[p].back(), paths[p - 1].back()}, home);
    }
    if (random_.chance(25)) {
      const std::string w = variable("w" + suffix, size(0, 8, 3));
      factor(joined({w}, some_joined(linked, 45)), home);
      if (random_.chance(40)) factor({w}, home);
      part.inner.push_back(w);
    }
    if (options_.odd && random_.chance(12)) part.inner.push_back(variable("x" + suffix, size(0, 8, 2), home, true));
    if (options_.loose_parts && random_.chance(8)) factor({}, home);
    if (options_.odd && !above.empty() && random_.chance(12)) factor({random_.pick(above)}, home);
    if (!random_.chance(28)) return;
    const std::string p = "p" + suffix;
    c_.plates.push_back({p, size(5, 25, 2), {}});
    const Names inside = joined(home, {p});
    if (options_.odd && random_.chance(15)) {
      part.inner.push_back(variable("r" + suffix, size(0, 8, 2), inside, true));
      inside_[part.inner.back()] = p;
    }
    if (random_.chance(60)) factor({random_.pick(part.inner)}, inside);  // notes that are observed
    if (random_.chance(55)) {
      const std::string v = variable("v" + suffix, 2);
      factor(joined({v}, some_joined(part.inner, 35)), inside);
      if (random_.chance(40)) factor({v}, inside);
      part.inner.push_back(v);
      inside_[v] = p;
    }
  }

  /// The first and last slice's variables: of a path of m links, ^v0 … ^v(m−1) and v1$ … vm$ exist at any length.
  void draw_ends(const std::vector<Names>& paths, const Names& around, const Names& above, Part& part) {
    Names firsts, lasts;
    for (const Names& path : paths) {
      for (std::size_t k = 0; k + 1 < path.size(); ++k) {
        firsts.push_back(k == 0 && random_.chance(50) ? path[k] : first(path[k]));
        lasts.push_back(k + 2 == path.size() && random_.chance(50) ? path[k + 1] : last(path[k + 1]));
      }
      if (random_.chance(75)) factor({firsts.end() - (std::ssize(path) - 1), firsts.end()}, around);
      if (!options_.last_factors) continue;
      if (random_.chance(30)) factor({lasts.end() - (std::ssize(path) - 1), lasts.end()}, around);
      if (random_.chance(10)) factor({firsts.back(), lasts.back()}, around);
    }
    if (firsts.size() > 1 && random_.chance(15)) factor(firsts, around);
    if (!above.empty() && random_.chance(20)) factor(joined({firsts[0]}, some(above, 60)), around);
    if (!above.empty() && options_.last_factors && random_.chance(15)) {
      factor(joined({lasts[0]}, some(above, 60)), around);
    }
    part.ends = joined(firsts, lasts);
    for (std::int64_t n = random_.chance(35) ? 1 + random_.below(2) : 0; n > 0; --n)
      draw_slice_end(paths, around, above, part);
  }

  /// Of a chain that surely has slices, any variable has a first and a last one.
  void draw_slice_end(const std::vector<Names>& paths, const Names& around, const Names& above, Part& part) {
    const std::int64_t slices = c_.chains.back().size;
    if (!options_.slice_ends || slices == 0) return;
    const std::string any = random_.pick(part.inner);
    const bool is_last = options_.last_factors && random_.chance(50);
    for (const Names& path : paths) {
      if (any == (is_last ? path.back() : path.front())) return draw_slice_end(paths, around, above, part);
    }
    // In two chains and linked in none, it has no end.
    if (!is_linked(any) && std::any_of(around.begin(), around.end(), [&](const auto& p) { return is_chain(p); }))
      return;
    if (const auto given = ragged_.find(part.chain); given != ragged_.end()) given->second = 1;
    const std::string end = is_last ? last(any) : first(any);
    const Names home = inside_.contains(any) ? joined(around, {inside_.at(any)}) : around;
    const std::int64_t kind = random_.below(100);
    if (kind < 65) factor({end}, home);
    const bool meets = kind >= 45 && kind < 65 && home == around && options_.last_factors;
    if (meets) factor(joined({end}, {random_.pick(part.ends)}), home);
    if (kind >= 65 && kind < 80) factor(joined({end}, some(above, 60)), home);
    if (kind < 70) return;
    if (home == around) {
      part.ends = joined(part.ends, {end});
    } else {
      c_.outputs.push_back(joined(home, {end}));
    }
  }

  /// What factors of the chain hold together with a variable of a slice, directly or through others of its variables.
  Names joined_to(const std::string& variable, const Part& part) const {
    Names reached{variable};
    for (std::size_t k = 0; k < reached.size(); ++k) {
      if (std::find(part.inner.begin(), part.inner.end(), reached[k]) == part.inner.end()) continue;
      for (const auto& chain : c_.chains) {
        for (const auto& [source, target] : chain.links) {
          if (source == reached[k] || target == reached[k]) reached = joined(reached, {source, target});
        }
      }
      for (const Case::Term& f : c_.factors) {
        const Names all = joined(f.dims, f.tied);
        const auto has = [&](const std::string& d) { return std::find(all.begin(), all.end(), d) != all.end(); };
        if (!has(part.chain) || !has(reached[k])) continue;
        for (const std::string& d : f.dims) {
          const auto is = [&](const Case::Dimension& v) { return v.name == d; };
          if (std::any_of(c_.variables.begin(), c_.variables.end(), is)) reached = joined(reached, {d});
        }
      }
    }
    // Variables of a chain inside the slice are in slices of their own.
    std::erase_if(reached, [&](const std::string& v) {
      const Names known = joined(part.inner, globals_within(part.around));
      return std::find(known.begin(), known.end(), v) == known.end();
    });
    return reached;
  }

  void draw_output() {
    Names output;
    const Part& part = random_.pick(slices_);
    const std::int64_t kind = random_.below(100);
    const Names above = globals_within(part.around);
    Names asked;
    if (kind >= 20 && kind < 60) {
      output = joined(part.around, {part.chain});
      asked = {random_.pick(part.inner)};
      const Names others = options_.outputs_across ? joined(part.inner, above) : joined_to(asked[0], part);
      if (random_.chance(50)) asked = joined(asked, {random_.pick(others)});
    } else if (kind >= 60 && kind < 85) {
      output = part.around;
      for (std::int64_t n = 1 + random_.below(2); n > 0; --n) asked = joined(asked, {random_.pick(part.ends)});
    } else if (kind >= 85 && ragged_.empty()) {
      output = some(joined(part.around, {part.chain}), 60);  // repeats the total
    }
    // Beside what is in slices of another chain, only what that chain holds can be asked.
    const bool nested = std::any_of(part.around.begin(), part.around.end(), [&](auto& p) { return is_chain(p); });
    if (kind >= 60 && (options_.outputs_across || !nested)) {
      asked = joined(asked, some(above, kind >= 85 ? 60 : 15));
    }
    const FactorGraph graph = c_.build();
    const auto plates = graph.variable_plates();
    for (const std::string& v : asked) {
      const auto d = graph.find(v);
      if (!d || graph.dims()[*d].end != End::none) continue;
      if (std::find(part.ends.begin(), part.ends.end(), v) != part.ends.end()) continue;  // a bare end
      for (const DimId b : plates[*d]) output = joined(output, {graph.dims()[b].name});
    }
    output = joined(output, asked);
    for (const auto& d : c_.batch) {
      if (random_.chance(40)) output.push_back(d.name);
    }
    random_.shuffle(output);
    c_.outputs.push_back(output);
  }

  Random random_;
  ChainOptions options_;
  std::uint64_t seed_ = 0;
  Case c_;
  Names outer_;                                         // plates around everything, each inside the one before
  std::vector<std::pair<std::string, Names>> globals_;  // variables outside the chains, and their plates
  std::vector<Part> slices_;
  std::map<std::string, std::int64_t> ragged_;  // chains that get lengths, and the least of them
  std::map<std::string, std::string> inside_;   // variables of plates inside slices
};

[[nodiscard]] inline Case random_chain(std::uint64_t seed, const ChainOptions& options = {}) {
  return ChainGenerator(seed, options).run();
}

}  // namespace plated::test
