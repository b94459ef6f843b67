// Every call that the headers document, as a user writes it: it must compile without a warning, and run.
#include <plated/plated.hpp>

#include <cstdio>
#include <cstring>
#include <numeric>

static_assert(PLATED_VERSION_MAJOR >= 0 && PLATED_VERSION_MINOR >= 0 && PLATED_VERSION_PATCH >= 0);

namespace {

using namespace plated;

int failures = 0;
void expect(bool good, const char* what) {
  if (good) return;
  std::printf("%s\n", what);
  ++failures;
}

void tensors() {
  std::vector<float> numbers(6, 1.0F);
  const Tensor owned = Tensor::of({2, 3}, numbers);
  const Tensor view = Tensor::view(numbers, {2, 3});
  expect(owned == view, "equal entries");
  const std::size_t i = 1;
  const int j = 2;
  view.at<float>({i, j}) = 4.0F;
  expect(view.at({i, j}) > 3 && view.data<const float>()[5] > 3 && view.span<float>().size() == 6, "writing");
  double sum = 0;
  for (const double entry : view) sum += entry;
  expect(sum > 8.5 && sum < 9.5 && std::accumulate(owned.begin(), owned.end(), 0.0) < 6.5, "iteration");
}

void plans() {
  const Tensor f = Tensor::of<double>({2}, {0.1, -0.3});
  const Tensor g = Tensor::of<double>({3, 2, 2}, std::vector<double>(12, -0.5));
  FactorGraph graph;
  graph.plate("i", 3);
  graph.variable("x", 2);
  graph.variable("y", 2);
  graph.factor("prior", {"x"});
  graph.factor("likelihood", {"i", "x", "y"});
  const Plan plan = compile(graph, {.observable = {"y"}, .questions = {{.kind = Question::Kind::marginals}}});
  const std::vector<std::int32_t> seen{0, -1, 1};
  const RunOptions options{.threads = 1, .evidence = {{"y", IntegerView::view(seen)}}};
  Tensor total(Dtype::float64, {});
  Workspace workspace(plan);
  plan.run_into({total}, {f, g}, workspace, options);
  expect(total == plan.run({f, g}, options)[0], "run_into");
  plan.run_into({total}, {f, g}, workspace);
  plan.run_into({total}, {f, g});
  plan.run_into({total}, {f, g}, {.threads = 1});

  Marginals posterior;
  marginals_into(posterior, plan, {f, g}, workspace);
  expect(posterior.variables.at("x") == marginals(plan, {f, g}).variables.at("x"), "marginals");
  MapResult best;
  map_into(best, plan, {f, g}, workspace, {.check = Check::none});
  std::map<std::string, Integers> draws;
  sample_into(draws, plan, {f, g}, {.count = 3, .seed = 7}, workspace);
  expect(draws == sample(plan, {f, g}, {.count = 3, .seed = 7}) && best.assignment == map(plan, {f, g}).assignment,
         "choices");
  Tensor number, left_out;
  entropy_into(number, plan, {f, g}, workspace);
  expectation_into(number, plan, {f, g}, {f, g}, workspace);
  leave_one_out_into(left_out, plan, {f, g}, "i", workspace);
  std::map<std::string, Tensor> scores;
  max_marginals_into(scores, plan, {f, g}, workspace);
  ValueAndGradient slopes;
  value_and_gradient_into(slopes, plan, {f, g}, workspace, {}, {.cotangents = {Tensor::scalar(2.0)}});
  HessianVectorProduct curves;
  hessian_vector_product_into(curves, plan, {f, g}, {f, g}, workspace);
  expect(slopes.gradients.size() == 2 && curves.products.size() == 2 && scores.size() == 2, "sweeps");
  const Evaluation evaluation = plan.evaluate({f, g});
  expect(evaluation.gradient({Tensor::scalar(2.0)}).size() == 2 && evaluation.expectation({f, g}).rank() == 0,
         "evaluation");
  expect(plan.cost({.kind = Question::Kind::marginals}, {{"i", 1000}}).flops > 0, "cost");
}

void equations() {
  const Tensor f = Tensor::of<double>({2}, {0.1, -0.3});
  const Tensor g = Tensor::of<double>({2, 2}, {0.0, 0.5, -0.5, 0.2});
  int told = 0;
  const EinsumOptions watched{
      .plates = "i", .evidence = {{"x", 1}}, .cancelled = [] { return false; }, .progress = [&](double) { ++told; }};
  const Tensor z = einsum("x,iy->", {f, g}, watched);
  expect(told > 0 && z.rank() == 0, "einsum");
  expect(marginals("x,iy->", {f, g}, {.plates = "i"}, {.factors = true}).factors.size() == 2, "marginals of equations");
  auto [score, assignment] = map("x,iy->", {f, g}, {.plates = "i"});
  expect(assignment.at("x").at({}) == 0 && score.item() < 10, "map of equations");
  auto [values, gradients] = value_and_gradient("x,iy->", {f, g}, {.plates = "i"});
  expect(values.size() == 1 && gradients.size() == 2, "gradients of equations");
}

}  // namespace

int main() {
  tensors();
  plans();
  equations();
  expect(std::strcmp(PLATED_VERSION, "") != 0, "version");
  return failures;
}
