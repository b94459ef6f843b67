// Random factor graphs with chains beside, around and inside plates and each other, named and declared in any order.
#pragma once

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated::test {

/// Draws dims, links and plates of variables, and then factors and outputs that respect them.
class RandomChainGraph {
 public:
  explicit RandomChainGraph(unsigned seed) : random_(seed) {}

  /// None where the draw is not valid: plates that are not stated may come out otherwise than they were drawn.
  std::optional<FactorGraph> draw() {
    stated_ = coin();
    draw_dims();
    for (std::size_t k = 1 + below(5); k > 0; --k) draw_holder(false);
    for (std::size_t k = 1 + below(2); k > 0; --k) draw_holder(true);
    try {
      graph_.validate();
    } catch (const PlateError&) {
      return std::nullopt;
    }
    return graph_;
  }
  [[nodiscard]] bool stated() const { return stated_; }

 private:
  struct Variable {
    std::string name;
    std::vector<std::string> plates;
    std::string chain;  // whose ends it has
    bool first_exists = false, last_exists = false;
  };

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  bool coin() { return random_() % 2 == 0; }

  std::string fresh_name() {
    if (names_.empty()) {
      for (char letter = 'a'; letter <= 'z'; ++letter) names_.emplace_back(1, letter);
      std::shuffle(names_.begin(), names_.end(), random_);
    }
    std::string name = names_.back();
    names_.pop_back();
    return name;
  }

  void draw_dims() {
    for (std::size_t k = 1 + below(2); k > 0; --k) {
      chains_.push_back(fresh_name());
      lengths_.push_back(static_cast<std::int64_t>(below(4)));
    }
    for (std::size_t k = below(3); k > 0; --k) plates_.push_back(fresh_name());
    std::vector<std::string> order = chains_;
    order.insert(order.end(), plates_.begin(), plates_.end());
    if (coin()) order.push_back(fresh_name());
    std::shuffle(order.begin(), order.end(), random_);
    for (const std::string& name : order) {
      if (has(plates_, name)) {
        graph_.plate(name, static_cast<std::int64_t>(below(3)));
      } else if (const auto chain = std::find(chains_.begin(), chains_.end(), name); chain != chains_.end()) {
        graph_.chain(name, lengths_[static_cast<std::size_t>(chain - chains_.begin())]);
      } else {
        graph_.batch(name, 2);
      }
    }
    for (std::size_t k = 1 + below(2); k > 0; --k) draw_path();
    for (std::size_t k = below(3); k > 0; --k) {
      Variable v{fresh_name(), draw_plates(""), "", false, false};
      std::size_t in = 0;
      for (std::size_t c = 0; c < chains_.size(); ++c) {
        if (!has(v.plates, chains_[c])) continue;
        v.chain = chains_[c];
        v.first_exists = v.last_exists = lengths_[c] > 0 && ++in == 1;
      }
      if (in > 1) v.chain.clear();
      declare(v, 2);
    }
  }

  void draw_path() {
    const std::size_t c = below(chains_.size()), order = 1 + below(3);
    const std::vector<std::string> plates = draw_plates(chains_[c]);
    const auto size = static_cast<std::int64_t>(2 + below(2));
    for (std::size_t k = 0; k <= order; ++k) {
      Variable v{fresh_name(), plates, chains_[c], true, true};
      v.first_exists = lengths_[c] > 0 || k < order;
      v.last_exists = lengths_[c] > 0 || k > 0;
      declare(v, size);
      if (k > 0) graph_.link(chains_[c], variables_[variables_.size() - 2].name, v.name);
    }
  }

  std::vector<std::string> draw_plates(const std::string& chain) {
    std::vector<std::string> result;
    for (const auto* names : {&chains_, &plates_}) {
      for (const std::string& name : *names) {
        if (name == chain || below(3) == 0) result.push_back(name);
      }
    }
    return result;
  }

  void declare(const Variable& v, std::int64_t size) {
    if (stated_) {
      graph_.variable(v.name, size, v.plates);
    } else {
      graph_.variable(v.name, size);
    }
    variables_.push_back(v);
  }

  void draw_holder(bool output) {
    std::vector<std::string> lies_in, dims, tied;
    for (const auto* names : {&chains_, &plates_}) {
      for (const std::string& name : *names) {
        if (below(3) > 0) lies_in.push_back(name);
      }
    }
    for (const std::string& name : lies_in) (!output && below(3) == 0 ? tied : dims).push_back(name);
    for (const Variable& v : variables_) {
      if (coin()) continue;
      std::vector<std::string> needed = v.plates;
      const bool outside = !v.chain.empty() && !has(lies_in, v.chain);
      if (outside) std::erase(needed, v.chain);
      if (!std::all_of(needed.begin(), needed.end(), [&](const auto& n) { return has(lies_in, n); })) continue;
      const bool at_first = coin();
      if (outside && !(at_first ? v.first_exists : v.last_exists)) continue;
      dims.push_back(!outside ? v.name : at_first ? first(v.name) : last(v.name));
    }
    std::shuffle(dims.begin(), dims.end(), random_);
    if (output) {
      graph_.output(dims);
    } else {
      graph_.factor("", dims, {.tied = tied});
    }
  }

  static bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  std::mt19937 random_;
  bool stated_ = false;
  FactorGraph graph_;
  std::vector<std::string> names_;  // not used yet
  std::vector<std::string> chains_, plates_;
  std::vector<std::int64_t> lengths_;
  std::vector<Variable> variables_;
};

}  // namespace plated::test
