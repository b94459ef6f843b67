// Standard errors of the parameters of likelihoods: derivatives of log-densities, chained with the model's information.
#include <algorithm>
#include <cmath>
#include <limits>

#include "learn/curved.hpp"
#include "learn/emission.hpp"
#include "model/likelihoods.hpp"

namespace plated::learn {
namespace {

/// One parameter of a component that is free; of a list of probabilities, the largest makes them sum to one.
struct FreeParameter {
  std::size_t component;
  std::size_t parameter;
  std::vector<double> first;  // [statistic]
};

constexpr std::size_t none = static_cast<std::size_t>(-1);

class CurvedEmission final : public Curved {
 public:
  CurvedEmission(const Model& model, const Emission& emission, std::span<const double> at, const Operands& operands)
      : model_(model),
        emission_(emission),
        components_(emission.components()),
        at_(at),
        threads_(operands.threads),
        statistics_(components_.statistics()),
        next_(at.begin(), at.end()),
        verdicts_(components_.count()),
        errors_(components_.size(), 0.0) {
    emission.count(at, operands, statistics_);
    components_.estimate(statistics_, next_, verdicts_);
    for (std::size_t k = 0; k < components_.count(); ++k) choose_free(k);
  }

  [[nodiscard]] std::size_t size() const override { return free_.size(); }
  [[nodiscard]] double own(std::size_t i) const override { return -curvature(i, i); }

  [[nodiscard]] double score(std::size_t i) const override {
    const FreeParameter& free = free_[i];
    double total = 0;
    for (std::size_t s = 0; s < free.first.size(); ++s) total += free.first[s] * sum_of(free.component, s);
    return total;
  }

  [[nodiscard]] bool move(std::span<const double> steps, std::span<double> parameters) const override {
    const likelihood::Density& density = components_.density();
    std::vector<double> numbers(components_.coordinates());
    for (std::size_t begin = 0, end = 0; begin < free_.size(); begin = end) {
      const std::size_t k = free_[begin].component;
      const std::span<double> at = components_.component(parameters, k);
      std::copy(at.begin(), at.end(), numbers.begin());
      density.to_parameters(at.first(density.coordinates()), std::span(numbers).first(density.coordinates()));
      for (end = begin; end < free_.size() && free_[end].component == k; ++end) {
        const std::size_t p = free_[end].parameter;
        numbers[p] += steps[end] * derivatives_[k].unit(p);
        if (p < probabilities()) numbers[references_[k]] -= steps[end];
        if (is_probability(p) && !(numbers[p] > 0 && numbers[p] < 1)) return false;
      }
      if (references_[k] != none && !(numbers[references_[k]] > 0)) return false;
      const std::span<const double> own = std::span<const double>(numbers).first(density.coordinates());
      if (density.refused(own) != nullptr) return false;
      density.from_parameters(own, at.first(density.coordinates()));
      if (components_.inflated()) at.back() = numbers.back();
    }
    return true;
  }

  void direct(std::size_t i, const Counts& counts) const override {
    const FreeParameter& free = free_[i];
    for (std::size_t f = 0; f < emission_.factors().size(); ++f) {
      components_.write_sums(at_, emission_.cells(f), free.component, free.first,
                             counts.direction(emission_.factors()[f]));
    }
  }

  void project(const std::vector<Tensor>& products, std::span<double> row) const override {
    std::vector<double> sums(statistics_.size());
    for (std::size_t f = 0; f < emission_.factors().size(); ++f) {
      emission_.count(at_, f, static_cast<const double*>(products[emission_.factors()[f]].data()), threads_, sums);
    }
    for (std::size_t j = 0; j < free_.size(); ++j) {
      for (std::size_t s = 0; s < free_[j].first.size(); ++s) {
        row[j] -= free_[j].first[s] * sums[components_.statistic(free_[j].component, s)];
      }
    }
  }

  void curve(std::size_t i, std::span<double> row) const override {
    for (std::size_t j = 0; j < free_.size(); ++j) {
      if (free_[j].component == free_[i].component) row[j] -= curvature(i, j);
    }
  }

  void take_errors(const Semidefinite& inverse, std::span<const double> scale, std::size_t offset) override {
    for (std::size_t begin = 0; begin < free_.size();) {
      const std::size_t k = free_[begin].component;
      double of_reference = 0;  // by the delta method
      bool row_known = true;
      std::size_t end = begin;
      for (; end < free_.size() && free_[end].component == k; ++end) {
        const std::size_t p = free_[end].parameter;
        const std::size_t at = offset + end;
        const bool known = inverse.determined(at);
        put(k, p, known ? scale[at] * std::sqrt(inverse(at, at)) * derivatives_[k].unit(p) : infinite);
        if (!known) undetermined_.emplace_back(k, p);
        if (p >= probabilities()) continue;
        row_known = row_known && known;
        for (std::size_t j = begin; j < free_.size() && free_[j].component == k; ++j) {
          if (free_[j].parameter < probabilities())
            of_reference += scale[at] * scale[offset + j] * inverse(at, offset + j);
        }
      }
      if (references_[k] != none) {
        put(k, references_[k], row_known ? std::sqrt(std::max(of_reference, 0.0)) : infinite);
        if (!row_known) undetermined_.emplace_back(k, references_[k]);
      }
      begin = end;
    }
  }

