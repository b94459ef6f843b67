// NaN, infinities and sums that overflow, unchecked, in every verb: an error of ours or an answer, whose states exist
// and whose probabilities are numbers. Values, scores and derivatives may be anything.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "plated/plated.hpp"
#include "property/derivatives.hpp"

namespace plated::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// What the entries of a model are drawn from, besides ordinary ones.
struct Mood {
  const char* name;
  int percent;  // of entries that are not ordinary
  std::vector<double> entries;
};
const std::vector<Mood> moods = {
    {"a NaN here and there", 6, {nan}},
    {"infinities", 20, {infinity, -infinity}},
    {"nothing is possible", 100, {-infinity}},
    {"little is possible", 70, {-infinity}},
    {"sums overflow", 60, {1e308}},
    {"sums overflow to both sides", 60, {1e308, -1e308, 1.7e308}},
    {"float32 overflows", 60, {3e38, -3e38, 1e38}},
    {"overflows that zeros annihilate", 60, {1e308, 3e38, -infinity}},
    {"denormals", 60, {5e-324, 1e-310, 1e-40, 0.0}},
    {"anything", 60, {nan, infinity, -infinity, 1e308, -1e308, 3e38, 5e-324, 0.0, -0.0, 709, -745}},
};

/// Writes such entries into a tensor of any strides.
void spoil(const Tensor& tensor, const Mood& mood, Random& random) {
  std::vector<std::int64_t> index(tensor.rank(), 0);
  for (std::int64_t k = tensor.elements(); k > 0; --k) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) offset += index[axis] * tensor.strides()[axis];
    if (random.chance(mood.percent)) {
      const double value = random.pick(mood.entries);
      if (tensor.dtype() == Dtype::float32) {
        static_cast<float*>(tensor.mutable_data())[offset] = static_cast<float>(value);
      } else {
        static_cast<double*>(tensor.mutable_data())[offset] = value;
      }
    }
    for (std::size_t axis = index.size(); axis-- > 0 && ++index[axis] == tensor.shape()[axis];) index[axis] = 0;
  }
}

/// Asks every verb. Each question ends in an answer that holds what is promised, or in an error of ours.
class Asker {
 public:
  Asker(DrawnModel& drawn, RunOptions run) : drawn_(drawn), run_(std::move(run)) { run_.check = Check::none; }

