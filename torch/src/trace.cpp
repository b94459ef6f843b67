// Records the dims, sites and links of a program, and checks that they fit.
#include "trace.hpp"

#include <algorithm>

#include "plated/error.hpp"

namespace plated::torch {

std::string quoted(const Dims& dims) {
  std::string text;
  for (const DimPointer& dim : dims) text += (text.empty() ? "'" : ", '") + dim->name + "'";
  return text.empty() ? "none" : text;
}

std::shared_ptr<Dim> Trace::add(Dim dim) {
  for (const auto& other : dims_) {
    if (other->name == dim.name) throw DuplicateNameError("the program has '" + dim.name + "' twice");
  }
  if (dim.spelled.empty()) dim.spelled = dim.name;
  return dims_.emplace_back(std::make_shared<Dim>(std::move(dim)));
}

DimPointer Trace::add_plate(std::string name, DimKind kind, std::int64_t size, double scale) {
  if (size < 0) throw SizeError("'" + name + "' has a negative size");
  return add({.name = std::move(name), .kind = kind, .size = size, .scale = scale});
}

DimPointer Trace::add_variable(std::string name, std::int64_t states, const Dims& plates) {
  return add({.name = std::move(name), .kind = DimKind::variable, .size = states, .plates = plates});
}

Dims Trace::plates_of(const std::string& site, const Dims& listed) const {
  Dims result = scopes_;
  for (const DimPointer& plate : listed) {
    if (std::ranges::find(dims_, plate) == dims_.end()) {
      throw UnknownNameError("site '" + site + "' is in '" + plate->name + "', a plate of another program");
    }
    if (std::ranges::find(result, plate) != result.end()) {
      throw DuplicateNameError("site '" + site + "' is in plate '" + plate->name +
                               "' twice; a site is in the plates of the scopes around it, and in those that it lists");
    }
    result.push_back(plate);
  }
  return result;
}

void Trace::check_axis(const std::string& site, const Dims& plates, const DimPointer& axis) {
  const auto is_in = [&](const DimPointer& plate) { return std::ranges::find(plates, plate) != plates.end(); };
  if (axis->kind != DimKind::variable) {
    if (!is_in(axis)) {
      throw PlateError("site '" + site + "' uses a value that differs along '" + axis->name +
                       "', and is not in it: list '" + axis->name + "' among its plates");
    }
    return;
  }
  const auto outside = std::ranges::find_if_not(axis->plates, is_in);
  if (outside != axis->plates.end()) {
    const std::string& plate = (*outside)->name;
    throw PlateError("site '" + site + "' uses '" + axis->name + "' outside of its plate '" + plate + "': list '" +
                     plate + "' among the plates of '" + site + "'");
  }
  if (axis->chain && is_in(axis->chain)) {
    throw PlateError("site '" + site + "' uses '" + axis->name + "', an end of the chain '" + axis->chain->name +
                     "', inside of it: use the states that the body of markov is given");
  }
}

void Trace::add_site(Site site) {
  for (const Site& other : sites_) {
    if (other.name == site.name) throw DuplicateNameError("the program has two sites '" + site.name + "'");
  }
  for (const DimPointer& axis : site.axes) check_axis(site.name, site.plates, axis);
  sites_.push_back(std::move(site));
}

namespace {

bool same(Dims a, Dims b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  return a == b;
}

}  // namespace

DimPointer Trace::begin(const DimPointer& chain, const DimPointer& state) {
  if (state->chain) {
    throw PlateError("'" + state->name + "' is an end of the chain '" + state->chain->name +
                     "' already, and cannot begin '" + chain->name + "'");
  }
  if (!same(state->plates, scopes_)) {
    throw PlateError("'" + state->name + "' begins the chain '" + chain->name + "' and lives in " +
                     quoted(state->plates) + ", the chain in " + quoted(scopes_) + ": they have to be the same");
  }
  Dims plates = scopes_;
  plates.push_back(chain);
  DimPointer inside = add_variable(chain->name + "_" + state->name, state->size, plates);
  const auto mine = std::ranges::find(dims_, state);
  (*mine)->chain = chain;
  (*mine)->of = inside;
  (*mine)->end = End::first;
  (*mine)->spelled = first(inside->name);
  return inside;
}

DimPointer Trace::end(const DimPointer& chain, const DimPointer& before, const DimPointer& after) {
  if (!same(before->plates, after->plates)) {
    throw PlateError("'" + after->name + "' follows a state along '" + chain->name + "' and lives in " +
                     quoted(after->plates) + ", the state in " + quoted(before->plates) + ": they have to be the same");
  }
  if (before->size != after->size) {
    throw SizeError("'" + after->name + "' has " + std::to_string(after->size) +
                    " states, and the state before it along '" + chain->name + "' has " + std::to_string(before->size));
  }
  links_.push_back({chain, before, after});
  return add({.name = last(after->name),
              .kind = DimKind::variable,
              .size = after->size,
              .plates = scopes_,
              .chain = chain,
              .of = after,
              .end = End::last});
}

DimPointer Trace::variable(const std::string& name) const {
  Dims known;
  for (const Site& site : sites_) {
    if (!site.variable || site.observed) continue;
    if (site.variable->name == name) return site.variable;
    known.push_back(site.variable);
  }
  throw UnknownNameError("the program samples no '" + name + "'; it samples " + quoted(known));
}

}  // namespace plated::torch
