// Runs the statements of a program: each adds dims and a table to its trace.
#include "program.hpp"

#include <ATen/ATen.h>

#include <algorithm>

#include "plated/error.hpp"

namespace plated::torch {

namespace {

Dims dims_of(const std::vector<Plate>& plates) {
  Dims result;
  result.reserve(plates.size());
  for (const Plate& plate : plates) result.push_back(plate.dim());
  return result;
}

bool has(const Dims& dims, const DimPointer& dim) { return std::ranges::find(dims, dim) != dims.end(); }

}  // namespace

Program::Program() : impl_(std::make_unique<Impl>()) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Plate Program::plate(const std::string& name, std::int64_t size, const PlateOptions& options) {
  std::int64_t slices = size;
  if (options.batch.defined()) {
    slices = options.batch.size(0);
    if (slices == 0) throw SizeError("no slice of the subsampled plate '" + name + "' was taken");
    if (!options.lengths.empty()) throw OptionError("plate '" + name + "' is subsampled and has lengths: one of them");
  }
  const double scale = static_cast<double>(size) / static_cast<double>(slices == 0 ? 1 : slices);
  Plate made(impl_->trace.add_plate(name, DimKind::plate, slices, slices == 0 ? 1 : scale), options.batch);
  impl_->add_lengths(name, options);
  impl_->known_plates.emplace(made.dim(), made);
  return made;
}

Plate Program::chain(const std::string& name, std::int64_t size, const PlateOptions& options) {
  if (options.batch.defined()) throw OptionError("chain '" + name + "' cannot be subsampled: its slices are in order");
  Plate made(impl_->trace.add_plate(name, DimKind::chain, size, 1), {});
  impl_->add_lengths(name, options);
  impl_->known_plates.emplace(made.dim(), made);
  return made;
}

Program::Scope::Scope(Program& program, const std::vector<Plate>& plates) : program_(program), count_(plates.size()) {
  (void)program.impl_->trace.plates_of("a scope", dims_of(plates));  // refuses one that is entered twice
  for (const Plate& plate : plates) program.impl_->trace.enter(plate.dim());
}

Program::Scope::~Scope() {
  for (std::size_t k = 0; k < count_; ++k) program_.impl_->trace.leave();
}

Value Program::sample(const std::string& name, const Distribution& distribution, const std::vector<Plate>& plates) {
  const Value table = distribution.log_states();
  if (table.own_axes() != 1) {
    throw OptionError("'" + name + "' is a latent " + distribution.name() +
                      ", which has no finite number of states to sum over: make it a parameter, or observe it");
  }
  Site site{.name = name, .distribution = distribution.name(), .axes = table.axes()};
  site.plates = impl_->trace.plates_of(name, dims_of(plates));
  for (const DimPointer& axis : site.axes) Trace::check_axis(name, site.plates, axis);
  site.variable = impl_->trace.add_variable(name, table.tensor().size(-1), site.plates);
  site.axes.push_back(site.variable);
  const DimPointer variable = site.variable;
  impl_->add_site(std::move(site), table.tensor(), distribution);
  return Value::states(variable);
}

Value Program::observe(const std::string& name, const Distribution& distribution, const at::Tensor& data,
                       const std::vector<Plate>& plates, const ObserveOptions& options) {
  const Dims all = impl_->trace.plates_of(name, dims_of(plates));
  const auto expected = static_cast<std::int64_t>(all.size()) + distribution.event_axes();
  if (data.dim() != expected) {
    throw RankError("the data of '" + name + "' has " + std::to_string(data.dim()) + " axes, not " +
                    std::to_string(expected) + ": one for each of " + quoted(all));
  }
  std::vector<Plate> around;
  for (const DimPointer& dim : all) {
    const auto listed = std::ranges::find(plates, dim, &Plate::dim);
    around.push_back(listed != plates.end() ? *listed : impl_->known_plates.at(dim));
  }
  return impl_->observe(name, distribution, Value(data, around), all, options);
}

Value Program::observe(const std::string& name, const Distribution& distribution, const Value& data,
                       const std::vector<Plate>& plates, const ObserveOptions& options) {
  return impl_->observe(name, distribution, data, impl_->trace.plates_of(name, dims_of(plates)), options);
}

Value Program::Impl::observe(const std::string& name, const Distribution& distribution, const Value& data,
                             const Dims& plates, const ObserveOptions& options) {
  for (const DimPointer& axis : data.axes()) {
    if (axis->kind == DimKind::variable) {
      throw OptionError("the data of '" + name + "' depends on '" + axis->name + "', which is not observed");
    }
    Trace::check_axis(name, plates, axis);
  }
  Site site{.name = name, .distribution = distribution.name(), .plates = plates, .observed = true};
  if (distribution.log_states().own_axes() != 1) {
    add_observed_numbers(std::move(site), distribution, data, options);
    return data;
  }
  Value states = data;
  if (at::isFloatingType(data.tensor().scalar_type())) {
    states = Value(data.tensor().nan_to_num(-1).to(at::kLong), data.axes());
  }
  for (const Value& mask : options.mask) {
    states = map_entries({states, mask}, [](const std::vector<at::Tensor>& t) {
      return at::where(t[1].to(at::kBool), t[0].to(at::kLong), -1);
    });
  }
  add_observed_states(std::move(site), distribution, states);
  return data;
}

void Program::Impl::add_observed_states(Site site, const Distribution& distribution, const Value& data) {
  // The table stays as small as it is: Plated reads it at the observed states.
  const Value table = distribution.log_states();
  site.axes = table.axes();
  for (const DimPointer& axis : site.axes) Trace::check_axis(site.name, site.plates, axis);
  at::Tensor states = in_order(site.name, data, site.plates);
  site.variable = trace.add_variable(site.name, table.tensor().size(-1), site.plates);
  site.axes.push_back(site.variable);
  given[site.name] = std::move(states);
  add_site(std::move(site), table.tensor(), distribution);
}

void Program::Impl::add_observed_numbers(Site site, const Distribution& distribution, Value data,
                                         const ObserveOptions& options) {
  std::vector<Value> seen = options.mask;
  const at::Tensor& numbers = data.tensor();
  if (distribution.event_axes() == 0 && !numbers.requires_grad()) {
    const at::Tensor missing =
        distribution.discrete() && !at::isFloatingType(numbers.scalar_type()) ? numbers < 0 : numbers.isnan();
    if (missing.any().item<bool>()) seen.emplace_back(missing.logical_not(), data.axes());
  }
  for (const Value& mask : seen) {
    data = map_entries({data, mask}, [&](const std::vector<at::Tensor>& t) {
      return at::where(t[1].to(at::kBool), t[0].to(at::kDouble), distribution.within());
    });
  }
  Value density = distribution.log_prob(data);
  for (const Value& mask : seen) {
    density = map_entries({density, mask}, [](const std::vector<at::Tensor>& t) {
      return at::where(t[1].to(at::kBool), t[0], at::scalar_tensor(0.0, t[0].options()));
    });
  }
  if (density.own_axes() != 0) {
    throw RankError("the " + distribution.name() + " of '" + site.name + "' has an axis without a name");
  }
  site.axes = density.axes();
  add_site(std::move(site), density.tensor(), distribution);
}

void Program::Impl::add_site(Site site, const at::Tensor& table, const Distribution& distribution) {
  trace.add_site(std::move(site));
  tables.push_back(table);
  distributions.push_back(distribution.with([](const Value& parameter) { return parameter; }));
}

void Program::Impl::add_lengths(const std::string& name, const PlateOptions& options) {
  for (const Value& counts : options.lengths) {
    lengths.insert_or_assign(name, Value(in_order(name, counts, counts.axes()), trace.in_order(counts.axes())));
  }
}

std::vector<std::int64_t> Program::Impl::shape_of(const Dims& plates) const {
  std::vector<std::int64_t> shape;
  for (const DimPointer& plate : trace.in_order(plates)) shape.push_back(plate->size);
  return shape;
}

at::Tensor Program::Impl::in_order(const std::string& site, const Value& value, const Dims& plates) const {
  if (value.own_axes() != 0) throw RankError("the integers of '" + site + "' have an axis without a name");
  std::vector<std::int64_t> order;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> full;
  for (const DimPointer& plate : trace.in_order(plates)) {
    const auto found = std::ranges::find(value.axes(), plate);
    const bool here = found != value.axes().end();
    if (here) order.push_back(found - value.axes().begin());
    shape.push_back(here ? plate->size : 1);
    full.push_back(plate->size);
  }
  return value.tensor().permute(order).reshape(shape).expand(full);
}

std::vector<Value> Program::markov(const Plate& chain, const std::vector<Value>& before, const Body& body) {
  Trace& trace = impl_->trace;
  if (chain.dim()->kind != DimKind::chain) {
    throw OptionError("markov runs along a chain, and '" + chain.name() + "' is a plate: make it with chain()");
  }
  if (has(trace.scopes(), chain.dim())) throw DuplicateNameError("markov along '" + chain.name() + "' inside of it");
  std::vector<Value> given;
  Dims inside;
  for (const Value& state : before) {
    if (!state.variable())
      throw OptionError("a state before '" + chain.name() + "' is computed: give a sampled variable");
    inside.push_back(trace.begin(chain.dim(), state.variable()));
    given.push_back(Value::states(inside.back()));
  }
  std::vector<Value> after;
  {
    const Scope scope(*this, {chain});
    after = body(given);
  }
  if (after.size() != before.size()) {
    throw OptionError("the body of '" + chain.name() + "' is given " + std::to_string(before.size()) +
                      " states and returns " + std::to_string(after.size()));
  }
  std::vector<Value> last;
  for (std::size_t k = 0; k < after.size(); ++k) {
    if (!after[k].variable()) {
      throw OptionError("the body of '" + chain.name() + "' returns what is computed: return sampled variables");
    }
    last.push_back(Value::states(trace.end(chain.dim(), inside[k], after[k].variable())));
  }
  return last;
}

void Program::condition(const std::string& name, const at::Tensor& states) {
  const DimPointer variable = impl_->trace.variable(name);
  if (states.sizes() != at::IntArrayRef(impl_->shape_of(variable->plates))) {
    throw SizeError("states are given of '" + name + "' that have not the sizes of its plates, " +
                    quoted(impl_->trace.in_order(variable->plates)));
  }
  impl_->given[name] = states;
}

void Program::replay(const std::map<std::string, at::Tensor>& states) {
  for (const auto& [name, given] : states) condition(name, given);
}

}  // namespace plated::torch
