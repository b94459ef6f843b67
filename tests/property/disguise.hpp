// The same model under other names, declared in another order: neither means anything.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "property/written_case.hpp"

namespace plated::test {

/// Renames all dims of a case and shuffles the order of their declaration. Lengths must not have been given yet: the
/// order of their axes is that of declaration.
class Disguise {
 public:
  Disguise(Case& c, Random& random) {
    std::vector<std::string> fresh;
    for (char letter = 'a'; letter <= 'z'; ++letter) {
      fresh.emplace_back(1, letter);
      fresh.push_back(std::string(1, letter) + "2");
    }
    random.shuffle(fresh);
    for (auto* list : {&c.plates, &c.batch, &c.variables}) {
      for (Case::Dimension& d : *list) rename(d.name, fresh);
    }
    for (Case::Chained& d : c.chains) rename(d.name, fresh);
    for (Case::Chained& d : c.chains) {
      for (auto& [source, target] : d.links) {
        source = named(source);
        target = named(target);
      }
    }
    for (Case::Dimension& d : c.variables) {
      if (d.stated) *d.stated = named(*d.stated);
    }
    for (Case::Term& f : c.factors) f = {named(f.dims), named(f.tied)};
    for (Case::Names& o : c.outputs) o = named(o);
    for (const auto& [from, to] : names_) c.order.push_back(to);
    random.shuffle(c.order);
  }

  [[nodiscard]] std::string named(const std::string& name) const {
    if (name.starts_with('^')) return first(names_.at(name.substr(1)));
    if (name.ends_with('$')) return last(names_.at(name.substr(0, name.size() - 1)));
    return names_.at(name);
  }

 private:
  void rename(std::string& name, std::vector<std::string>& fresh) {
    names_.emplace(name, fresh.back());
    name = fresh.back();
    fresh.pop_back();
  }
  [[nodiscard]] Case::Names named(Case::Names list) const {
    for (std::string& name : list) name = named(name);
    return list;
  }

  std::map<std::string, std::string> names_;
};

}  // namespace plated::test
