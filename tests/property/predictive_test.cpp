// leave_one_out on random models: of slices of plates, and of factors in each slice of a chain, against brute force.
#include <gtest/gtest.h>

#include "plated/marginals.hpp"
#include "property/drawn_model.hpp"
#include "property/near.hpp"
#include "property/shifted_operand.hpp"

namespace plated::test {
namespace {

/// log Z − log Z without something, for each entry of `without`; each batch's are together.
testing::AssertionResult compare(const std::string& what, const Tensor& got, const Tensor::Shape& shape,
                                 const Numbers& log_z, const Numbers& without, const Bound& bound) {
  Numbers want = logarithms(without), magnitude;
  const std::size_t each = without.empty() ? 1 : without.size() / log_z.size();
  for (std::size_t k = 0; k < want.size(); ++k) {
    magnitude.push_back(std::isinf(log_z[k / each]) ? 1 : std::abs(log_z[k / each]) + std::abs(want[k]) + 20);
    want[k] = log_z[k / each] - want[k];
  }
  return near(what, got, shape, want, magnitude, bound);
}

testing::AssertionResult check_plates(DrawnModel& drawn, const Bound& bound) {
  oracle::Posterior posterior = drawn.posterior();
  const Numbers log_z = logarithms(posterior.table({}));
  for (const DimId plate : drawn.of_kind(DimKind::plate)) {
    const Numbers without = posterior.without_each_slice(plate);
    const auto ask = [&] { return leave_one_out(drawn.plan, drawn.tensors(), drawn.name_of(plate), drawn.run()); };
    testing::AssertionResult good = testing::AssertionSuccess();
    if (any_zero(without, drawn.semiring)) {
      good = impossible([&] { (void)ask(); });
    } else {
      std::vector<DimId> axes = posterior.axes({});
      axes.push_back(plate);
      good = compare("plate " + drawn.name_of(plate), ask(), posterior.shape(axes), log_z, without, bound);
    }
    if (!good) return testing::AssertionFailure() << good.message() << ", plate " << drawn.name_of(plate);
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult check_chains(DrawnModel& drawn, const Bound& bound) {
  oracle::Posterior posterior = drawn.posterior();
  const Numbers log_z = logarithms(posterior.table({}));
  const oracle::Slices slices(drawn.graph, {});
  for (const DimId chain : drawn.of_kind(DimKind::chain)) {
    // Some of the factors that live in the chain.
    std::vector<std::size_t> left_out;
    std::vector<std::string> names;
    for (std::size_t f = 0; f < drawn.graph.factors().size(); ++f) {
      if (!oracle::contains(drawn.graph.factor_plates(f), chain) || !drawn.random.chance(50)) continue;
      left_out.push_back(f);
      names.push_back(drawn.graph.factors()[f].name);
    }
    if (names.empty()) continue;
    const Numbers without = posterior.without_factors(chain, left_out);
    const auto ask = [&] {
      return leave_one_out(drawn.plan, drawn.tensors(), drawn.name_of(chain), drawn.run(), names);
    };
    testing::AssertionResult good = testing::AssertionSuccess();
    if (any_zero(without, drawn.semiring)) {
      // Where nothing is left out, an impossible model is its own business: it need not throw.
      if (!any_zero(posterior.table({}), drawn.semiring)) good = impossible([&] { (void)ask(); });
    } else {
      std::vector<DimId> axes = posterior.axes({});
      for (const DimId d : slices.around(chain)) axes.push_back(d);
      axes.push_back(chain);
      good = compare("chain " + drawn.name_of(chain), ask(), posterior.shape(axes), log_z, without, bound);
    }
    if (good) continue;
    std::string text;
    for (const std::string& f : names) text += " " + f;
    return testing::AssertionFailure() << good.message() << ", without" << text;
  }
  return testing::AssertionSuccess();
}

Bound within(Dtype dtype) { return {dtype == Dtype::float32 ? 2e-6 : 1e-13, 0}; }

constexpr CaseOptions plates{.most_work = 10000};
constexpr ChainOptions chains{.most_work = 8000};
constexpr ChainOptions nested{.most_work = 8000, .nested = true};

class WithoutSlices : public OfModels {};

TEST_P(WithoutSlices, OfPlatesIsTheRatioOfTotals) {
  for_each_model(models(), [](DrawnModel& drawn) { return check_plates(drawn, within(dtype())); });
}

INSTANTIATE_TEST_SUITE_P(
    Of, WithoutSlices,
    testing::Combine(
        testing::Values(Models{"plates", 800, {.graphs = plates}},
                        Models{"plates_with_zeros", 800, {.zero_percent = 10, .graphs = plates}},
                        Models{"chains", 300, {.graphs = chains}},
                        Models{"chains_with_zeros", 300, {.zero_percent = 8, .graphs = chains}},
                        Models{"chains_in_chains", 150, {.zero_percent = 5, .graphs = nested}},
                        Models{"plates_in_blocks", 80, {.zero_percent = 5, .graphs = plates}, true},
                        Models{"chains_in_blocks", 80, {.zero_percent = 5, .graphs = chains}, true},
                        Models{"chains_in_chains_in_blocks", 30, {.zero_percent = 5, .graphs = nested}, true}),
        sum_semirings, both_dtypes),
    models_name);

class WithoutFactors : public OfModels {};

TEST_P(WithoutFactors, InSlicesOfChainsIsTheRatioOfTotals) {
  for_each_model(models(), [](DrawnModel& drawn) { return check_chains(drawn, within(dtype())); });
}

INSTANTIATE_TEST_SUITE_P(
    Of, WithoutFactors,
    testing::Combine(testing::Values(Models{"chains", 300, {.graphs = chains}},
                                     Models{"chains_with_zeros", 300, {.zero_percent = 8, .graphs = chains}},
                                     Models{"chains_in_chains", 150, {.zero_percent = 5, .graphs = nested}},
                                     Models{"chains_in_blocks", 80, {.zero_percent = 5, .graphs = chains}, true}),
                     sum_semirings, both_dtypes),
    models_name);

TEST(LeaveOneOut, CountsTheConstantsOfOperandsThatAreRecentred) {
  const auto counts = [](DrawnModel& drawn) {
    if (drawn.tensors().empty()) return testing::AssertionSuccess();
    shift_one_operand(drawn);
    const auto good = check_plates(drawn, within(Dtype::float32));
    return good ? check_chains(drawn, within(Dtype::float32)) : good;
  };
  for_each_model({"plates", 800, {.dtypes = {Dtype::float32}, .graphs = plates}}, counts);
  for_each_model({"chains", 300, {.dtypes = {Dtype::float32}, .graphs = chains}}, counts);
}

}  // namespace
}  // namespace plated::test