  [[nodiscard]] testing::AssertionResult ask() {
    for (const Semiring semiring : {Semiring::log, Semiring::real, Semiring::max_plus, Semiring::min_plus,
                                    Semiring::max_product, Semiring::boolean}) {
      run_.semiring = semiring;
      ask("run", [&] { (void)drawn_.plan.run(drawn_.tensors(), run_); });
      ask("map", [&] { check_map(map(drawn_.plan, drawn_.tensors(), run_)); });
      ask("max_marginals", [&] { (void)max_marginals(drawn_.plan, drawn_.tensors(), run_); });
      ask_derivatives();
      ask_posterior();
    }
    run_.semiring = Semiring::log;
    ask_models();
    if (wrong_.empty()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << wrong_;
  }

 private:
  template <class Question>
  void ask(const std::string& verb, Question question) {
    verb_ = verb;
    try {
      question();
    } catch (const Error&) {
    } catch (const std::exception& error) {
      fail(std::string("threw ") + error.what());
    }
  }
  void fail(const std::string& what) {
    wrong_ += "\n  " + verb_ + " in " + std::string(name(run_.semiring)) + ": " + what;
  }

  void check_finite(const std::string& what, const Tensor& tensor) { check_finite(what, tensor, 0.0); }
  /// A logarithm may be −inf: of zero, or of less than doubles can tell.
  void check_logarithm(const std::string& what, const Tensor& tensor) { check_finite(what, tensor, -infinity); }
  void check_finite(const std::string& what, const Tensor& tensor, double allowed) {
    if (tensor.elements() == 0) return;
    for (const double x : tensor.values()) {
      if (!std::isfinite(x) && x != allowed) return fail(what + " has the entry " + std::to_string(x));
    }
  }

  void check_states(const std::map<std::string, Integers>& assignment) {
    for (const auto& [variable, states] : assignment) {
      const std::int64_t size = drawn_.graph.dims()[*drawn_.graph.find(variable)].size;
      for (const std::int64_t state : states.values) {
        if (state >= (run_.lengths.empty() ? 0 : -1) && state < size) continue;
        fail("state " + std::to_string(state) + " of " + std::to_string(size) + " of " + variable);
        break;
      }
    }
  }
  void check_map(const MapResult& best) {
    check_finite("the score", best.score, run_.semiring == Semiring::min_plus ? infinity : -infinity);
    check_states(best.assignment);
  }
  void check_posterior(const Marginals& answer, bool log) {
    const double allowed = log ? -infinity : 0.0;
    check_logarithm("log Z", answer.log_partition);
    for (const auto& [variable, tensor] : answer.variables) check_finite(variable, tensor, allowed);
    for (const Tensor& tensor : answer.factors) check_finite("a factor", tensor, allowed);
    for (const Tensor& tensor : answer.sets) check_finite("a set", tensor, allowed);
  }

  void ask_derivatives() {
    ask("value_and_gradient", [&] { (void)value_and_gradient(drawn_.plan, drawn_.tensors(), run_); });
    std::vector<Tensor> direction;
    for (const Tensor& operand : drawn_.tensors()) direction.push_back(signed_tensor(operand.shape(), drawn_.random));
    ask("hessian_vector_product",
        [&] { (void)hessian_vector_product(drawn_.plan, drawn_.tensors(), direction, run_); });
    ask("expectation", [&] { check_finite("it", expectation(drawn_.plan, drawn_.tensors(), direction, run_)); });
  }

  void ask_posterior() {
    const auto marginals_of = [&](const MarginalOptions& wanted) {
      check_posterior(marginals(drawn_.plan, drawn_.tensors(), run_, wanted), wanted.log);
    };
    ask("marginals", [&] { marginals_of({.factors = true}); });
    ask("log marginals", [&] { marginals_of({.factors = true, .log = true}); });
    ask("filtered marginals", [&] { marginals_of({.filtered = true}); });
    std::vector<std::vector<std::string>> sets;
    for (const DimId v : drawn_.of_kind(DimKind::variable)) {
      if (drawn_.graph.dims()[v].end == End::none) sets.push_back({drawn_.name_of(v)});
    }
    ask("joint marginals", [&] { marginals_of({.variables = false, .sets = sets, .ends = true}); });
    ask("entropy", [&] { check_finite("it", entropy(drawn_.plan, drawn_.tensors(), run_)); });
    for (const std::int64_t count : {1, 40}) {
      ask("sample",
          [&] { check_states(sample(drawn_.plan, drawn_.tensors(), {.count = count, .seed = drawn_.c.seed}, run_)); });
    }
    for (DimId d = 0; d < drawn_.graph.dims().size(); ++d) {
      const DimKind kind = drawn_.graph.dims()[d].kind;
      if (kind == DimKind::plate) leave_out(d, {});
      for (const Factor& factor : drawn_.graph.factors()) {
        if (kind == DimKind::chain) leave_out(d, {factor.name});
      }
    }
  }
  void leave_out(DimId d, const std::vector<std::string>& factors) {
    ask("leave_one_out of " + drawn_.name_of(d),
        [&] { check_logarithm("it", leave_one_out(drawn_.plan, drawn_.tensors(), drawn_.name_of(d), run_, factors)); });
  }

  void ask_models() {
    for (const Space space : {Space::log, Space::real}) {
      Model model{.graph = drawn_.graph.asking({{}}), .factors = drawn_.tensors(), .space = space};
      model.children.resize(model.factors.size());
      model.lengths = run_.lengths;
      ask("log_partition of a model", [&] { (void)log_partition(model); });
      ask("marginals of a model", [&] {
        for (const auto& [variable, tensor] : marginals(model)) check_finite(variable, tensor);
      });
      ask("map of a model", [&] { check_map(map(model)); });
      ask("sample of a model", [&] { check_states(sample(model, {.count = 9})); });
      ask("entropy of a model", [&] { check_finite("it", entropy(model)); });
    }
  }

  DrawnModel& drawn_;
  RunOptions run_;
  std::string verb_;
  std::string wrong_;
};

testing::AssertionResult survives(DrawnModel& drawn, RunOptions run) {
  const Mood& mood = drawn.random.pick(moods);
  for (const Tensor& tensor : drawn.tensors()) spoil(tensor, mood, drawn.random);
  run.threads = drawn.random.chance(50) ? 1 : 2;
  const testing::AssertionResult result = Asker(drawn, std::move(run)).ask();
  if (result) return result;
  return testing::AssertionFailure() << mood.name << result.message();
}

const std::vector<Dtype> either = {Dtype::float32, Dtype::float64};

TEST(AnyNumbers, NeverLeadOutOfPlatedGraphs) {
  for_each_model(1500, {.dtypes = either}, [](DrawnModel& drawn) { return survives(drawn, drawn.run()); });
}

TEST(AnyNumbers, NeverLeadOutOfChains) {
  for_each_model(1500, {.dtypes = either, .graphs = ChainOptions{}},
                 [](DrawnModel& drawn) { return survives(drawn, drawn.run()); });
}

TEST(AnyNumbers, NeverLeadOutOfChainsInsideChains) {
  for_each_model(600, {.dtypes = either, .graphs = ChainOptions{.nested = true}},
                 [](DrawnModel& drawn) { return survives(drawn, drawn.run()); });
}

/// Domains that fill tiles and tables of choices, and rows that come in several pieces.
TEST(AnyNumbers, NeverLeadOutOfLargeDomains) {
  for_each_seed(40, [](std::uint64_t seed) -> testing::AssertionResult {
    Random random(seed);
    const std::int64_t sizes[] = {16, 48, 64, 130};
    const std::int64_t a = random.pick(sizes), b = random.pick(sizes);
    Case c;
    c.seed = seed;
    c.plates = {{"i", 5, {}}};
    c.variables = {{"a", a, {}}, {"b", b, {}}, {"c", random.chance(20) ? 5000 : 17, {}}};
    c.factors = {{{"a"}, {}}, {{"i", "a", "b"}, {}}, {{"i", "b"}, {}}, {{"a", "c"}, {}}};
    c.outputs = {{}};
    const FactorGraph graph = c.build();
    Operands operands(graph, random, {.dtypes = either});
    DrawnModel drawn{c, graph, compile(graph), Semiring::log, random, std::move(operands)};
    const testing::AssertionResult result = survives(drawn, drawn.run());
    return result ? result : testing::AssertionFailure() << c.print() << "\n  " << result.message();
  });
}

}  // namespace
}  // namespace plated::test
