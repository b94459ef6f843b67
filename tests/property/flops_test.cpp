// Vectorising over plates does not change the operation count ([TVE] Sec. 4.2): the unrolled graph, eliminated slice by
// slice in the plan's order on scalars that count, takes exactly the flops that the plan predicts.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "planner/planner.hpp"
#include "planner/schedule_cost.hpp"
#include "property/expect_close.hpp"
#include "property/random_case.hpp"
#include "property/random_operands.hpp"
#include "property/random_tensor.hpp"
#include "property/seeds.hpp"

namespace plated::test {
namespace {

using Index = std::vector<std::int64_t>;
/// A variable of the unrolled graph: its dim, then the index of each of its plates.
using Copy = Index;

/// A scalar that counts.
struct Counted {
  double value = 0;
  static inline double operations = 0;
  friend Counted operator*(Counted a, Counted b) { return ++operations, Counted{a.value * b.value}; }
  friend Counted operator+(Counted a, Counted b) { return ++operations, Counted{a.value + b.value}; }
};

/// A factor of the unrolled graph: a table over copies, whose first varies slowest.
struct Table {
  std::vector<Copy> copies;
  std::vector<Counted> entries;
};

using States = std::map<Copy, std::int64_t>;

class UnrolledElimination {
 public:
  UnrolledElimination(const planner::Schedule& schedule, const std::vector<Tensor>& operands)
      : schedule_(schedule),
        operands_(operands),
        at_(schedule.problem.domain.size(), 0),
        values_(schedule.values.size()) {}

  /// Operations that all steps took together.
  double run() {
    Counted::operations = 0;
    for (const planner::Step& step : schedule_.steps) {
      const std::vector<DimId> slices = not_variables(schedule_.values[step.output].dims);
      for_each(slices, [&] {
        std::optional<Table> total;
        for_each(step.as<planner::Contract>()->product, [&] {
          Table slice = sum_product(step);
          total = total ? multiplied(std::move(*total), slice) : std::move(slice);
        });
        values_[step.output].emplace(index(slices), std::move(*total));
      });
    }
    return Counted::operations;
  }

  /// Of an output, the table of the slice at `at`.
  [[nodiscard]] double only_entry(planner::ValueId value) const { return values_[value].at({}).entries.at(0).value; }
  [[nodiscard]] const std::map<Copy, int>& times_summed() const { return times_summed_; }
  [[nodiscard]] const std::map<Index, int>& times_read() const { return times_read_; }

 private:
  template <class Visit>
  void for_each(const std::vector<DimId>& dims, Visit visit) {
    oracle::for_each_index(schedule_.graph, dims, at_, visit);
  }

  std::vector<DimId> not_variables(std::vector<DimId> dims) const {
    std::erase_if(dims, [&](DimId d) { return schedule_.problem.kind[d] == DimKind::variable; });
    return dims;
  }

  Index index(const std::vector<DimId>& dims) const {
    Index result;
    for (const DimId d : dims) result.push_back(at_[d]);
    return result;
  }

  Copy copy(DimId v) const {
    Copy result{static_cast<std::int64_t>(v)};
    for (const DimId b : schedule_.problem.variable_plates[v]) result.push_back(at_[b]);
    return result;
  }

  std::int64_t domain(const Copy& c) const { return schedule_.problem.domain[static_cast<std::size_t>(c[0])]; }

  template <class Visit>
  void for_each_state(const std::vector<Copy>& copies, States& states, Visit visit, std::size_t depth = 0) const {
    if (depth == copies.size()) return visit();
    for (std::int64_t s = 0; s < domain(copies[depth]); ++s) {
      states[copies[depth]] = s;
      for_each_state(copies, states, visit, depth + 1);
    }
  }

  Counted entry(const Table& table, const States& states) const {
    std::int64_t offset = 0;
    for (const Copy& c : table.copies) offset = offset * domain(c) + states.at(c);
    return table.entries[static_cast<std::size_t>(offset)];
  }

  /// One slice of a value: a slice of an operand, or what an earlier step left.
  Table slice_of(planner::ValueId v) {
    const planner::Value& value = schedule_.values[v];
    if (value.kind != planner::Value::Kind::operand) return values_[v].at(index(not_variables(value.dims)));
    const std::vector<DimId>& axes = schedule_.graph.factors()[value.index].dims;
    Table table;
    Index slice{static_cast<std::int64_t>(value.index)};
    for (const DimId d : value.dims) {
      if (schedule_.problem.kind[d] == DimKind::variable) table.copies.push_back(copy(d));
      if (schedule_.problem.kind[d] != DimKind::variable) slice.push_back(at_[d]);
    }
    ++times_read_[slice];
    States states;
    for_each_state(table.copies, states, [&] {
      Index where;
      for (const DimId d : axes)
        where.push_back(schedule_.problem.kind[d] == DimKind::variable ? states.at(copy(d)) : at_[d]);
      table.entries.push_back({operands_[value.index].at(where)});
    });
    return table;
  }

