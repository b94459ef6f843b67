// Laws of weights of plates on random models: what a slice of any weight stands for, and how answers depend on it.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "plated/marginals.hpp"
#include "property/repeated_pair.hpp"

namespace plated::test {
namespace {

class WeightsOfPlates : public Weighted {};

TEST_P(WeightsOfPlates, LeaveOutAllCopiesOfASlice) {
  for_each(500, 80, [](DrawnModel& drawn) -> testing::AssertionResult {
    Pair pair(drawn);
    const auto total = [&](const RunOptions& options) {
      return marginals(drawn.plan, drawn.tensors(), options, {.variables = false}).log_partition.values();
    };
    for (const DimId plate : drawn.of_kind(DimKind::plate)) {
      const std::string& name = drawn.name_of(plate);
      const auto slices = static_cast<std::size_t>(drawn.graph.dims()[plate].size);
      const std::vector<double> got = leave_one_out(drawn.plan, drawn.tensors(), name, pair.weighted).values(),
                                all = total(pair.weighted);
      std::vector<double> each(slices, 1);
      if (const auto given = pair.weighted.weights.find(name); given != pair.weighted.weights.end()) {
        each.assign(slices, given->second.values()[0]);
        if (given->second.rank() > 0) each = given->second.values();
      }
      for (std::size_t i = 0; i < slices; ++i) {
        std::vector<double> rest = each;
        rest[i] = 0;
        RunOptions without = pair.weighted;
        without.weights.insert_or_assign(name, Tensor::of({static_cast<std::int64_t>(slices)}, rest));
        const std::vector<double> others = total(without);
        for (std::size_t n = 0; n < all.size(); ++n) {
          const double want = all[n] - others[n], off = std::abs(got[n * slices + i] - want);
          if (!(off <= 1e-12 * (std::abs(all[n]) + std::abs(others[n]) + 20))) {
            return testing::AssertionFailure()
                   << "without slice " << i << " of " << name << ": " << got[n * slices + i] << ", not " << want;
          }
        }
      }
    }
    return testing::AssertionSuccess();
  });
}

TEST_P(WeightsOfPlates, ShareWeightsAmongEqualSlices) {
  // A slice of any weight is as good as two equal ones of half of it each.
  for_each(500, 80, [](DrawnModel& drawn) -> testing::AssertionResult {
    RunOptions whole = drawn.run(), halves = drawn.run();
    Copies copies;
    for (const DimId d : drawn.of_kind(DimKind::plate)) {
      const std::int64_t size = drawn.graph.dims()[d].size;
      std::vector<double> w, h;
      for (std::int64_t i = 0; i < 2 * size; ++i) {
        if (i % 2 == 0) w.push_back(drawn.random.uniform(0, 3));
        h.push_back(w.back() / 2);
        copies[d].push_back(i / 2);
      }
      whole.weights.emplace(drawn.name_of(d), Tensor::of({size}, w));
      halves.weights.emplace(drawn.name_of(d), Tensor::of({2 * size}, h));
    }
    Repeated repeated(drawn, 0);
    repeated.graph = repeated.doubled();
    repeated.copies = copies;
    std::vector<Tensor> operands;
    for (std::size_t f = 0; f < drawn.tensors().size(); ++f) {
      operands.push_back(repeated.spread(drawn.tensors()[f], drawn.graph.factors()[f].dims));
    }
    const Plan plan = compile(repeated.graph);
    const auto got = drawn.plan.run(drawn.tensors(), whole), want = plan.run(operands, halves);
    testing::AssertionResult good = testing::AssertionSuccess();
    for (std::size_t o = 0; o < got.size() && good; ++o) {
      const Numbers first = repeated.gathered(want[o], drawn.graph.outputs()[o].dims, false, 0);
      Numbers size;
      for (const long double x : first) size.push_back(std::abs(x) + 20);
      good = near("output " + std::to_string(o), got[o], got[o].shape(), first, size, {1e-12, 0});
    }
    return good;
  });
}

TEST_P(WeightsOfPlates, HaveTheGradientOfFiniteDifferences) {
  for_each(300, 50, [](DrawnModel& drawn) -> testing::AssertionResult {
    RunOptions options = drawn.run();
    for (const DimId d : drawn.of_kind(DimKind::plate)) {
      std::vector<double> each;
      for (std::int64_t i = 0; i < drawn.graph.dims()[d].size; ++i) each.push_back(drawn.random.uniform(0, 3));
      options.weights.emplace(drawn.name_of(d), Tensor::of({drawn.graph.dims()[d].size}, each));
    }
    std::vector<Tensor> direction, cotangents;
    for (const Tensor& t : drawn.tensors()) direction.push_back(signed_tensor(t.shape(), drawn.random));
    for (const Output& output : drawn.graph.outputs()) {
      Tensor::Shape shape;
      for (const DimId d : output.dims) shape.push_back(drawn.graph.dims()[d].size);
      cotangents.push_back(signed_tensor(shape, drawn.random));
    }
    const auto dot = [](const std::vector<Tensor>& a, const std::vector<Tensor>& b, long double& magnitude) {
      long double sum = 0;
      for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k].elements() == 0) continue;
        const std::vector<double> x = a[k].values(), y = b[k].values();
        for (std::size_t e = 0; e < x.size(); ++e) {
          sum += static_cast<long double>(x[e]) * y[e];
          magnitude += std::abs(static_cast<long double>(x[e]) * y[e]);
        }
      }
      return sum;
    };
    const auto at = [&](double t) {
      std::vector<Tensor> moved;
      for (std::size_t f = 0; f < direction.size(); ++f) {
        std::vector<double> x = drawn.tensors()[f].values();
        const std::vector<double> d = direction[f].values();
        for (std::size_t k = 0; k < x.size(); ++k) x[k] += t * d[k];
        moved.push_back(Tensor::of(drawn.tensors()[f].shape(), x));
      }
      return value_and_gradient(drawn.plan, moved, options, {.cotangents = cotangents});
    };
    const double step = 1e-5;
    const auto before = at(-step), here = at(0), after = at(step);
    const auto product = hessian_vector_product(drawn.plan, drawn.tensors(), direction, options, cotangents);
    long double magnitude = 0;
    const long double slope = dot(here.gradients, direction, magnitude);
    const long double rise = dot(after.values, cotangents, magnitude) - dot(before.values, cotangents, magnitude);
    if (std::abs(rise / (2 * step) - slope) > 1e-6L * (1 + magnitude)) {
      return testing::AssertionFailure() << "slope " << static_cast<double>(slope) << ", not "
                                         << static_cast<double>(rise / (2 * step));
    }
    long double size = 0;
    const long double bend = dot(product.products, direction, size);
    const long double turn = dot(after.gradients, direction, size) - dot(before.gradients, direction, size);
    if (std::abs(turn / (2 * step) - bend) > 1e-6L * (1 + size)) {
      return testing::AssertionFailure() << "curvature " << static_cast<double>(bend) << ", not "
                                         << static_cast<double>(turn / (2 * step));
    }
    return testing::AssertionSuccess();
  });
}

INSTANTIATE_TEST_SUITE_P(Of, WeightsOfPlates,
                         testing::Combine(testing::Bool(), testing::Values(Semiring::log, Semiring::real)),
                         weighted_name);

}  // namespace
}  // namespace plated::test
