// A scan that is traced back in ranges of slices finds what it finds all at once, from values stored for each range.
#include "adjoint/backtrace_scan.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <tuple>

#include "adjoint/backtrace_axes.hpp"
#include "unit/adjoint/backtrace_case.hpp"

namespace plated {
namespace {

using planner::Scan;

constexpr std::int64_t slices = 300;

struct Written {
  const char* name;
  const char* equation;
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<std::string> links;
  std::string plates = {};
};

const std::vector<Written> models{
    {"markov", "a, (t) a b, t b ->", {{3}, {3, 3}, {slices, 3}}, {"a->b"}},
    {"at_the_end", "b, (t) a b, t a ->", {{3}, {3, 3}, {slices, 3}}, {"a->b"}},
    {"varying", "a, t a b ->", {{3}, {slices, 3, 3}}, {"a->b"}},
    {"in_a_plate", "(n) a, (n t) a b, n t b ->", {{4}, {4, 4}, {5, slices, 4}}, {"a->b"}, "n"},
    {"hidden", "a, (t) a w, (t) w b, t b ->", {{3}, {3, 2}, {2, 3}, {slices, 3}}, {"a->b"}},
    {"second_order", "a ^b, (t) a b c, t c ->", {{2, 2}, {2, 2, 2}, {slices, 2}}, {"a->b", "b->c"}},
    {"second_order_back", "a, (t) a b c, t c ->", {{2}, {2, 2, 2}, {slices, 2}}, {"a->b", "b->c"}},
    {"joint", "a c, t a b c d ->", {{2, 3}, {slices, 2, 2, 3, 3}}, {"a->b", "c->d"}},
    {"unread", "a c, (t) a b, t b c, d ->", {{2, 3}, {2, 2}, {slices, 2, 3}, {3}}, {"a->b", "c->d"}},
    {"factorial", "a, c, (t) a b, (t) c d, t b d ->", {{2}, {3}, {2, 2}, {3, 3}, {slices, 2, 3}}, {"a->b", "c->d"}},
    {"given_outside", "a x, (t) a b x, t b ->", {{3, 2}, {3, 3, 2}, {slices, 3}}, {"a->b"}},
};

FactorGraph graph_of(const Written& model) {
  EquationOptions options{.plates = model.plates, .chains = {{"t", model.links}}};
  return FactorGraph::from_equation(model.equation, model.shapes, options);
}

class TraceOfScan : public testing::TestWithParam<std::tuple<std::size_t, std::int64_t>> {
 protected:
  TraceOfScan() {
    made_.schedule = planner::plan(made_.graph, {.keep_messages = true, .without = {"reuse_buffers"}});
    base::Random random(7);
    made_.fill<double>([&] { return std::log(0.05 + random.uniform()); });
  }

  [[nodiscard]] std::vector<Integers> empty_assignment(const adjoint::Choice& choice) const {
    std::vector<Integers> assignment(made_.graph.dims().size());
    for (DimId v = 0; v < assignment.size(); ++v) {
      if (made_.graph.dims()[v].kind != DimKind::variable) continue;
      std::vector<std::int64_t> shape{choice.count};
      for (const DimId d : adjoint::assignment_axes(made_.schedule.problem, v))
        shape.push_back(made_.graph.dims()[d].size);
      assignment[v] = Integers(shape);
    }
    return assignment;
  }

  /// What a scan reads of each slice, out of the arena: it is put back range by range.
  struct Stored {
    std::byte* at;
    std::int64_t advance;
    std::vector<std::byte> values;

    void hold(std::int64_t first, std::int64_t last) const {
      std::memset(at, 0xFF, values.size());
      std::memcpy(at, values.data() + first * advance, static_cast<std::size_t>((last - first) * advance));
    }
  };

