// Standard errors of random plated models and chains, against finite differences of the score.
#include <gtest/gtest.h>

#include <cmath>

#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "property/naive_em.hpp"
#include "property/random_case.hpp"
#include "property/random_chain.hpp"
#include "property/random_model.hpp"
#include "property/seeds.hpp"

namespace plated::test {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

/// Derivatives of the objective by the free entries of learnt rows, the largest of each row making up for the others:
/// by Fisher's identity from counts over all assignments.
class Score {
 public:
  Score(const Model& fitted, const Evidence& data, const std::vector<std::vector<std::size_t>>& groups,
        double pseudo_count)
      : model_(in_space(fitted, Space::real)), data_(data), groups_(groups) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::size_t f = groups[g][0];
      const std::vector<double> values = model_.factors[f].values();
      double pseudo = pseudo_count;
      for (auto member = groups[g].rbegin(); member != groups[g].rend(); ++member) {
        const Tensor& own = fitted.learning.at(fitted.graph.factors()[*member].name).prior;
        if (own.data() != nullptr) pseudo = own.item();
      }
      pseudo_.push_back(pseudo);
      for_each_row(model_.factors[f].shape(), *axis_of_child(model_, f), [&](const std::vector<std::size_t>& row) {
        const std::size_t reference = *std::max_element(
            row.begin(), row.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
        for (const std::size_t entry : row) {
          if (entry != reference && values[entry] > 0) free_.push_back({g, entry, reference});
        }
      });
    }
  }

  [[nodiscard]] std::size_t size() const { return free_.size(); }
  [[nodiscard]] std::size_t group(std::size_t i) const { return free_[i].group; }
  [[nodiscard]] std::size_t entry(std::size_t i) const { return free_[i].entry; }
  [[nodiscard]] double least() const {
    double least = 1;
    for (const Free& free : free_) {
      least = std::min(least, model_.factors[groups_[free.group][0]].values()[free.entry]);
    }
    return least;
  }

  /// At the fit, but for one entry that is larger by a step.
  [[nodiscard]] std::vector<double> operator()(std::size_t i, double step) const {
    Model moved = model_;
    std::vector<double> values = model_.factors[groups_[free_[i].group][0]].values();
    values[free_[i].entry] += step;
    values[free_[i].reference] -= step;
    for (const std::size_t f : groups_[free_[i].group])
      moved.factors[f] = Tensor::of(model_.factors[f].shape(), values);
    NaiveEm naive(moved, data_, groups_, 0);
    (void)naive.count();
    std::vector<double> result;
    for (const Free& free : free_) {
      const std::vector<double> at = moved.factors[groups_[free.group][0]].values();
      const auto counted = [&](std::size_t entry) {
        long double count = pseudo_[free.group];
        for (const std::size_t f : groups_[free.group]) count += naive.counts()[f][entry];
        return count / at[entry];
      };
      result.push_back(static_cast<double>(counted(free.entry) - counted(free.reference)));
    }
    return result;
  }

 private:
  struct Free {
    std::size_t group, entry, reference;
  };
  Model model_;
  const Evidence& data_;
  const std::vector<std::vector<std::size_t>>& groups_;
  std::vector<double> pseudo_;
  std::vector<Free> free_;
};

/// The inverse of a matrix, or nothing where a pivot is small.
std::vector<double> inverse(std::vector<double> m, std::size_t n) {
  std::vector<double> result(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) result[i * n + i] = 1;
  for (std::size_t k = 0; k < n; ++k) {
    const double pivot = m[k * n + k];
    if (!(pivot > 1e-2)) return {};
    for (std::size_t j = 0; j < n; ++j) m[k * n + j] /= pivot, result[k * n + j] /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      const double factor = i == k ? 0 : m[i * n + k];
      for (std::size_t j = 0; j < n; ++j) {
        m[i * n + j] -= factor * m[k * n + j];
        result[i * n + j] -= factor * result[k * n + j];
      }
    }
  }
  return result;
}

AssertionResult check_errors(Model model, Random& random, std::int64_t& compared) {
  tie_and_choose(model, random);
  const Evidence data = random_data(model, random);
  const std::vector<std::vector<std::size_t>> groups = groups_of(model);
  if (data.empty() || groups.empty()) return AssertionSuccess();
  FitOptions options{.iterations = 50, .pseudo_count = 1.5, .standard_errors = true};
  for (auto& [name, learning] : model.learning) {
    if (learning.prior.data() != nullptr) learning.prior = Tensor::scalar(1 + learning.prior.item());
  }
  try {
    const Fit got = fit(model, {.states = data}, options);
    for (const auto& [name, errors] : got.standard_errors) {
      for (const double error : errors.values()) {
        if (!(error >= 0)) return AssertionFailure() << "a standard error of " << name << " is " << error;
      }
    }
    const Score score(got.model, data, groups, options.pseudo_count);
    const std::size_t n = score.size();
    if (n == 0 || n > 20 || score.least() < 0.01) return AssertionSuccess();
    const double h = 2e-6;
    std::vector<double> information(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::vector<double> up = score(i, h);
      const std::vector<double> down = score(i, -h);
      for (std::size_t j = 0; j < n; ++j) information[i * n + j] = (down[j] - up[j]) / (2 * h);
    }
    const std::vector<double> variance = inverse(information, n);
    if (variance.empty()) return AssertionSuccess();
    ++compared;
    for (std::size_t i = 0; i < n; ++i) {
      const double want = std::sqrt(variance[i * n + i]);
      for (const std::size_t f : groups[score.group(i)]) {
        const double error = got.standard_errors.at(model.graph.factors()[f].name).values()[score.entry(i)];
        if (std::abs(error - want) <= 1e-5 * want) continue;
        return AssertionFailure() << "the standard error of entry " << score.entry(i) << " of factor " << f << " is "
                                  << error << ", not " << want;
      }
    }
  } catch (const ImpossibleError&) {
  } catch (const IntractableError&) {
  }
  return AssertionSuccess();
}

TEST(StandardErrors, OfRandomPlatedModelsAgreeWithEnumeration) {
  std::int64_t compared = 0;
  for_each_seed(400, [&](std::uint64_t seed) {
    const Case c = random_case(seed, {.most_work = 4000, .small_sizes = false});
    Random random(seed + 7);
    AssertionResult good = check_errors(random_model(c.build(), {}, random), random, compared);
    return good ? good : good << "\n" << c.equation() << "\n" << c.build().print();
  });
  EXPECT_GE(compared, quota(100));
}

TEST(StandardErrors, OfRandomChainsAgreeWithEnumeration) {
  std::int64_t compared = 0;
  for_each_seed(200, [&](std::uint64_t seed) {
    const Case c = random_chain(seed, {.most_work = 4000, .small_sizes = false});
    Random random(seed + 7);
    AssertionResult good = check_errors(random_model(c.build(), c.lengths, random), random, compared);
    return good ? good : good << "\n" << c.print();
  });
  EXPECT_GE(compared, quota(90));
}

}  // namespace
}  // namespace plated::test