  Table sum_product(const planner::Step& step) {
    std::vector<Table> inputs;
    for (const planner::ValueId v : step.inputs) inputs.push_back(slice_of(v));
    Table result;
    for (const DimId d : schedule_.values[step.output].dims) {
      if (schedule_.problem.kind[d] == DimKind::variable) result.copies.push_back(copy(d));
    }
    std::vector<Copy> summed;
    for (const DimId d : planner::summed(step)) {
      summed.push_back(copy(d));
      ++times_summed_[copy(d)];
    }
    States states;
    for_each_state(result.copies, states, [&] {
      std::optional<Counted> sum;
      for_each_state(summed, states, [&] {
        std::optional<Counted> product;
        for (const Table& input : inputs) product = product ? *product * entry(input, states) : entry(input, states);
        const Counted term = product ? *product : Counted{1};
        sum = sum ? *sum + term : term;
      });
      result.entries.push_back(*sum);
    });
    return result;
  }

  /// The product of two slices' messages. In the unrolled graph they hold the same variables: those outside the plates.
  static Table multiplied(Table a, const Table& b) {
    EXPECT_EQ(a.copies, b.copies);
    for (std::size_t k = 0; k < a.entries.size(); ++k) a.entries[k] = a.entries[k] * b.entries[k];
    return a;
  }

  const planner::Schedule& schedule_;
  const std::vector<Tensor>& operands_;
  Index at_;
  std::vector<std::map<Index, Table>> values_;
  std::map<Copy, int> times_summed_;
  std::map<Index, int> times_read_;
};

bool repeats_slices(const planner::Schedule& schedule) {
  return std::any_of(schedule.steps.begin(), schedule.steps.end(), [](const planner::Step& s) {
    const auto* contract = s.as<planner::Contract>();
    return contract != nullptr && !contract->power.plates.empty();
  });
}

/// Executes a scalar query on the unrolled graph; checks that it is an elimination of that graph, and its value.
testing::AssertionResult eliminates_the_unrolled_graph(const FactorGraph& graph, const planner::Schedule& schedule) {
  Random random(11);
  const Operands operands(graph, random, {.semiring = Semiring::real});
  UnrolledElimination elimination(schedule, operands.tensors());
  const double executed = elimination.run();
  const double predicted = planner::schedule_cost(schedule, schedule.extents, Semiring::real, 8).flops;
  if (executed != predicted) {
    return testing::AssertionFailure() << "the plan says " << predicted << " flops, the unrolled graph took "
                                       << executed;
  }
  const bool scalar = graph.outputs().size() == 1 && graph.outputs()[0].dims.empty();
  if (!scalar) return testing::AssertionSuccess();
  // Every copy of a variable is summed once, and every copy of a factor is read once: nothing is done twice or left
  // out.
  const UnrolledGraph unrolled = graph.unroll();
  if (elimination.times_summed().size() != unrolled.graph.dims().size())
    return testing::AssertionFailure() << "variables";
  if (elimination.times_read().size() != unrolled.graph.factors().size())
    return testing::AssertionFailure() << "factors";
  for (const auto& [copy, times] : elimination.times_summed()) {
    if (times != 1) return testing::AssertionFailure() << "a variable was summed " << times << " times";
  }
  for (const auto& [slice, times] : elimination.times_read()) {
    if (times != 1) return testing::AssertionFailure() << "a factor was read " << times << " times";
  }
  const oracle::Entry expected = oracle::unrolled(graph, operands.tensors(), Semiring::real)[0][0];
  const double value = elimination.only_entry(schedule.steps.back().output);
  if (std::abs(value - expected.value) > 1e-12L * expected.magnitude) {
    return testing::AssertionFailure() << value << " is not " << static_cast<double>(expected.value);
  }
  return testing::AssertionSuccess();
}

TEST(Flops, OfAPlanAreThoseOfTheUnrolledGraph) {
  std::uint64_t seen = 0, counted = 0;
  for_each_seed(3000, [&](std::uint64_t seed) -> testing::AssertionResult {
    const Case c = random_case(seed, {.most_work = 5000, .ties = false, .small_sizes = false, .plated_outputs = false});
    const FactorGraph graph = c.build();
    ++seen;
    planner::Schedule schedule;
    try {
      schedule = planner::plan(graph, {});
    } catch (const IntractableError&) {
      return testing::AssertionSuccess();
    }
    if (repeats_slices(schedule)) return testing::AssertionSuccess();  // a power is cheaper than what it stands for
    ++counted;
    const testing::AssertionResult result = eliminates_the_unrolled_graph(graph, schedule);
    if (result) return result;
    return testing::AssertionFailure() << c.print() << "\n  " << result.message();
  });
  EXPECT_GE(3 * counted, seen > 100 ? seen : 0);
}

TEST(Flops, OfThePapersModelAreThoseOfTheUnrolledGraph) {
  for (const std::int64_t slices : {2, 3}) {
    const Model model = paper_model(2, slices, Dtype::float64, Semiring::real);
    const planner::Schedule schedule = planner::plan(model.graph, {});
    UnrolledElimination elimination(schedule, model.operands);
    EXPECT_EQ(elimination.run(), planner::schedule_cost(schedule, schedule.extents, Semiring::real, 8).flops);
    EXPECT_EQ(elimination.times_summed().size(), model.graph.unroll().graph.dims().size());
  }
}

}  // namespace
}  // namespace plated::test
