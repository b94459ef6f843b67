// The factor graph of a program, its picture and its plan.
#include <algorithm>
#include <mutex>
#include <set>

#include "plated/error.hpp"
#include "trace.hpp"

namespace plated::torch {

namespace {

bool is_end(const Dim& dim) { return dim.chain != nullptr; }

/// Plans by the text of their graphs without sizes; the oldest are forgotten.
class Plans {
 public:
  template <class Make>
  Plan find_or(const std::string& key, Make make) {
    {
      const std::scoped_lock lock(mutex_);
      if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
    }
    Plan made = make();
    const std::scoped_lock lock(mutex_);
    if (plans_.size() >= most) plans_.clear();
    plans_.emplace(key, made);
    return made;
  }

 private:
  static constexpr std::size_t most = 256;
  std::mutex mutex_;
  std::map<std::string, Plan> plans_;
};

std::vector<std::string> names(const Dims& dims) {
  std::vector<std::string> result;
  result.reserve(dims.size());
  for (const DimPointer& dim : dims) result.push_back(dim->spelled);
  return result;
}

}  // namespace

bool Trace::scales_batches() const {
  return std::ranges::any_of(dims_, [](const auto& dim) { return dim->kind == DimKind::chain; }) &&
         std::ranges::any_of(dims_, [](const auto& dim) { return dim->scale != 1; });
}

Dims Trace::in_order(const Dims& plates) const {
  const bool batches = scales_batches();
  const auto rank = [&](const DimPointer& dim) {
    if (batches && dim->scale != 1) return 0;
    return dim->kind == DimKind::plate ? 1 : 2;
  };
  Dims result;
  for (int wanted = 0; wanted < 3; ++wanted) {
    for (const auto& dim : dims_) {
      if (std::ranges::find(plates, dim) != plates.end() && rank(dim) == wanted) result.push_back(dim);
    }
  }
  return result;
}

void Trace::declare(FactorGraph& graph) const {
  const bool batches = scales_batches();
  const auto is_batch = [&](const DimPointer& dim) { return batches && dim->scale != 1; };
  for (const auto& dim : dims_) {
    if (dim->kind == DimKind::plate) {
      if (is_batch(dim)) {
        graph.batch(dim->name, dim->size);
      } else {
        graph.plate(dim->name, dim->size);
      }
    } else if (dim->kind == DimKind::chain) {
      graph.chain(dim->name, dim->size);
    } else if (!is_end(*dim)) {
      Dims plates = dim->plates;
      std::erase_if(plates, is_batch);
      graph.variable(dim->name, dim->size, names(plates));
    }
  }
  for (const Linked& link : links_) graph.link(link.chain->name, link.before->name, link.after->name);
  for (const Site& site : sites_) {
    FactorOptions options{.trusted = true};
    for (const DimPointer& plate : site.plates) {
      if (!is_batch(plate) && std::ranges::find(site.axes, plate) == site.axes.end())
        options.tied.push_back(plate->name);
    }
    if (site.variable) options.distribution_of = site.variable->spelled;
    for (const auto& dim : dims_) {
      if (is_batch(dim) && std::ranges::find(site.plates, dim) == site.plates.end()) {
        throw OptionError("plate '" + dim->name + "' is subsampled beside a chain, and site '" + site.name +
                          "' is outside of it: its share in the sum cannot be told apart");
      }
    }
    graph.factor(site.name, names(site.axes), options);
  }
}

Trace Trace::without_observations() const {
  Trace result = *this;
  const auto observed = [&](const auto& dim) {
    return std::ranges::any_of(sites_, [&](const Site& site) { return site.observed && site.variable == dim; });
  };
  std::erase_if(result.dims_, observed);
  std::erase_if(result.sites_, [](const Site& site) { return site.observed; });
  return result;
}

FactorGraph Trace::graph() const {
  FactorGraph result;
  declare(result);
  return result;
}

std::pair<FactorGraph, std::vector<std::string>> Trace::picture() const {
  Trace drawn = *this;
  std::vector<std::string> observed;
  for (Site& site : drawn.sites_) {
    if (!site.observed) continue;
    if (!site.variable) {
      site.variable = drawn.add_variable(site.name, 1, site.plates);
      site.axes.push_back(site.variable);
    }
    observed.push_back(site.name);
  }
  return {drawn.graph(), std::move(observed)};
}

std::string Trace::key(const std::vector<std::string>& observable) const {
  std::string text = scales_batches() ? "batches" : "";
  for (const auto& dim : dims_) {
    text += '\n' + std::to_string(static_cast<int>(dim->kind)) + ' ' + dim->spelled;
    if (dim->kind != DimKind::variable) text += dim->scale == 1 ? "" : " scaled";
    if (dim->kind == DimKind::variable) text += ' ' + std::to_string(dim->size);
    for (const DimPointer& plate : dim->plates) text += ' ' + plate->name;
  }
  for (const Linked& link : links_) text += '\n' + link.chain->name + ' ' + link.before->name + ' ' + link.after->name;
  for (const Site& site : sites_) {
    text += '\n' + site.name + ':';
    for (const DimPointer& axis : site.axes) text += ' ' + axis->spelled;
    text += " in";
    for (const DimPointer& plate : site.plates) text += ' ' + plate->name;
  }
  text += "\nobserved";
  for (const std::string& name : observable) text += ' ' + name;
  return text;
}

Plan Trace::plan(const std::vector<std::string>& observable) const {
  static Plans plans;
  return plans.find_or(key(observable), [&] { return compile(graph(), {.observable = observable}); });
}

}  // namespace plated::torch
