// Draws of a program's data: from the prior, and from the posterior.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

#include "plated/error.hpp"
#include "program.hpp"

namespace plated::torch {

namespace {

/// A generator for each draw: which ones are asked for together changes none of them.
at::Generator generator_of(std::uint64_t seed, std::int64_t draw) {
  std::uint64_t mixed = seed + 0x9e3779b97f4a7c15U * (static_cast<std::uint64_t>(draw) + 1);  // splitmix64
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
  return at::detail::createCPUGenerator(mixed ^ (mixed >> 31U));
}

at::Tensor and_of(const std::vector<at::Tensor>& t) { return at::logical_and(t[0], t[1]); }

/// The states of one draw, by variable.
using States = std::map<DimPointer, Value>;

/// The data of one site, drawn given states.
class DrawnSite {
 public:
  DrawnSite(const Site& site, const std::map<std::string, Value>& lengths, const States& states)
      : site_(site), states_(states), exists_(at::scalar_tensor(true, at::kBool)) {
    for (const DimPointer& plate : site.plates) {
      const auto counts = lengths.find(plate->name);
      if (counts == lengths.end()) continue;
      const Value number(at::arange(plate->size, at::kLong), std::vector{plate});
      limit_to(map_entries({number, counts->second}, [](const auto& t) { return t[0] < t[1]; }));
    }
  }

  at::Tensor draw(const Distribution& distribution, const at::Generator& generator) {
    const auto given = distribution.with([&](const Value& parameter) { return at_states(parameter); });
    const Value data = given->draw(site_.plates, generator);
    const double missing = distribution.discrete() ? -1 : NAN;
    const at::Tensor known =
        map_entries({data, exists_}, [&](const auto& t) { return at::where(t[1], t[0], missing); }).tensor();
    return distribution.discrete() ? known.to(at::kLong) : known;
  }

 private:
  void limit_to(const Value& mask) { exists_ = map_entries({exists_, mask}, and_of); }

  /// A parameter without the axes of variables: its entries at their states.
  Value at_states(const Value& parameter) {
    Dims plates;
    std::vector<std::int64_t> order;
    std::vector<std::int64_t> variables;
    std::vector<Value> indices;
    for (std::size_t k = 0; k < parameter.axes().size(); ++k) {
      const DimPointer& axis = parameter.axes()[k];
      const auto axis_number = static_cast<std::int64_t>(k);
      if (axis->kind != DimKind::variable) {
        plates.push_back(axis);
        order.push_back(axis_number);
        continue;
      }
      variables.push_back(axis_number);
      const Value& states = states_.at(axis);
      limit_to({states.tensor() >= 0, states.axes()});
      indices.emplace_back(states.tensor().clamp_min(0), states.axes());
    }
    order.insert(order.end(), variables.begin(), variables.end());
    for (auto k = static_cast<std::int64_t>(order.size()); k < parameter.tensor().dim(); ++k) order.push_back(k);
    return Value(parameter.tensor().detach().permute(order), std::move(plates)).index(indices);
  }

  const Site& site_;
  const States& states_;
  Value exists_;
};

}  // namespace

std::map<std::string, at::Tensor> Program::Impl::predicted(const std::map<std::string, at::Tensor>& found,
                                                           const SampleOptions& draws) const {
  std::map<std::string, at::Tensor> result;
  for (const DimPointer& variable : asked()) result[variable->name] = states_of(variable, found);
  std::map<DimPointer, at::Tensor> known;  // all draws of each variable's states
  for (const auto& dim : trace.dims()) {
    if (dim->kind == DimKind::variable && found.contains(dim->of ? dim->of->name : dim->name)) {
      known.emplace(dim, states_of(dim, found));
    }
  }
  std::map<std::string, std::vector<at::Tensor>> data;
  for (std::int64_t k = 0; k < draws.count; ++k) {
    States states;
    for (const auto& [dim, all] : known) states.emplace(dim, Value(all[k], trace.in_order(dim->plates)));
    const at::Generator generator = generator_of(draws.seed, draws.first + k);
    for (std::size_t s = 0; s < trace.sites().size(); ++s) {
      const Site& site = trace.sites()[s];
      if (!site.observed) continue;
      if (!distributions[s]) {
        throw OptionError("'" + site.name + "' is observed, and its " + site.distribution +
                          " does not say how it is drawn from: it needs with() and draw()");
      }
      data[site.name].push_back(DrawnSite(site, lengths, states).draw(*distributions[s], generator));
    }
  }
  for (const auto& [name, all] : data) result.emplace(name, at::stack(all));
  return result;
}

std::map<std::string, at::Tensor> Program::simulate(const SampleOptions& draws, const RunOptions& options) const {
  const Impl prior = impl_->without_observations();
  return impl_->predicted(prior.tables.empty() ? std::map<std::string, at::Tensor>() : prior.samples(draws, options),
                          draws);
}

std::map<std::string, at::Tensor> Program::posterior_predictive(const SampleOptions& draws,
                                                                const RunOptions& options) const {
  return impl_->predicted(impl_->samples(draws, options), draws);
}

}  // namespace plated::torch
