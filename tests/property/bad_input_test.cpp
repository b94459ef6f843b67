// Bad equations, shapes, names and options: each has its own type of error, and the message names fault and place.
#include <gtest/gtest.h>

#include <limits>

#include "plated/plated.hpp"
#include "unit/graph/message_of.hpp"

namespace plated {
namespace {

using test::message_of;

const Tensor scalar = Tensor::scalar(1.0);
const Tensor vector = Tensor::of<double>({2}, {1, 2});
const Tensor matrix = Tensor::of<double>({2, 2}, {1, 2, 3, 4});
const Tensor wide_matrix = Tensor::of<double>({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(BadEquation, MalformedOnesPointAtTheColumn) {
  const struct {
    const char* equation;
    std::optional<bool> spaced;
    const char* says;
    const char* column;
  } table[] = {
      {"", {}, "no '->'", "column 1"},
      {"ab", {}, "no '->'", "column 3"},
      {"ab,bc", {}, "no '->'", "column 6"},
      {"ab->a->b", {}, "second", "column 6"},
      {"ab-", {}, "'-' without '>'", "column 3"},
      {"a-b->", {}, "'-' without '>'", "column 2"},
      {"ab>a", {}, "'>' without '-'", "column 3"},
      {"ab->>a", {}, "'>' without '-'", "column 5"},
      {"(ab->", {}, "not closed", "column 1"},
      {"(a,b)->", {}, "not closed", "column 1"},
      {"(ab", {}, "not closed", "column 1"},
      {"ab)->", {}, "not opened", "column 3"},
      {"a()b->", {}, "no dim in this parenthesis", "column 2"},
      {"((a))b->", {}, "do not nest", "column 2"},
      {"ab->(a)", {}, "an output cannot have them", "column 5"},
      {"...ab->", {}, "ellipsis", "column 1"},
      {"a[b->", {}, "brackets", "column 2"},
      {"ab]->", {}, "brackets", "column 3"},
      {"a\x01->", {}, "cannot be a name", "column 2"},
      {"a\xff->", {}, "UTF-8", "column 2"},
      {"row[0 col ->", true, "not closed", "column 4"},
      {"row.col b ->", true, "longer name", "column 4"},
      {"row b -> row] b", true, "brackets", "column 13"},
  };
  for (const auto& row : table) {
    SCOPED_TRACE(row.equation);
    const std::string message =
        message_of<ParseError>([&] { (void)einsum(row.equation, {matrix}, {.spaced = row.spaced}); });
    EXPECT_SAYS(message, row.says);
    EXPECT_SAYS(message, row.column);
    EXPECT_SAYS(message, "^");
  }
}

TEST(BadEquation, ANameThatAnEquationCouldNotSpellIsRefusedByTheBuilder) {
  FactorGraph g;
  for (const char* name : {"", "a b", "a,b", "a->b", "(a)", "^a", "a$", "a-b"}) {
    EXPECT_THROW(g.variable(name, 2), ParseError) << name;
    EXPECT_THROW(g.plate(name, 2), ParseError) << name;
  }
  EXPECT_TRUE(g.dims().empty());
}

TEST(BadShape, RankMismatchNamesTheOperandAndBothRanks) {
  const std::string message = message_of<RankError>([] { (void)einsum("a,bcd->", {vector, matrix}); });
  EXPECT_SAYS(message, "operand 1 \"bcd\"");
  EXPECT_SAYS(message, "3 dims");
  EXPECT_SAYS(message, "(2, 2)");
  EXPECT_SAYS(message, "2 axes");
}

TEST(BadShape, SizeMismatchNamesTheDimAndBothSizes) {
  const std::string message = message_of<SizeError>([] { (void)einsum("ab,ba->", {matrix, wide_matrix}); });
  EXPECT_SAYS(message, "'a'");
  EXPECT_SAYS(message, "2 on axis 0 of operand 0");
  EXPECT_SAYS(message, "3 on axis 1 of operand 1");
}

TEST(BadShape, SizeOneDoesNotBroadcast) {
  const Tensor one = Tensor::of<double>({1}, {1});
  EXPECT_SAYS(message_of<SizeError>([&] { (void)einsum("a,a->", {vector, one}); }), "does not broadcast");
}

TEST(BadShape, ARepeatedDimMustBeSquare) {
  EXPECT_SAYS(message_of<SizeError>([] { (void)einsum("aa->", {wide_matrix}); }), "'a'");
}

TEST(BadShape, ACompiledPlanChecksWhatItIsGiven) {
  FactorGraph g;
  g.variable("x", 2);
  g.variable("y", 3);
  g.factor("likelihood", {"x", "y"});
  g.output({"x"});
  const Plan plan = compile(g);
  const std::string rank = message_of<RankError>([&] { (void)plan.run({vector}); });
  EXPECT_SAYS(rank, "operand 0 ('likelihood')");
  EXPECT_SAYS(rank, "(2)");
  const std::string size = message_of<SizeError>([&] { (void)plan.run({matrix}); });
  EXPECT_SAYS(size, "'y'");
  EXPECT_SAYS(size, "size 3");
  EXPECT_SAYS(size, "axis 1");
  EXPECT_EQ(plan.run({wide_matrix}, {.semiring = Semiring::real})[0].values(), (std::vector<double>{6, 15}));
}

TEST(BadShape, ATiedDimNeedsItsSize) {
  EXPECT_SAYS(message_of<SizeError>([] { (void)einsum("(i)a->", {vector}, {.plates = "i"}); }), "'sizes'");
  EXPECT_SAYS(message_of<SizeError>([] {
                (void)einsum("(i)a->", {vector}, {.plates = "i", .sizes = {{"i", -1}}});
              }),
              "-1");
  EXPECT_SAYS(message_of<SizeError>([] { (void)einsum("a->", {vector}, {.sizes = {{"a", 3}}}); }), "two sizes");
}

TEST(BadShape, NegativeSizesAreRefusedEverywhere) {
  FactorGraph g;
  EXPECT_SAYS(message_of<SizeError>([&] { g.plate("i", -1); }), "-1");
  EXPECT_SAYS(message_of<SizeError>([&] { g.variable("x", -2); }), "-2");
  EXPECT_THROW(Tensor(Dtype::float32, {2, -1}), SizeError);
  double value = 0;
  EXPECT_THROW((void)Tensor::view(&value, {-1}), SizeError);
}

TEST(BadNames, AnOutputDimThatNoOperandHas) {
  const std::string message = message_of<UnknownNameError>([] { (void)einsum("ab->ac", {matrix}); });
  EXPECT_SAYS(message, "'c'");
  EXPECT_SAYS(message, "in no operand");
}

TEST(BadNames, PlatesBatchAndSizesThatTheEquationDoesNotHave) {
  EXPECT_SAYS(message_of<UnknownNameError>([] { (void)einsum("ab->", {matrix}, {.plates = "k"}); }), "'k'");
  EXPECT_SAYS(message_of<UnknownNameError>([] { (void)einsum("ab->", {matrix}, {.batch = "k"}); }), "'batch'");
  EXPECT_SAYS(message_of<UnknownNameError>([] { (void)einsum("ab->", {matrix}, {.sizes = {{"k", 2}}}); }), "'sizes'");
}

TEST(BadNames, TheBuilderKnowsWhatIsDeclared) {
  FactorGraph g;
  g.variable("x", 2);
  EXPECT_SAYS(message_of<UnknownNameError>([&] { g.factor("f", {"x", "y"}); }), "'y'");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { g.output({"z"}); }), "'z'");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { g.variable("w", 2, {"i"}); }), "'i'");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { g.factor("f", {"x"}, {.distribution_of = "y"}); }), "'y'");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { (void)g.unroll("i"); }), "'i'");
  EXPECT_SAYS(message_of<UnknownNameError>([] { (void)semiring_named("tropical"); }), "max_plus");
}

