// Data that are read where they are: integers of any width, and files that are mapped.
#include <gtest/gtest.h>

#include "learn/blocks.hpp"
#include "learn/with_data.hpp"
#include "plated/data_file.hpp"
#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "property/in_any_form.hpp"
#include "unit/graph/message_of.hpp"
#include "unit/io/scratch.hpp"
#include "unit/learn/small_models.hpp"

namespace plated {
namespace {

using test::message_of;

/// Classes of rows and answers to questions, of so many states.
Model answers(std::int64_t questions, std::int64_t states) {
  FactorGraph graph;
  graph.plate("row", 1);
  graph.plate("question", questions);
  graph.variable("kind", 2, {"row"});
  graph.variable("answer", states, {"row", "question"});
  graph.factor("kinds", {"kind"}, {.tied = {"row"}, .distribution_of = "kind"});
  graph.factor("answers", {"question", "kind", "answer"}, {.tied = {"row"}, .distribution_of = "answer"});
  Tensor table(Dtype::float64, {questions, 2, states});
  test::Random random(5);
  const std::span<double> entries = table.span<double>();
  for (std::size_t row = 0; row < entries.size(); row += static_cast<std::size_t>(states)) {
    double sum = 0;
    for (std::size_t s = 0; s < static_cast<std::size_t>(states); ++s) sum += entries[row + s] = random.uniform(0.5, 1);
    for (std::size_t s = 0; s < static_cast<std::size_t>(states); ++s) entries[row + s] /= sum;
  }
  return make_model(graph, {{"kinds", Tensor::of<double>({2}, {0.6, 0.4})}, {"answers", table}},
                    {.space = Space::real});
}

Integers random_answers(std::int64_t rows, std::int64_t questions, std::int64_t states, int missing) {
  test::Random random(9);
  Integers seen({rows, questions}, -1);
  for (std::int64_t& state : seen.values) {
    if (!random.chance(missing)) state = random.below(states);
  }
  return seen;
}

/// What an E-step reads.
IntegerView read_by_runs(const Model& model, const IntegerView& seen) {
  const Model observed = learn::with_data(model, {.states = {{"answer", seen}}});
  learn::Blocks blocks(observed, {}, std::vector<bool>(2, true), 0);
  blocks.keep();
  return blocks.kept(0).options.evidence.at("answer");
}

TEST(DataInPlace, AreReadByEverySweep) {
  const std::vector<std::uint8_t> bytes{0, 1, 2, 3, 199, 5};
  const Model model = answers(2, 200);
  EXPECT_EQ(read_by_runs(model, IntegerView::view(bytes.data(), {3, 2})).data(), bytes.data());
  EXPECT_EQ(read_by_runs(model, IntegerView::view(bytes.data(), {3, 2}, {1, 3})).data(), bytes.data());
  const std::vector<std::int16_t> shorts{0, 1, 2, 3, 199, 5};
  EXPECT_EQ(read_by_runs(model, IntegerView::view(shorts.data(), {3, 2})).data(), shorts.data());
}

TEST(DataInPlace, AreCopiedOnceWhereTheyTakeFourTimesTheirBytes) {
  const std::vector<std::int64_t> longs{0, 1, 2, 3, 199, 5};
  const IntegerView read = read_by_runs(answers(2, 200), IntegerView::view(longs.data(), {3, 2}));
  EXPECT_EQ(read.type(), IntegerType::int16);
  EXPECT_EQ(read.values(), longs);
}

TEST(DataInPlace, WithMissingCellsAreCopiedInAsFewBytesAsTheirStatesTake) {
  const std::vector<std::int16_t> shorts{0, 1, -1, 1, 1, 0};
  const IntegerView read = read_by_runs(answers(2, 2), IntegerView::view(shorts.data(), {3, 2}));
  EXPECT_EQ(read.type(), IntegerType::int8);
  EXPECT_EQ(read.values(), (std::vector<std::int64_t>{0, 1, 2, 1, 1, 0}));
}

TEST(DataInPlace, FitWithTheSameBitsInEveryForm) {
  for (const int missing : {0, 20}) {
    const Model model = answers(3, 5);
    const Integers seen = random_answers(80, 3, 5, missing);
    const FitOptions options{.iterations = 6, .accelerate = false};
    const FitOptions in_batches{.iterations = 3, .pseudo_count = 0.5, .batch = {{"row", 7}}};
    const Fit expected = fit(model, {.states = {{"answer", seen}}}, options);
    const Fit batches = fit(model, {.states = {{"answer", seen}}}, in_batches);
    test::Random random(2);
    for (int k = 0; k < 30; ++k) {
      const IntegerView form = test::in_any_form(seen, random);
      const Fit found = fit(model, {.states = {{"answer", form}}}, options);
      EXPECT_EQ(found.history, expected.history);
      EXPECT_EQ(found.model.factors[1].values(), expected.model.factors[1].values());
      EXPECT_EQ(fit(model, {.states = {{"answer", form}}}, in_batches).history, batches.history);
    }
  }
}

TEST(DataInPlace, ThatAreOutOfRangeAreNamedWithTheirPlace) {
  const std::vector<std::uint8_t> bytes{0, 1, 0, 255, 1, 0};
  EXPECT_SAYS(message_of<ValueError>([&] {
                (void)fit(answers(2, 2), {.states = {{"answer", IntegerView::view(bytes.data(), {3, 2})}}});
              }),
              "has the value 255 at index (1, 1), and its states are 0 … 1");
}

TEST(DataInPlace, MayBeEmpty) {
  const std::vector<std::uint8_t> none;
  const Fit found = fit(answers(2, 2), {.states = {{"answer", IntegerView::view(none.data(), {0, 2})}}});
  EXPECT_EQ(found.log_likelihood, 0);
}

/// A .npy file of an array.
std::string npy(const std::string& type, const std::string& shape, bool fortran, const std::string& entries) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + entries;
}

TEST(DataInPlace, FilesAreMapped) {
  const test::Scratch scratch;
  const Model model = answers(2, 200);
  const auto read = [&](const std::string& file) {
    return read_data(model, scratch.put("answer.npy", file), "answer").at("answer");
  };
  const std::string entries("\0\1\2\3\xc7\5", 6);
  const IntegerView bytes = read(npy("|u1", "(3, 2)", false, entries));
  EXPECT_EQ(bytes, IntegerView(Integers({3, 2}, {0, 1, 2, 3, 199, 5})));
  EXPECT_EQ(bytes.type(), IntegerType::uint8);
  EXPECT_EQ(read_by_runs(model, bytes).data(), bytes.data());
  const IntegerView columns = read(npy("|u1", "(3, 2)", true, entries));
  EXPECT_EQ(columns, IntegerView(Integers({3, 2}, {0, 3, 1, 199, 2, 5})));
  EXPECT_EQ(read(npy("<i2", "(1, 2)", false, std::string("\xff\xff\1\0", 4))).type(), IntegerType::int16);
  EXPECT_EQ(read(npy("|i1", "(0, 2)", false, "")).size(), 0U);
  const std::string beyond(8, '\xff');
  EXPECT_SAYS(message_of<FormatError>([&] { (void)read(npy("<u8", "(1, 1)", false, beyond)); }), "too large");
}

}  // namespace
}  // namespace plated
