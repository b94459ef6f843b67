// Dawid and Skene's annotators: each item has a class, and each annotator errs in a way of its own.
#include <torch/torch.h>
#include <plated/torch/torch.hpp>

#include <cstdio>

using namespace plated::torch;  // NOLINT(google-build-using-namespace)

namespace {

Program annotators(const Parameters& p, const at::Tensor& labels) {
  Program model;
  const Plate items = model.plate("items", labels.size(0)), annotators = model.plate("annotators", labels.size(1));
  const Value truth = model.sample("truth", Categorical(p["prevalence"]), {items});
  const Value confusion(p["confusion"], {annotators});
  model.observe("label", Categorical(confusion[truth]), labels, {items, annotators});  // -1: was not asked
  const Value prior = at::tensor({4.0, 1.5, 1.5, 4.0}, at::kDouble).reshape({2, 2});
  for (const std::int64_t k : {0, 1}) {
    model.observe("prior_" + std::to_string(k), Dirichlet(prior.tensor()[k]),
                  Value(p["confusion"].select(1, k), {annotators}), {annotators});
  }
  return model;
}

}  // namespace

int main() {
  at::manual_seed(3);
  const std::int64_t count = 200;
  const at::Tensor truth = at::rand({count, 1}, at::kDouble) < 0.3;
  const at::Tensor skill = at::tensor({0.95, 0.9, 0.8, 0.6, 0.55}, at::kDouble);
  const at::Tensor errs = at::rand({count, 5}, at::kDouble) > skill;
  const at::Tensor asked = at::rand({count, 5}, at::kDouble) < 0.8;
  const at::Tensor labels = at::where(asked, at::logical_xor(truth, errs).to(at::kLong), -1);

  Parameters p;
  p.simplex("prevalence", at::full({2}, 0.5, at::kDouble));
  p.simplex("confusion", at::tensor({0.7, 0.3, 0.3, 0.7}, at::kDouble).reshape({1, 2, 2}).repeat({5, 1, 1}));
  ::torch::optim::Adam optimizer(p.parameters(), ::torch::optim::AdamOptions(0.05));
  (void)train(p, optimizer, [&](std::int64_t) { return -annotators(p, labels).log_likelihood() / double(count); },
              {.steps = 300});
  for (int a = 0; a < 5; ++a) {
    const at::Tensor rows = p["confusion"][a];
    std::printf("annotator %d: right in %.2f of class 0 and %.2f of class 1\n", a, rows[0][0].item<double>(),
                rows[1][1].item<double>());
  }
  const at::Tensor found = annotators(p, labels).marginals().at("truth").select(1, 1) > 0.5;
  const double share = (found == truth.squeeze(1)).to(at::kDouble).mean().item<double>();
  std::printf("%.3f of the items have their class\n", share);
  return share > 0.9 ? 0 : 1;
}