TEST(BadNames, DuplicatesAreNamed) {
  EXPECT_SAYS(message_of<DuplicateNameError>([] { (void)einsum("ab->aa", {matrix}); }), "'a'");
  EXPECT_SAYS(message_of<DuplicateNameError>([] { (void)einsum("ab->", {matrix}, {.plates = "aa"}); }), "'plates'");
  EXPECT_SAYS(message_of<DuplicateNameError>([] { (void)einsum("ab->", {matrix}, {.plates = "a", .batch = "a"}); }),
              "'batch'");
  EXPECT_SAYS(message_of<DuplicateNameError>([] { (void)einsum("(a)ab->", {matrix}, {.plates = "a"}); }), "'a'");
  FactorGraph g;
  g.variable("x", 2);
  EXPECT_SAYS(message_of<DuplicateNameError>([&] { g.plate("x", 2); }), "'x'");
  g.factor("f", {"x"});
  EXPECT_SAYS(message_of<DuplicateNameError>([&] { g.factor("f", {"x"}); }), "'f'");
}

TEST(BadPlates, OutputsThatDisagreeOnAVariablesPlatesAreBothNamed) {
  const std::string message = message_of<PlateError>([] { (void)einsum_all("iz->z,iz", {matrix}, {.plates = "i"}); });
  EXPECT_SAYS(message, "\"z\"");
  EXPECT_SAYS(message, "\"iz\"");
  EXPECT_SAYS(message, "variable 'z'");
}

