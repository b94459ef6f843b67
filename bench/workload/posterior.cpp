// One half of the tree after the other: b and c in plate i, d and e in plate j.
#include "workload/posterior.hpp"

#include <cmath>
#include <limits>

namespace bench {
namespace {

/// Logarithms of sums of exponentials that terms are added to one by one.
struct LogSum {
  double top = -std::numeric_limits<double>::infinity();
  double sum = 0;

  void add(double term) {
    if (term > top) {
      sum *= std::exp(top - term);
      top = term;
    }
    sum += std::exp(term - top);
  }
  [[nodiscard]] double log() const { return top + std::log(sum); }
};

/// The outer variable with its factor beside a, and the inner one with the large factor.
class Half {
 public:
  Half(const TreeModel& model, bool of_j)
      : n_(model.sizes()),
        of_j_(of_j),
        plate_(of_j ? n_.j : n_.i),
        beside_a_(model.entries(of_j ? 3 : 1)),
        large_(model.entries(of_j ? 4 : 2)),
        sums_(at(n_.domain * n_.slices())),
        message_(at(n_.domain * plate_)),
        to_a_(at(n_.domain * plate_)) {
    const std::int64_t slices = n_.slices();
    for (std::int64_t outer = 0; outer < n_.domain; ++outer) {
      for (std::int64_t slice = 0; slice < slices; ++slice) {
        LogSum sum;
        for (std::int64_t inner = 0; inner < n_.domain; ++inner) {
          sum.add(large_[(outer * n_.domain + inner) * slices + slice]);
        }
        sums_[at(outer * slices + slice)] = sum.log();
        message_[at(outer * plate_ + plate_index(slice))] += sum.log();
      }
    }
    for (std::int64_t a = 0; a < n_.domain; ++a) {
      for (std::int64_t p = 0; p < plate_; ++p) {
        LogSum sum;
        for (std::int64_t outer = 0; outer < n_.domain; ++outer) sum.add(joined(a, outer, p));
        to_a_[at(a * plate_ + p)] = sum.log();
      }
    }
  }

  /// The message of this half to a.
  [[nodiscard]] double message(std::int64_t a) const {
    double total = 0;
    for (std::int64_t p = 0; p < plate_; ++p) total += to_a_[at(a * plate_ + p)];
    return total;
  }

  void answer(const std::vector<double>& of_a, Posterior& result) const {
    const std::int64_t domain = n_.domain;
    const std::int64_t slices = n_.slices();
    std::vector<double>& beside_a = result.factors[of_j_ ? 3 : 1];
    std::vector<double>& large = result.factors[of_j_ ? 4 : 2];
    std::vector<double>& outer_marginal = result.variables[of_j_ ? "d" : "b"];
    std::vector<double>& inner_marginal = result.variables[of_j_ ? "e" : "c"];
    beside_a.resize(at(domain * domain * plate_));
    large.resize(at(domain * domain * slices));
    outer_marginal.assign(at(plate_ * domain), 0.0);
    inner_marginal.assign(at(slices * domain), 0.0);
    for (std::int64_t a = 0; a < domain; ++a) {
      for (std::int64_t outer = 0; outer < domain; ++outer) {
        for (std::int64_t p = 0; p < plate_; ++p) {
          const double mass = of_a[at(a)] * std::exp(joined(a, outer, p) - to_a_[at(a * plate_ + p)]);
          beside_a[at((a * domain + outer) * plate_ + p)] = mass;
          outer_marginal[at(p * domain + outer)] += mass;
        }
      }
    }
    for (std::int64_t outer = 0; outer < domain; ++outer) {
      for (std::int64_t inner = 0; inner < domain; ++inner) {
        for (std::int64_t slice = 0; slice < slices; ++slice) {
          const std::int64_t entry = (outer * domain + inner) * slices + slice;
          const double given = std::exp(large_[entry] - sums_[at(outer * slices + slice)]);
          const double mass = outer_marginal[at(plate_index(slice) * domain + outer)] * given;
          large[at(entry)] = mass;
          inner_marginal[at(slice * domain + inner)] += mass;
        }
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t plate_index(std::int64_t slice) const { return of_j_ ? slice % n_.j : slice / n_.j; }
  [[nodiscard]] double joined(std::int64_t a, std::int64_t outer, std::int64_t p) const {
    return beside_a_[(a * n_.domain + outer) * plate_ + p] + message_[at(outer * plate_ + p)];
  }

  TreeSizes n_;
  bool of_j_;
  std::int64_t plate_;
  const float* beside_a_;
  const float* large_;
  std::vector<double> sums_;     // [outer, slice]: over the inner variable
  std::vector<double> message_;  // [outer, plate]: their product over the other plate
  std::vector<double> to_a_;     // [a, plate]: over the outer variable
};

}  // namespace

Posterior posterior(const TreeModel& model) {
  const Half of_i(model, false);
  const Half of_j(model, true);
  LogSum total;
  std::vector<double> of_a;
  for (std::int64_t a = 0; a < model.sizes().domain; ++a) {
    of_a.push_back(model.entries(0)[a] + of_i.message(a) + of_j.message(a));
    total.add(of_a.back());
  }
  for (double& weight : of_a) weight = std::exp(weight - total.log());
  Posterior result;
  result.factors[0] = of_a;
  result.variables["a"] = of_a;
  of_i.answer(of_a, result);
  of_j.answer(of_a, result);
  return result;
}

}  // namespace bench
