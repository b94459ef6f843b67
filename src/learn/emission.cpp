// Starts, counts and estimates the parameters of likelihoods.
#include "learn/emission.hpp"

#include <algorithm>

#include "engine/thread_pool.hpp"
#include "graph/spell.hpp"
#include "learn/blocks.hpp"
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

Emission::Emission(const Model& model, std::vector<std::size_t> factors, const Blocks& blocks, bool each)
    : factors_(std::move(factors)),
      measured_(measured_by(model, factors_)),
      components_(model::components_of(*model::likelihood_of(model, factors_[0]), measured_)),
      sample_(sample_of(components_, measured_)),
      cells_(each ? blocks.count() : 1),
      names_(names_of(model, factors_[0], measured_[0])) {
  const auto add_cells = [&](std::size_t block, const std::vector<double>& numbers,
                             const std::vector<std::uint32_t>& groups) {
    cells_[block].emplace_back(components_.density(), components_.inflated(), numbers, groups);
  };
  std::vector<std::vector<double>> all_numbers(factors_.size());
  std::vector<std::vector<std::uint32_t>> all_groups(factors_.size());
  for (std::size_t k = 0; k < factors_.size(); ++k) {
    model::check_support(model, factors_[k], measured_[k], components_);
    if (!blocks.is_cut()) add_cells(0, measured_[k].numbers, measured_[k].groups);
    measured_[k].numbers = {};
    measured_[k].groups = {};
  }
  for (std::size_t block = 0; blocks.is_cut() && block < blocks.count(); ++block) {
    const Model part = blocks.model(block);
    for (std::size_t k = 0; k < factors_.size(); ++k) {
      const model::Measured own = model::measured(part, factors_[k]);
      if (each) {
        add_cells(block, own.numbers, own.groups);
        continue;
      }
      all_numbers[k].insert(all_numbers[k].end(), own.numbers.begin(), own.numbers.end());
      all_groups[k].insert(all_groups[k].end(), own.groups.begin(), own.groups.end());
      if (block + 1 == blocks.count()) add_cells(0, all_numbers[k], all_groups[k]);
    }
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

std::size_t Emission::range_size() const {
  // A few tenths of a millisecond each, and what they sum takes less memory than what they read.
  return std::max<std::size_t>(
      {1024, (std::size_t{1} << 18) / std::max<std::size_t>(components_.parents(), 1), 4 * components_.statistics()});
}

template <class Run>
void Emission::each_range(const likelihood::Cells& cells, int threads, const Run& run) const {
  const std::size_t size = range_size();
  auto task = [&](std::int64_t k, int /*worker*/) {
    const std::size_t begin = static_cast<std::size_t>(k) * size;
    run(static_cast<std::size_t>(k), likelihood::Range{.begin = begin, .end = std::min(begin + size, cells.size())});
  };
  engine::parallel_for(static_cast<std::int64_t>((cells.size() + size - 1) / size),
                       threads > 0 ? threads : engine::hardware_threads(), engine::TaskRef(task));
}

void Emission::write(std::span<const double> parameters, const Operands& operands) const {
  const likelihood::Prepared prepared = components_.prepared(parameters);
  for (std::size_t k = 0; k < factors_.size(); ++k) {
    const likelihood::Cells& cells = cells_[operands.block][k];
    each_range(cells, operands.threads, [&](std::size_t, likelihood::Range range) {
      components_.write(prepared, cells, range, operands.logs[factors_[k]]);
    });
  }
}

void Emission::count(const likelihood::Prepared& prepared, const likelihood::Cells& cells, const double* counts,
                     int threads, std::span<double> statistics) const {
  const std::size_t ranges = (cells.size() + range_size() - 1) / range_size();
  // Sums of ranges are added in their order, whoever took them.
  std::vector<double> sums(ranges * statistics.size());
  each_range(cells, threads, [&](std::size_t k, likelihood::Range range) {
    components_.count(prepared, cells, range, counts,
                      std::span(sums).subspan(k * statistics.size(), statistics.size()));
  });
  for (std::size_t k = 0; k < sums.size(); ++k) statistics[k % statistics.size()] += sums[k];
}

void Emission::count(std::span<const double> parameters, std::size_t k, const double* numbers, int threads,
                     std::span<double> statistics) const {
  count(components_.prepared(parameters), cells(k), numbers, threads, statistics);
}

void Emission::count(std::span<const double> parameters, const Operands& operands, std::span<double> statistics) const {
  const likelihood::Prepared prepared = components_.prepared(parameters);
  for (std::size_t k = 0; k < factors_.size(); ++k) {
    count(prepared, cells_[operands.block][k], operands.counts[factors_[k]], operands.threads, statistics);
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