TEST(BadPlates, AFactorOutsideAPlateOfItsVariable) {
  FactorGraph g;
  g.plate("i", 2);
  g.variable("x", 2, {"i"});
  g.factor("prior", {"x"});
  g.output({});
  const std::string message = message_of<PlateError>([&] { (void)compile(g); });
  EXPECT_SAYS(message, "'x'");
  EXPECT_SAYS(message, "'i'");
  EXPECT_SAYS(message, "'prior'");
}

TEST(BadPlates, AVariableCannotBeTied) {
  EXPECT_SAYS(message_of<PlateError>([] { (void)einsum("(a)b->", {vector}, {.sizes = {{"a", 2}}}); }), "'a'");
}

TEST(BadCount, WrongNumberOfOperandsAndOutputs) {
  const std::string few = message_of<OperandCountError>([] { (void)einsum("a,a->", {vector}); });
  EXPECT_SAYS(few, "2 operands");
  EXPECT_SAYS(few, "1 were given");
  FactorGraph g;
  g.variable("x", 2);
  g.factor("f", {"x"});
  g.output({});
  const Plan plan = compile(g);
  EXPECT_SAYS(message_of<OperandCountError>([&] { (void)plan.run({vector, vector}); }), "2 operands");
  EXPECT_SAYS(message_of<OperandCountError>([&] { (void)plan.run(std::vector<Tensor>{}); }), "0 operands");
  Workspace workspace(plan);
  EXPECT_SAYS(message_of<OperandCountError>(
                  [&] { plan.run_into(std::vector<Tensor>{}, std::vector<Tensor>{vector}, workspace); }),
              "1 outputs");
}

TEST(BadCount, EinsumWithSeveralOutputsPointsToEinsumAll) {
  EXPECT_SAYS(message_of<OptionError>([] { (void)einsum("ab->a,b", {matrix}); }), "einsum_all");
}

TEST(BadOptions, AreRefusedByName) {
  const auto with = [](auto change) {
    EinsumOptions options;
    change(options);
    return message_of<OptionError>([&] { (void)einsum("ab->", {matrix}, options); });
  };
  EXPECT_SAYS(with([](auto& o) { o.plan.without = {"fuse_everything"}; }), "'fuse_everything'");
  EXPECT_SAYS(with([](auto& o) { o.threads = -1; }), "-1");
  EXPECT_SAYS(with([](auto& o) { o.memory_limit = -5; }), "-5");
  EXPECT_SAYS(with([](auto& o) { o.plan.trials = -3; }), "-3");
  EXPECT_SAYS(with([](auto& o) { o.plan.seconds = -1; }), "seconds");
  EXPECT_SAYS(with([](auto& o) { o.plan.seconds = std::numeric_limits<double>::quiet_NaN(); }), "seconds");
}

TEST(BadOptions, APlanForSumsDoesNotRunInOtherSemirings) {
  FactorGraph g;
  g.variable("x", 2);
  g.factor("p", {"x"}, {.distribution_of = "x"});
  g.output({});
  const Plan plan = compile(g, {.sums_only = true});
  const Tensor p = Tensor::of<double>({2}, {0.25, 0.75});
  for (const Semiring semiring : {Semiring::max_plus, Semiring::min_plus, Semiring::max_product, Semiring::boolean}) {
    const std::string message = message_of<OptionError>([&] { (void)plan.run({p}, {.semiring = semiring}); });
    EXPECT_SAYS(message, "sums_only");
    EXPECT_SAYS(message, std::string(name(semiring)));
  }
  EXPECT_EQ(plan.run({p}, {.semiring = Semiring::real})[0].item(), 1.0);
  EXPECT_EQ(plan.dropped(), std::vector<std::string>{"x"});
}

TEST(BadOptions, AWorkspaceOfAnotherPlan) {
  const auto plan_of = [](const char* equation) {
    return compile(FactorGraph::from_equation(equation, std::vector<Tensor::Shape>{{2, 2}}));
  };
  const Plan rows = plan_of("ab->a");
  const Plan columns = plan_of("ab->b");
  Workspace workspace(rows);
  const Tensor result(Dtype::float64, {2});
  const RunOptions real{.semiring = Semiring::real};
  rows.run_into(std::vector{result}, std::vector{matrix}, workspace, real);
  EXPECT_SAYS(
      message_of<OptionError>([&] { columns.run_into(std::vector{result}, std::vector{matrix}, workspace, real); }),
      "another plan");
  EXPECT_EQ(result.values(), (std::vector<double>{3, 7}));
  Workspace moved = std::move(workspace);
  EXPECT_THROW(rows.run_into(std::vector{result}, std::vector{matrix}, workspace, real), OptionError);
  rows.run_into(std::vector{result}, std::vector{matrix}, moved, real);
}

}  // namespace
}  // namespace plated
