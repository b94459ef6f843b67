// Factors that are read at observed states: every question against the same model with factors of ones and zeros.
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "plated/evaluation.hpp"
#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "property/drawn_model.hpp"
#include "property/in_any_form.hpp"

namespace plated::test {
namespace {

/// Two plans of one model that answer alike: one observes, the other has indicator factors behind its own.
struct Pair {
  Plan observing;
  RunOptions observed;
  Plan expanded;
  RunOptions plain;
  std::vector<Tensor> operands;  // of the second
  std::size_t factors = 0;       // of the first
  bool gathers = false;          // by the schedule of its values
};

/// Mostly whole plates, some with slices that are not observed; weights of plates.
Pair observe(DrawnModel& drawn, RunOptions run, const std::vector<DimId>& variables, bool weighted) {
  FactorGraph graph = drawn.graph;
  std::vector<Tensor> operands = drawn.tensors();
  const oracle::Slices slices(drawn.graph, {});
  PlanOptions planned;
  Question value{.kind = Question::Kind::value, .semiring = drawn.semiring};
  for (const DimId d : drawn.of_kind(DimKind::plate)) {
    if (!weighted || drawn.random.chance(40)) continue;
    std::vector<double> each;
    for (std::int64_t k = 0; k < drawn.graph.dims()[d].size; ++k) {
      each.push_back(drawn.random.chance(15) ? 0 : 0.5 * static_cast<double>(1 + drawn.random.below(5)));
    }
    run.weights.emplace(drawn.name_of(d), Tensor::of({drawn.graph.dims()[d].size}, each));
  }
  RunOptions observed = run;
  for (const DimId v : variables) {
    if (drawn.random.chance(35)) continue;
    const bool all = drawn.random.chance(70);
    std::vector<DimId> axes = drawn.random.chance(50) ? slices.batch() : std::vector<DimId>{};
    for (const DimId d : slices.plates(v)) axes.push_back(d);
    std::vector<std::int64_t> shape;
    std::vector<std::string> names;
    for (const DimId d : axes) {
      shape.push_back(drawn.graph.dims()[d].size);
      names.push_back(drawn.name_of(d));
    }
    const std::int64_t domain = drawn.graph.dims()[v].size;
    Integers states(shape, -1);
    std::vector<double> indicator;
    for (std::int64_t& state : states.values) {
      if (domain > 0 && (all || drawn.random.chance(60))) state = drawn.random.below(domain);
      for (std::int64_t s = 0; s < domain; ++s) {
        const bool possible = state == -1 || state == s;
        indicator.push_back(static_cast<double>(possible ? oracle::one(drawn.semiring) : oracle::zero(drawn.semiring)));
      }
    }
    planned.observable.push_back(drawn.name_of(v));
    (all ? value.observed : value.partly_observed).push_back(drawn.name_of(v));
    observed.evidence.emplace(drawn.name_of(v), in_any_form(states, drawn.random));
    names.push_back(drawn.name_of(v));
    shape.push_back(domain);
    graph.factor("", names);
    operands.push_back(Tensor::of<double>(shape, indicator));
  }
  const Plan plan = compile(drawn.graph, planned);
  const bool gathers = plan.print(value).find("Gather") != std::string::npos;
  return {plan,   std::move(observed), compile(graph), std::move(run), std::move(operands), drawn.tensors().size(),
          gathers};
}

/// All numbers of an answer, or what it is refused with.
struct Answer {
  std::vector<double> numbers;
  std::string error;

