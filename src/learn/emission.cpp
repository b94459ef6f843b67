// Starts, counts and estimates the parameters of likelihoods.
#include "learn/emission.hpp"

#include <algorithm>

#include "graph/spell.hpp"
#include "learn/minibatches.hpp"
#include "model/likelihoods.hpp"
#include "plated/error.hpp"

namespace plated::learn {
namespace {

std::vector<model::Measured> measured_by(const Model& model, const std::vector<std::size_t>& factors) {
  std::vector<model::Measured> result;
  for (const std::size_t f : factors) {
    const std::string& name = model::measured_name(model, f);
    if (!model.measurements.contains(name)) {
      throw OptionError("the likelihood " + graph::quoted(model.graph.factors()[f].name) +
                        " cannot be learnt: there are no data of " + graph::quoted(name));
    }
    result.push_back(model::measured(model, f));
  }
  return result;
}

likelihood::Sampled sample_of(const likelihood::Components& components, const std::vector<model::Measured>& measured) {
  std::vector<std::vector<double>> numbers;
  numbers.reserve(measured.size());
  for (const model::Measured& one : measured) numbers.push_back(one.numbers);
  return likelihood::sampled(components, numbers);
}

/// "likelihood 'steps' (animal=3, state=rest)" for each component.
std::vector<std::string> names_of(const Model& model, std::size_t factor, const model::Measured& measured) {
  const std::vector<DimId>& dims = model.graph.factors()[factor].dims;
  const Tensor::Shape& shape = model.factors[factor].shape();
  const Tensor::Shape strides = Tensor::row_major(shape);
  std::vector<std::string> names;
  for (const std::size_t entry : measured.entries) {
    std::string where;
    for (std::size_t k = 0; k < dims.size(); ++k) {
      const Dim& dim = model.graph.dims()[dims[k]];
      const std::int64_t at = static_cast<std::int64_t>(entry) / strides[k] % shape[k];
      where += (where.empty() ? " (" : ", ") + dim.name + "=";
      where +=
          dim.kind == DimKind::variable && dim.end == End::none ? state_label(model, dim.name, at) : std::to_string(at);
    }
    names.push_back("likelihood " + graph::quoted(model.graph.factors()[factor].name) + where +
                    (where.empty() ? "" : ")"));
  }
  return names;
}

}  // namespace

Emission::Emission(const Model& model, std::vector<std::size_t> factors, const Minibatches* batches)
    : factors_(std::move(factors)),
      measured_(measured_by(model, factors_)),
      components_(model::components_of(*model::likelihood_of(model, factors_[0]), measured_)),
      sample_(sample_of(components_, measured_)),
      names_(names_of(model, factors_[0], measured_[0])) {
  const auto cells_of = [&](const model::Measured& one) {
    return likelihood::Cells(components_.density(), components_.inflated(), one.numbers, one.groups);
  };
  cells_.resize(batches == nullptr ? 1 : batches->count());
  for (std::size_t k = 0; k < factors_.size(); ++k) {
    model::check_support(model, factors_[k], measured_[k], components_);
    if (batches == nullptr) cells_[0].push_back(cells_of(measured_[k]));
    measured_[k].numbers = {};
    measured_[k].groups = {};
  }
  for (std::size_t block = 0; batches != nullptr && block < batches->count(); ++block) {
    const Model part = batches->model(block);
    for (const std::size_t f : factors_) cells_[block].push_back(cells_of(model::measured(part, f)));
  }
  std::size_t all = 0;
  for (std::size_t block = 0; block < cells_.size(); ++block) all += numbers(block);
  needed_ = std::min(all, 20 * components_.count());
  const Likelihood& first = *model::likelihood_of(model, factors_[0]);
  if (first.parameters.empty()) return;
  start_ = model::coordinates_of(first, measured_[0], components_);
  components_.clamp(start_);
}

void Emission::start(std::span<double> parameters, base::Random& random) const {
  if (start_.empty()) return draw(parameters, random);
  std::copy(start_.begin(), start_.end(), parameters.begin());
}

void Emission::draw(std::span<double> parameters, base::Random& random) const {
  likelihood::draw(components_, sample_, random, parameters);
}

void Emission::write(std::span<const double> parameters, const Operands& operands) const {
  for (std::size_t k = 0; k < factors_.size(); ++k) {
    components_.write(parameters, cells_[operands.block][k], operands.logs[factors_[k]]);
  }
}

void Emission::count(std::span<const double> parameters, const Operands& operands, std::span<double> statistics) const {
  for (std::size_t k = 0; k < factors_.size(); ++k) {
    components_.count(parameters, cells_[operands.block][k], operands.counts[factors_[k]], statistics);
  }
}

void Emission::maximise(std::span<double> parameters, std::span<const double> statistics,
                        std::vector<std::string>& notes) const {
  std::vector<likelihood::Verdict> verdicts(components_.count());
  components_.estimate(statistics, parameters, verdicts);
  for (std::size_t k = 0; k < verdicts.size(); ++k) {
    if (verdicts[k] == likelihood::Verdict::fine) continue;
    notes.push_back(names_[k] + (verdicts[k] == likelihood::Verdict::empty
                                     ? " has no weight: it keeps its parameters"
                                     : " is degenerate: " + std::string(components_.density().held())));
  }
}

void Emission::recentre(std::span<const double> from, std::span<const double> to, std::span<double> statistics) const {
  components_.recentre(from, to, statistics);
}

std::size_t Emission::numbers(std::size_t block) const {
  std::size_t sum = 0;
  for (const likelihood::Cells& cells : cells_[block]) sum += cells.seen();
  return sum;
}

void Emission::restrain(std::span<double> parameters, std::span<const double> step) const {
  components_.restrain(parameters, step);
}

void Emission::store(std::span<const double> parameters, Model& model) const {
  for (std::size_t k = 0; k < factors_.size(); ++k) {
    const std::size_t f = factors_[k];
    Likelihood& likelihood = model.likelihoods.find(model.graph.factors()[f].name)->second;
    model::put_parameters(parameters, measured_[k], components_, model.factors[f].shape(), likelihood);
  }
}

}  // namespace plated::learn
