// Many threads ask one plan every question at once, and each gets the answer it would get alone.
#include <gtest/gtest.h>

#include <thread>

#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"

namespace plated {
namespace {

/// Everything a question answered, as numbers.
using Answer = std::vector<double>;

void append(Answer& answer, const Tensor& tensor) {
  const std::vector<double> values = tensor.values();
  answer.insert(answer.end(), values.begin(), values.end());
}
void append(Answer& answer, const Integers& integers) {
  answer.insert(answer.end(), integers.values.begin(), integers.values.end());
}
template <class T>
void append(Answer& answer, const std::vector<T>& list) {
  for (const T& item : list) append(answer, item);
}
template <class T>
void append(Answer& answer, const std::map<std::string, T>& named) {
  for (const auto& [name, item] : named) append(answer, item);
}

constexpr int questions = 9;

Answer ask(const Plan& plan, const std::vector<Tensor>& operands, int question, RunOptions options) {
  Answer answer;
  switch (question) {
    case 0:
      append(answer, plan.run(operands, options));
      break;
    case 1:
      append(answer, value_and_gradient(plan, operands, options).gradients);
      break;
    case 2:
      append(answer, marginals(plan, operands, options, {.factors = true, .sets = {{"x", "y"}}}).variables);
      break;
    case 3:
      append(answer, map(plan, operands, options).assignment);
      break;
    case 4:
      append(answer, sample(plan, operands, {.count = 50, .seed = 9}, options));
      break;
    case 5:
      append(answer, entropy(plan, operands, options));
      break;
    case 6:
      append(answer, leave_one_out(plan, operands, "i", options));
      break;
    case 7:
      append(answer, hessian_vector_product(plan, operands, operands, options).products);
      break;
    default:
      append(answer, expectation(plan, operands, operands, options));
  }
  return answer;
}

TEST(ConcurrentQuestions, OfOnePlanDoNotDisturbEachOther) {
  FactorGraph graph;
  graph.plate("i", 6);
  graph.plate("j", 5);
  graph.variable("x", 4);
  graph.variable("y", 3);
  graph.factor("f", {"x"});
  graph.factor("g", {"i", "x", "y"});
  graph.factor("h", {"i", "j", "y"});
  graph.output({});
  graph.output({"i", "y"});
  const PlanOptions observing{.observable = {"y"}};
  const std::vector<std::int64_t> sizes{4, 72, 90};
  const std::vector<Tensor::Shape> shapes{{4}, {6, 4, 3}, {6, 5, 3}};
  std::vector<Tensor> operands;
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<float> values;
    for (std::int64_t e = 0; e < sizes[k]; ++e) values.push_back(0.25F * static_cast<float>((7 * e + 3) % 11) - 1);
    operands.push_back(Tensor::of(shapes[k], values));
  }
  const auto options = [](int evidence) {
    RunOptions run{.threads = 2};
    if (evidence > 0) run.evidence = {{"y", Integers({6}, {evidence - 1, -1, 0, -1, 2, -1})}};
    return run;
  };
  // Alone, from a plan of its own.
  std::vector<std::vector<Answer>> alone(3);
  const Plan quiet = compile(graph, observing);
  for (int e = 0; e < 3; ++e) {
    for (int q = 0; q < questions; ++q) {
      alone[static_cast<std::size_t>(e)].push_back(ask(quiet, operands, q, options(e)));
      ASSERT_FALSE(alone[static_cast<std::size_t>(e)].back().empty());
    }
  }
  const Plan shared = compile(graph, observing);
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 2 * questions * 3; ++round) {
        const int q = (round + 2 * t) % questions, e = (round / questions + t) % 3;
        const bool same =
            ask(shared, operands, q, options(e)) == alone[static_cast<std::size_t>(e)][static_cast<std::size_t>(q)];
        wrong[static_cast<std::size_t>(t)] += same ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace plated