  void add(const Tensor& tensor) {
    const std::vector<double> values = tensor.values();
    numbers.insert(numbers.end(), values.begin(), values.end());
  }
  void add(const std::vector<Tensor>& tensors, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) add(tensors[k]);
  }
};

/// Asks one of the two plans, whose first operands are the model's own.
struct Asked {
  const Plan& plan;
  const std::vector<Tensor>& operands;
  const RunOptions& options;
  std::size_t factors;
};
using Ask = std::function<void(const Asked&, Answer&)>;

Answer answer(const Asked& asked, const Ask& ask) {
  Answer result;
  try {
    ask(asked, result);
  } catch (const ImpossibleError&) {
    result.error = "impossible";
  }
  return result;
}

testing::AssertionResult alike(const char* what, const Answer& got, const Answer& want) {
  if (got.error != want.error) return testing::AssertionFailure() << what << ": '" << got.error << "'";
  if (got.numbers.size() != want.numbers.size()) return testing::AssertionFailure() << what << " has another size";
  for (std::size_t k = 0; k < got.numbers.size(); ++k) {
    const double a = got.numbers[k], b = want.numbers[k];
    if (a == b || std::abs(a - b) <= 1e-10 * (1 + std::max(std::abs(a), std::abs(b)))) continue;
    return testing::AssertionFailure() << what << " entry " << k << " is " << a << ", not " << b;
  }
  return testing::AssertionSuccess();
}

class Questions {
 public:
  Questions(DrawnModel& drawn, const Pair& pair) : drawn_(drawn), pair_(pair) {}

  testing::AssertionResult run() {
    check("values", [](const Asked& a, Answer& to) {
      const std::vector<Tensor> values = a.plan.run(a.operands, a.options);
      to.add(values, values.size());
    });
    if (drawn_.semiring == Semiring::log || drawn_.semiring == Semiring::real) {
      posterior();
    } else if (drawn_.semiring != Semiring::boolean) {
      check("max-marginals", [](const Asked& a, Answer& to) {
        for (const auto& [name, tensor] : max_marginals(a.plan, a.operands, a.options)) to.add(tensor);
      });
      check("score", [](const Asked& a, Answer& to) { to.add(map(a.plan, a.operands, a.options).score); });
    }
    return good_;
  }

 private:
  void posterior() {
    std::vector<Tensor> cotangents;
    for (const Output& output : drawn_.graph.outputs()) {
      std::vector<std::int64_t> shape;
      for (const DimId d : output.dims) shape.push_back(drawn_.graph.dims()[d].size);
      cotangents.push_back(signed_tensor(shape, drawn_.random));
    }
    std::vector<Tensor> statistics, direction;
    for (const Tensor& t : drawn_.tensors()) {
      statistics.push_back(signed_tensor(t.shape(), drawn_.random));
      direction.push_back(signed_tensor(t.shape(), drawn_.random));
    }
    const auto with_zeros = [](const Asked& a, std::vector<Tensor> own) {
      for (std::size_t f = own.size(); f < a.operands.size(); ++f) {
        own.emplace_back(Dtype::float64, a.operands[f].shape());
      }
      return own;
    };
    check("gradients", [&](const Asked& a, Answer& to) {
      const auto got = value_and_gradient(a.plan, a.operands, a.options, {.cotangents = cotangents, .gradients = {}});
      to.add(got.values, got.values.size());
      to.add(got.gradients, a.factors);
    });
    check("Hessian", [&](const Asked& a, Answer& to) {
      const auto got = hessian_vector_product(a.plan, a.operands, with_zeros(a, direction), a.options, cotangents);
      to.add(got.tangents, got.tangents.size());
      to.add(got.products, a.factors);
    });
    check("marginals", [](const Asked& a, Answer& to) {
      const Marginals got = marginals(a.plan, a.operands, a.options, {.factors = true});
      to.add(got.log_partition);
      for (const auto& [name, tensor] : got.variables) to.add(tensor);
      to.add(got.factors, a.factors);
    });
    check("logarithms of marginals", [](const Asked& a, Answer& to) {
      for (const auto& [name, tensor] : marginals(a.plan, a.operands, a.options, {.log = true}).variables) {
        to.add(tensor);
      }
    });
    check("entropy", [](const Asked& a, Answer& to) { to.add(entropy(a.plan, a.operands, a.options)); });
    check("expectation", [&](const Asked& a, Answer& to) {
      to.add(expectation(a.plan, a.operands, with_zeros(a, statistics), a.options));
    });
    for (const DimId plate : drawn_.of_kind(DimKind::plate)) {
      check("leave-one-out", [&](const Asked& a, Answer& to) {
        to.add(leave_one_out(a.plan, a.operands, drawn_.name_of(plate), a.options));
      });
    }
    check("evaluation", [&](const Asked& a, Answer& to) {
      const Evaluation evaluation = a.plan.evaluate(a.operands, a.options);
      to.add(evaluation.gradient(cotangents), a.factors);
      for (const auto& [name, tensor] : evaluation.marginals().variables) to.add(tensor);
      to.add(evaluation.entropy());
    });
  }