  /// Marks what has slices as stored in chunks.
  std::vector<Stored> take_out(std::size_t step) {
    engine::BoundSchedule& bound = made_.workspace.bound;
    const engine::BoundStep& read = bound.steps[step];
    const engine::BoundScan& scan = *bound.scans[read.scan];
    std::vector<Stored> list;
    const auto take = [&](std::size_t at, std::int64_t advance) {
      engine::Place& place = bound.places[at];
      if (place.space() != engine::Place::Space::arena || advance == 0) return;
      std::byte* values = made_.workspace.arena.get() + place.at();
      list.push_back({values, advance, {values, values + slices * advance}});
      place = {engine::Place::Space::arena, static_cast<std::int64_t>(place.at()), true};
    };
    for (std::size_t k = 0; k < scan.advance.size(); ++k) take(read.first_place + k, scan.advance[k]);
    take(read.first_place + read.inputs + 1, scan.message_bytes());
    return list;
  }

  std::vector<Integers> in_ranges(Semiring semiring, const adjoint::Choice& choice, std::int64_t length) {
    const planner::Schedule& schedule = made_.schedule;
    std::vector<Integers> assignment = empty_assignment(choice);
    const std::size_t dims = assignment.size();
    assignment.resize(2 * dims);
    for (DimId v = 0; v < dims; ++v) assignment[dims + v] = Integers(std::vector<std::int64_t>{choice.count * 8});
    adjoint::ChosenStates states(assignment, choice.count);
    for (DimId v = 0; v < assignment.size(); ++v) states.remember(v);
    for (std::size_t s = schedule.steps.size(); s-- > 0;) {
      const bool scans = schedule.steps[s].is<Scan>();
      const std::vector<Stored> stored = scans ? take_out(s) : std::vector<Stored>{};
      adjoint::ChoiceSource source{.scope = adjoint::ChoiceScope(schedule),
                                   .bound = made_.workspace.bound,
                                   .semiring = semiring,
                                   .arena = made_.workspace.arena.get()};
      for (const Tensor& operand : made_.operands) source.operands.push_back(operand.data());
      if (scans) {
        EXPECT_FALSE(stored.empty());
        adjoint::ScanTrace trace(source, s, made_.operands, choice, 1, states);
        trace.begin();
        const bool forward = schedule.steps[s].as<Scan>()->forward;
        for (std::int64_t done = 0; done < slices; done += length) {
          const std::int64_t some = std::min(length, slices - done);
          const std::int64_t first = forward ? slices - done - some : done;
          for (const Stored& values : stored) values.hold(first, first + some);
          trace.walk({.first = first, .last = first + some, .origin = first});
        }
        trace.finish();
        for (const Stored& values : stored) values.hold(0, slices);
      } else if (!summed(schedule.steps[s]).empty()) {
        const std::vector<adjoint::ChoiceStep> choices = read_choices(source, s, {});
        adjoint::chooser(choices[0], choice, 1, states)->run();
      }
    }
    assignment.resize(dims);
    return assignment;
  }

  test::BacktraceCase made_{graph_of(models[std::get<0>(GetParam())])};
};

TEST_P(TraceOfScan, FindsTheSameInRangesOfAnyLength) {
  const std::int64_t samples = std::get<1>(GetParam());
  const Semiring semiring = samples == 0 ? Semiring::max_plus : Semiring::log;
  const adjoint::Choice choice{.draw = samples > 0, .count = std::max<std::int64_t>(samples, 1), .seed = 5};
  made_.run(semiring);
  std::vector<Integers> whole = empty_assignment(choice);
  adjoint::backtrace(made_.schedule, semiring, made_.operands, made_.workspace, choice, 1, whole);
  for (const std::int64_t length : {1, 7, 299, 300}) {
    made_.workspace.signature.clear();  // bound anew
    made_.run(semiring);
    const std::vector<Integers> ranges = in_ranges(semiring, choice, length);
    for (DimId v = 0; v < whole.size(); ++v) {
      EXPECT_EQ(ranges[v].values, whole[v].values) << made_.graph.dims()[v].name << ", ranges of " << length;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, TraceOfScan,
                         testing::Combine(testing::Range(std::size_t{0}, models.size()), testing::Values(0, 1, 20)),
                         [](const auto& made) {
                           const std::int64_t samples = std::get<1>(made.param);
                           const std::string how = samples == 0 ? "best" : std::to_string(samples) + "_samples";
                           return std::string(models[std::get<0>(made.param)].name) + "_" + how;
                         });

}  // namespace
}  // namespace plated