  void report(Fit& result, bool no_maximum) const override {
    for (std::size_t f = 0; f < emission_.factors().size(); ++f) {
      const std::size_t factor = emission_.factors()[f];
      const std::string& name = model_.graph.factors()[factor].name;
      result.likelihood_errors.emplace(
          name, model::by_parameter(errors_, emission_.measured(f), components_, model_.factors[factor].shape(),
                                    *model::likelihood_of(model_, factor)));
    }
    note(result, held_, "are at a bound: they are taken as fixed and have no standard error");
    note(result, unreached_, "have standard errors without bound: nothing that is observed reaches them");
    note(result, undetermined_, undetermined_note(no_maximum));
  }

 private:
  using Parameter = std::pair<std::size_t, std::size_t>;  // component, parameter

  static constexpr double infinite = std::numeric_limits<double>::infinity();

  /// How many of the parameters are probabilities that sum to one.
  [[nodiscard]] std::size_t probabilities() const {
    const likelihood::Density& density = components_.density();
    return density.probabilities() && density.coordinates() > 1 ? density.coordinates() : 0;
  }
  [[nodiscard]] bool is_probability(std::size_t p) const {
    return components_.density().probabilities() || p >= components_.density().coordinates();
  }
  void put(std::size_t k, std::size_t p, double error) { components_.component(std::span(errors_), k)[p] = error; }
  [[nodiscard]] double sum_of(std::size_t k, std::size_t s) const { return statistics_[components_.statistic(k, s)]; }

  void choose_free(std::size_t k) {
    derivatives_.push_back(components_.derivatives(at_, k));
    references_.push_back(none);
    const likelihood::Derivatives& d = derivatives_[k];
    const std::span<const double> at = components_.component(at_, k);
    const std::span<const double> next = components_.component(std::span<const double>(next_), k);
    const double weight = components_.weight(statistics_, k);
    if (probabilities() > 0) {
      references_[k] = static_cast<std::size_t>(
          std::max_element(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(probabilities())) - at.begin());
    }
    for (std::size_t p = 0; p < d.parameters(); ++p) {
      const bool empty =
          verdicts_[k] == likelihood::Verdict::empty && (p < components_.density().coordinates() || !(weight > 0));
      if (empty) {
        unreached_.emplace_back(k, p);
        put(k, p, infinite);
        continue;
      }
      if (p == references_[k]) continue;
      const bool edge = is_probability(p) && (is_at_zero(at[p], next[p] * weight, weight) ||
                                              is_at_zero(1 - at[p], (1 - next[p]) * weight, weight));
      if (d.held(p) || edge) {
        held_.emplace_back(k, p);
        continue;
      }
      FreeParameter free{.component = k, .parameter = p, .first = {}};
      for (std::size_t s = 0; s < d.statistics(); ++s) {
        free.first.push_back(d.first(p, s) - (p < probabilities() ? d.first(references_[k], s) : 0));
      }
      free_.push_back(std::move(free));
      if (own(free_.size() - 1) > 0) continue;
      free_.pop_back();
      undetermined_.emplace_back(k, p);
      put(k, p, infinite);
    }
  }

  /// The sum of the counted log-probabilities' second derivative by two parameters of one component.
  [[nodiscard]] double curvature(std::size_t i, std::size_t j) const {
    const std::size_t k = free_[i].component;
    const likelihood::Derivatives& d = derivatives_[k];
    const std::size_t p = free_[i].parameter;
    const std::size_t q = free_[j].parameter;
    const std::size_t r = references_[k];
    const bool with_p = p < probabilities();
    const bool with_q = q < probabilities();
    double total = 0;
    for (std::size_t s = 0; s < d.statistics(); ++s) {
      double second = d.second(p, q, s);
      if (with_p) second -= d.second(r, q, s);
      if (with_q) second -= d.second(p, r, s);
      if (with_p && with_q) second += d.second(r, r, s);
      total += second * sum_of(k, s);
    }
    return total;
  }

  /// One line, with the first of them.
  void note(Fit& result, const std::vector<Parameter>& parameters, const std::string& why) const {
    if (parameters.empty()) return;
    const Likelihood& likelihood = *model::likelihood_of(model_, emission_.factors()[0]);
    const std::vector<std::string> names = parameter_names(likelihood.family, likelihood.zero_inflated);
    std::string shown;
    for (std::size_t k = 0; k < std::min<std::size_t>(parameters.size(), 3); ++k) {
      const auto& [component, p] = parameters[k];
      const std::string of = p < probabilities() ? names[0] + "[" + std::to_string(p) + "]"
                                                 : names[p - (probabilities() > 0 ? probabilities() - 1 : 0)];
      shown += (shown.empty() ? "" : ", ") + of + " of " + emission_.component_name(component);
    }
    if (parameters.size() > 3) shown += " and " + std::to_string(parameters.size() - 3) + " more";
    result.notes.push_back(shown + " " + why);
  }

  const Model& model_;
  const Emission& emission_;
  const likelihood::Components& components_;
  std::span<const double> at_;
  int threads_;
  std::vector<double> statistics_;
  std::vector<double> next_;  // coordinates that another step would lead to
  std::vector<likelihood::Verdict> verdicts_;
  std::vector<likelihood::Derivatives> derivatives_;  // [component]
  std::vector<std::size_t> references_;               // [component]
  std::vector<FreeParameter> free_;                   // those of a component follow each other
  std::vector<double> errors_;                        // laid out as coordinates are
  std::vector<Parameter> held_, unreached_, undetermined_;
};

}  // namespace

std::unique_ptr<Curved> Emission::curved(const Model& model, std::span<const double> parameters,
                                         const Operands& operands) const {
  return std::make_unique<CurvedEmission>(model, *this, parameters, operands);
}

}  // namespace plated::learn