  void check(const char* what, const Ask& ask) {
    if (!good_) return;
    const Answer got = answer({pair_.observing, drawn_.tensors(), pair_.observed, pair_.factors}, ask);
    good_ = alike(what, got, answer({pair_.expanded, pair_.operands, pair_.plain, pair_.factors}, ask));
    if (!good_) return;
    // Neither threads nor blocks that are only made smaller change a bit.
    const BlockedFrom blocked(0);
    const Answer cut = answer({pair_.observing, drawn_.tensors(), pair_.observed, pair_.factors}, ask);
    good_ = alike(what, cut, got);
    if (!good_) return;
    RunOptions threads = pair_.observed;
    threads.threads = 3;
    const Answer parallel = answer({pair_.observing, drawn_.tensors(), threads, pair_.factors}, ask);
    if (parallel.numbers != cut.numbers) good_ = testing::AssertionFailure() << what << " depends on threads";
  }

  DrawnModel& drawn_;
  const Pair& pair_;
  testing::AssertionResult good_ = testing::AssertionSuccess();
};

std::string print(const RunOptions& options) {
  std::ostringstream text;
  for (const auto& [variable, states] : options.evidence) {
    text << "  " << variable << " =";
    for (const std::int64_t s : states) text << " " << s;
    text << "\n";
  }
  for (const auto& [plate, weights] : options.weights) {
    text << "  weights of " << plate << " =";
    for (const double w : weights.values()) text << " " << w;
    text << "\n";
  }
  return text.str();
}

testing::AssertionResult compare(DrawnModel& drawn, bool weighted, std::int64_t& gathered) {
  const Pair pair = observe(drawn, drawn.run(), drawn.variables(), weighted);
  gathered += pair.gathers ? 1 : 0;
  testing::AssertionResult good = testing::AssertionSuccess();
  try {
    good = Questions(drawn, pair).run();
  } catch (const IntractableError& error) {
    // A plate of size 1 stands for more than one slice where it is weighted: that is refused in either form.
    good = testing::AssertionFailure() << "threw " << error.what() << ", and the expanded model did not";
    try {
      (void)pair.expanded.run(pair.operands, pair.plain);
    } catch (const IntractableError&) {
      return testing::AssertionSuccess();
    }
  } catch (const std::exception& error) {
    good = testing::AssertionFailure() << "threw " << error.what();
  }
  if (good) return good;
  return testing::AssertionFailure() << print(pair.observed) << good.message();
}

void graphs(std::uint64_t runs, Semiring semiring, bool weighted = false) {
  std::int64_t gathered = 0;
  const DrawOptions draw{.semiring = semiring, .zero_percent = 3, .graphs = CaseOptions{.most_work = 6000}};
  for_each_model(runs, draw, [&](DrawnModel& drawn) { return compare(drawn, weighted, gathered); });
  EXPECT_GE(gathered, quota(static_cast<std::int64_t>(runs) / 10 + 1));
}

TEST(GatheredFactors, OfGraphs) {
  graphs(200, Semiring::log);
  graphs(100, Semiring::real);
}
TEST(GatheredFactors, OfGraphsInOtherSemirings) {
  graphs(150, Semiring::max_plus);
  graphs(100, Semiring::min_plus);
  graphs(100, Semiring::max_product);
  graphs(100, Semiring::boolean);
}
TEST(GatheredFactors, WithWeights) {
  graphs(200, Semiring::log, true);
  graphs(100, Semiring::max_plus, true);
}

void chains(std::uint64_t runs, Semiring semiring) {
  std::int64_t gathered = 0;
  for_each_model(runs, DrawOptions{.semiring = semiring, .graphs = ChainOptions{}},
                 [&](DrawnModel& drawn) { return compare(drawn, false, gathered); });
  EXPECT_GT(gathered, quota(static_cast<std::int64_t>(runs) / 20));
}

TEST(GatheredFactors, OfChains) {
  chains(60, Semiring::log);
  chains(30, Semiring::real);
  chains(40, Semiring::max_plus);
}

}  // namespace
}  // namespace plated::test
