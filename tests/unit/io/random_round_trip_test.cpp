// Random models written and read again, in every format that can hold them.
#include <gtest/gtest.h>

#include <random>

#include "plated/model_file.hpp"
#include "property/seeds.hpp"
#include "same_model.hpp"

namespace plated {
namespace {

class RandomModel {
 public:
  explicit RandomModel(std::uint64_t seed) : random_(seed) {}

  Model make() {
    Model model;
    const int plates = up_to(2);
    for (int k = 0; k < plates; ++k) model.graph.plate("i" + std::to_string(k), up_to(3));
    const int count = 1 + up_to(5);
    model.space = up_to(1) == 0 ? Space::real : Space::log;
    for (int v = 0; v < count; ++v) add_variable(model, v);
    const int factors = up_to(6);
    for (int f = 0; f < factors; ++f) add_factor(model, f, plates, count);
    model.graph.output({});
    const auto homes = model.graph.variable_plates();
    for (const std::string& name : variables(model)) {
      if (up_to(2) > 0) continue;
      std::vector<std::int64_t> shape;
      for (const DimId plate : homes[*model.graph.find(name)]) shape.push_back(model.graph.dims()[plate].size);
      Integers states(shape, -1);
      for (std::int64_t& state : states.values) state = up_to(static_cast<int>(size_of(model, name))) - 1;
      model.evidence.emplace(name, states);
      model.observed.insert(name);
    }
    return model;
  }

 private:
  int up_to(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  static std::int64_t size_of(const Model& model, const std::string& name) {
    return model.graph.dims()[*model.graph.find(name)].size;
  }

  void add_variable(Model& model, int number) {
    const std::string name = "x" + std::to_string(number);
    const int size = 1 + up_to(3);
    model.graph.variable(name, size);
    static const std::vector<std::string> odd = {"a b", "\"", "ü", "\\", "\n", "-inf", "a//b", "", "0", "[", "c"};
    if (up_to(1) == 0) {
      std::vector<std::string> states;
      for (int k = 0; k < size; ++k) states.push_back(odd[static_cast<std::size_t>(up_to(10))] + std::to_string(k));
      if (size == 1) states[0] = odd[static_cast<std::size_t>(up_to(10))];
      model.states.emplace(name, states);
    }
    if (up_to(3) == 0) model.labels.emplace(name, odd[static_cast<std::size_t>(up_to(10))] + std::to_string(number));
  }

  void add_factor(Model& model, int number, int plates, int count) {
    std::vector<std::string> dims;
    std::vector<std::string> tied;
    for (int k = 0; k < plates; ++k) {
      const int kind = up_to(2);
      if (kind == 1) dims.push_back("i" + std::to_string(k));
      if (kind == 2) tied.push_back("i" + std::to_string(k));
    }
    for (int v = 0; v < count; ++v) {
      if (up_to(2) == 0) dims.push_back("x" + std::to_string(v));
    }
    std::shuffle(dims.begin(), dims.end(), random_);
    Tensor::Shape shape;
    std::size_t elements = 1;
    for (const std::string& dim : dims) {
      shape.push_back(size_of(model, dim));
      elements *= static_cast<std::size_t>(shape.back());
    }
    const bool single = up_to(2) == 0;
    std::vector<double> values(elements);
    for (double& value : values) value = entry(model.space);
    model.graph.factor("f" + std::to_string(number), dims, {.tied = tied});
    model.factors.push_back(single ? Tensor::of<float>(shape, std::vector<float>(values.begin(), values.end()))
                                   : Tensor::of<double>(shape, values));
    model.children.emplace_back();
  }

  /// Any bits that a number of that space may have, the hard ones more often.
  double entry(Space space) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const double size = std::ldexp(std::uniform_real_distribution<double>(0.5, 1)(random_), up_to(200) - 100);
    switch (up_to(4)) {
      case 0:
        return space == Space::log ? -inf : 0;
      case 1:
        return up_to(100);
      default:
        return space == Space::log && up_to(1) == 0 ? -size : size;
    }
  }

  std::mt19937_64 random_;
};

testing::AssertionResult round_trips(std::uint64_t seed) {
  const Model model = RandomModel(seed).make();
  const std::string text = model_text(model, Format::plated).text;
  const int failures = testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
  test::expect_same_model(model, parse_model(text, "again.json"));
  const int after = testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
  return after == failures ? testing::AssertionSuccess() : testing::AssertionFailure() << text;
}

TEST(RandomModels, RoundTripThroughThePlatedFormat) { test::for_each_seed(1000, round_trips); }

/// Flat models of weights go through UAI: the same numbers under other names.
testing::AssertionResult goes_through_uai(std::uint64_t seed) {
  Model model = RandomModel(seed).make();
  if (model.space == Space::log) return testing::AssertionSuccess();
  const Model flat = unroll(model);
  const ModelText written = model_text(flat, Format::uai);
  Model again = parse_model(written.text, "again.uai");
  parse_evidence(again, uai_evidence_text(flat), "again.uai.evid");
  if (again.evidence.size() != flat.evidence.size()) return testing::AssertionFailure() << "evidence";
  if (variables(again).size() != variables(flat).size()) return testing::AssertionFailure() << "variables";
  for (std::size_t f = 0; f < flat.factors.size(); ++f) {
    if (again.factors[f].values() != flat.factors[f].values()) return testing::AssertionFailure() << written.text;
  }
  return testing::AssertionSuccess();
}

TEST(RandomModels, UnrolledGoThroughUai) { test::for_each_seed(1000, goes_through_uai); }

}  // namespace
}  // namespace plated
