// Starts, counts and normalises the rows of a conditional distribution.
#include "learn/table.hpp"

#include <algorithm>
#include <cmath>

#include "graph/derived.hpp"
#include "graph/spell.hpp"
#include "model/learning.hpp"
#include "plated/error.hpp"

namespace plated::learn {
namespace {

std::vector<double> prior_of(const Model& model, const std::vector<std::size_t>& factors, std::size_t entries,
                             double pseudo_count) {
  for (const std::size_t factor : factors) {
    const auto found = model.learning.find(model.graph.factors()[factor].name);
    if (found == model.learning.end() || found->second.prior.data() == nullptr) continue;
    const Tensor& prior = found->second.prior;
    return prior.rank() == 0 ? std::vector<double>(entries, prior.item()) : prior.values();
  }
  return pseudo_count > 0 ? std::vector<double>(entries, pseudo_count) : std::vector<double>{};
}

}  // namespace

template <class Visit>
void Table::each_row(const Visit& visit) const {
  for (std::size_t o = 0; o < outer_; ++o) {
    for (std::size_t i = 0; i < inner_; ++i) visit(o * states_ * inner_ + i);
  }
}

Table::Table(const Model& model, std::vector<std::size_t> factors, double pseudo_count, bool observed)
    : factors_(std::move(factors)), observed_(observed) {
  const std::size_t first = factors_[0];
  const Tensor& numbers = model.factors[first];
  axis_ = model::child_axis(model, first);
  for (std::size_t a = 0; a < numbers.rank(); ++a) {
    const auto extent = static_cast<std::size_t>(numbers.shape()[a]);
    (a < axis_ ? outer_ : a == axis_ ? states_ : inner_) *= extent;
  }
  start_ = numbers.values();
  if (model.space == Space::log)
    std::transform(start_.begin(), start_.end(), start_.begin(), [](double x) { return std::exp(x); });
  const std::string& name = model.graph.factors()[first].name;
  const auto learning = model.learning.find(name);
  started_ = learning == model.learning.end() || learning->second.started;
  normalise_start(name);
  pseudo_ = prior_of(model, factors_, start_.size(), pseudo_count);
  for (std::size_t k = 0; k < pseudo_.size(); ++k) pseudo_[k] = start_[k] > 0 ? pseudo_[k] : 0;
}

void Table::normalise_start(const std::string& name) {
  each_row([&](std::size_t row) {
    double sum = 0;
    for (std::size_t k = 0; k < states_; ++k) sum += start_[row + k * inner_];
    if (!(sum > 0)) throw ValueError("factor " + graph::quoted(name) + " cannot be learnt: a row of it is all zeros");
    for (std::size_t k = 0; k < states_; ++k) start_[row + k * inner_] /= sum;
  });
}

std::int64_t Table::free() const {
  std::int64_t count = 0;
  each_row([&](std::size_t row) {
    for (std::size_t k = 0; k < states_; ++k) count += start_[row + k * inner_] > 0 ? 1 : 0;
    --count;
  });
  return count;
}

void Table::start(std::span<double> parameters, base::Random& random) const {
  if (!started_) return draw(parameters, random);
  std::copy(start_.begin(), start_.end(), parameters.begin());
}

void Table::draw(std::span<double> parameters, base::Random& random) const {
  each_row([&](std::size_t row) {
    double sum = 0;
    for (std::size_t k = 0; k < states_; ++k) {
      const std::size_t at = row + k * inner_;
      const double uniform = random.uniform();
      // Exponential numbers make a row uniform over all distributions. Rows of what is observed must not differ by more
      // than a few times: with many children, a few states would be nearer to all data than others, and keep them.
      const double drawn = centre_.empty() ? -std::log1p(-uniform) + 1e-9 : centre_[at] * std::exp(2 * uniform - 1);
      sum += parameters[at] = start_[at] > 0 ? drawn : 0;
    }
    for (std::size_t k = 0; k < states_; ++k) parameters[row + k * inner_] /= sum;
  });
}

void Table::even(std::span<double> parameters, base::Random& /*random*/) const {
  each_row([&](std::size_t row) {
    double count = 0;
    for (std::size_t k = 0; k < states_; ++k) count += start_[row + k * inner_] > 0 ? 1 : 0;
    for (std::size_t k = 0; k < states_; ++k) {
      parameters[row + k * inner_] = start_[row + k * inner_] > 0 ? 1 / count : 0;
    }
  });
}

void Table::centre(std::span<const double> statistics) {
  if (!observed_) return;
  constexpr double unseen = 1e-3;  // the share of states that were not observed: zeros would stay so
  base::Random none(0);
  std::vector<double> rows(size());
  even(rows, none);
  centre_ = rows;
  std::vector<std::string> nobody;
  maximise(centre_, statistics, nobody);
  for (std::size_t k = 0; k < size(); ++k) centre_[k] += unseen * (rows[k] - centre_[k]);
}

double Table::log_prior(std::span<const double> parameters) const {
  double sum = 0;
  for (std::size_t k = 0; k < pseudo_.size(); ++k) {
    if (pseudo_[k] > 0) sum += pseudo_[k] * std::log(parameters[k]);
  }
  return sum;
}

void Table::write(std::span<const double> parameters, const Operands& operands) const {
  double* const first = operands.logs[factors_[0]];
  const std::size_t rows = outer_ * inner_;
  each_row([&](std::size_t row) {
    double* const logs = first + place(row);
    for (std::size_t k = 0; k < states_; ++k) logs[k * rows] = std::log(parameters[row + k * inner_]);
  });
  for (const std::size_t factor : factors_) {
    if (operands.logs[factor] != first) std::copy_n(first, size(), operands.logs[factor]);
  }
}

double Table::counted(std::size_t entry, const Operands& operands) const {
  double count = pseudo_.empty() ? 0 : pseudo_[entry];
  for (const std::size_t factor : factors_) count += operands.counts[factor][place(entry)];
  return count;
}

void Table::each_row_entries(const std::function<void(const std::vector<std::size_t>&)>& visit) const {
  std::vector<std::size_t> entries;
  each_row([&](std::size_t row) {
    entries.clear();
    for (std::size_t k = 0; k < states_; ++k) {
      if (start_[row + k * inner_] > 0) entries.push_back(row + k * inner_);
    }
    visit(entries);
  });
}

void Table::count(std::span<const double> /*parameters*/, const Operands& operands,
                  std::span<double> statistics) const {
  const std::size_t rows = outer_ * inner_;
  for (const std::size_t factor : factors_) {
    const double* const counts = operands.counts[factor];
    each_row([&](std::size_t row) {
      const std::size_t first = place(row);
      for (std::size_t k = 0; k < states_; ++k) statistics[row + k * inner_] += counts[first + k * rows];
    });
  }
}

void Table::maximise(std::span<double> parameters, std::span<const double> statistics,
                     std::vector<std::string>& /*notes*/) const {
  each_row([&](std::size_t row) {
    const auto count = [&](std::size_t at) { return pseudo_.empty() ? statistics[at] : pseudo_[at] + statistics[at]; };
    double sum = 0;
    for (std::size_t k = 0; k < states_; ++k) sum += count(row + k * inner_);
    if (!(sum > 0)) return;  // nothing reaches the row
    for (std::size_t k = 0; k < states_; ++k) parameters[row + k * inner_] = count(row + k * inner_) / sum;
  });
}

void Table::restrain(std::span<double> parameters, std::span<const double> step) const {
  // Entries may fall to a hundredth of where the step is, no further: a zero would stay one for ever.
  constexpr double least = 0.01;
  each_row([&](std::size_t row) {
    double share = 1;
    for (std::size_t k = 0; k < states_; ++k) {
      const std::size_t at = row + k * inner_;
      const double room = step[at] * (1 - least);
      if (step[at] - parameters[at] > room) share = std::min(share, room / (step[at] - parameters[at]));
    }
    double sum = 0;
    for (std::size_t k = 0; k < states_; ++k) {
      const std::size_t at = row + k * inner_;
      // What the step has made zero stays so.
      sum += parameters[at] = step[at] > 0 ? step[at] + share * (parameters[at] - step[at]) : 0;
    }
    for (std::size_t k = 0; k < states_; ++k) parameters[row + k * inner_] /= sum;
  });
}

void Table::store(std::span<const double> parameters, Model& model) const {
  for (const std::size_t f : factors_) {
    Tensor& numbers = model.factors[f];
    Tensor fitted = Tensor::uninitialised(numbers.dtype(), numbers.shape());
    const auto fill = [&]<class T>(T* entries) {
      for (std::size_t k = 0; k < parameters.size(); ++k) {
        entries[k] = static_cast<T>(model.space == Space::log ? std::log(parameters[k]) : parameters[k]);
      }
    };
    if (numbers.dtype() == Dtype::float32) {
      fill(static_cast<float*>(fitted.mutable_data()));
    } else {
      fill(static_cast<double*>(fitted.mutable_data()));
    }
    numbers = std::move(fitted);
    Factor factor = model.graph.factors()[f];
    factor.distribution_of = factor.dims[axis_];
    factor.trusted = true;
    graph::Derived::put_factor(model.graph, f, std::move(factor));
    const auto learning = model.learning.find(model.graph.factors()[f].name);
    if (learning != model.learning.end()) learning->second.started = true;
  }
}

}  // namespace plated::learn
