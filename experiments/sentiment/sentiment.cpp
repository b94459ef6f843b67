// One run of Table 3: a network is trained on Sentihood, the epoch of the best accuracy on dev is kept and scored.
//
//   sentiment model=CRF-Emb-LSTM seed=0 [epochs=30] [threads=1] [triples=…]
//   sentiment model=always-positive
//
// The second is the check of the scores. `triples` takes so many of each class in each epoch. Fields also print what
// they think of the words of the paper's sentence.
#include <random>

#include <plated/marginals.hpp>
#include <plated/torch/torch.hpp>

#include "harness/program.hpp"
#include "harness/progress.hpp"
#include "harness/result.hpp"
#include "sentiment/network.hpp"

namespace experiments {
namespace {

/// Batches with as many examples of each opinion: all negative ones, and as many of the others.
class Triples {
 public:
  Triples(const Split& split, std::uint32_t seed) : of_(opinions), bits_(seed) {
    for (const Example& example : split.flat()) of_[static_cast<std::size_t>(example.gold())].push_back(example);
  }
  std::vector<std::vector<Example>> epoch(std::size_t most) {
    std::size_t count = most;
    for (std::vector<Example>& examples : of_) {
      for (std::size_t k = examples.size(); k > 1; --k) std::swap(examples[k - 1], examples[bits_() % k]);
      count = std::min(count, examples.size());
    }
    std::vector<std::vector<Example>> batches;
    for (std::size_t k = 0; k < count; ++k) {
      if (k % 11 == 0) batches.emplace_back();
      for (const std::vector<Example>& examples : of_) batches.back().push_back(examples[k]);
    }
    return batches;
  }

 private:
  std::vector<std::vector<Example>> of_;
  std::mt19937 bits_;
};

void train_epoch(Network& network, torch::optim::Adam& optimizer, const std::vector<std::vector<Example>>& batches) {
  network.train();
  for (const std::vector<Example>& batch : batches) {
    std::vector<std::int64_t> gold;
    for (const Example& example : batch) gold.push_back(example.gold());
    optimizer.zero_grad();
    torch::nn::functional::cross_entropy(network.scores(batch), at::tensor(gold, at::kLong)).backward();
    torch::nn::utils::clip_grad_norm_(network.parameters(), 5);
    optimizer.step();
  }
}

/// p(z | y = negative) of each word of the paper's sentence, for transit-location of location1.
void add_words(Result& result, Network& network, const Sentihood& data) {
  const Sentence sentence =
      data.sentence({"location1", "is", "a", "great", "place", "to", "live", "but", "not", "too", "convenient"});
  constexpr int transit = 2;
  const torch::NoGradGuard no_gradients;
  network.eval();
  const Potentials p = network.potentials({{&sentence, transit}});
  const at::Tensor g = p.g[0].contiguous(), f = p.f[0].contiguous();
  const plated::Tensor any(plated::Dtype::float32, {opinions});  // keeps y outside of the plate
  const plated::Marginals posterior = plated::marginals(
      "y,tz,tyz->", {any, plated::torch::view(g), plated::torch::view(f)},
      {.plates = "t", .evidence = {{"y", plated::Integers({}, std::vector<std::int64_t>{negative})}}});
  std::vector<std::vector<double>> rows;
  for (std::int64_t t = 0; t < std::ssize(sentence.words); ++t) {
    rows.push_back(posterior.variables.at("z").select(0, t).values());
  }
  result.set("words", sentence.words).set("word_opinions", rows);
}

/// How far Plated's scores of some examples are from Σ_t log Σ_z exp(G_t(z) + F_t(y, z)) by plain operations.
double wrong_scores(Network& network, const std::vector<Example>& examples) {
  const torch::NoGradGuard no_gradients;
  network.eval();
  const Potentials p = network.potentials(examples);
  const at::Tensor of_words = (p.g.unsqueeze(2) + p.f).logsumexp(3);
  const at::Tensor exists = at::arange(of_words.size(1)).unsqueeze(0) < p.lengths.unsqueeze(1);
  const at::Tensor plain = (of_words * exists.unsqueeze(2)).sum(1);
  return (network.scores(examples) - plain).abs().max().item<double>();
}

void run(Arguments& arguments) {
  const Clock clock;
  const std::string model = arguments.text("model");
  const std::int64_t seed = arguments.integer("seed", 0), epochs = arguments.integer("epochs", 30);
  const std::int64_t triples = arguments.integer("triples", 1 << 20);
  const auto threads = static_cast<int>(arguments.integer("threads", 1));
  arguments.finish();
  at::set_num_threads(threads);
  const Sentihood data(data_path(""));
  Result result;
  result.set("model", model);
  if (model == "always-positive") {
    const auto predict = [](const std::vector<Example>& examples) {
      return std::vector<Opinion>(examples.size(), positive);
    };
    const Scores test = scored(data.test, predict), dev = scored(data.dev, predict);
    result.set("accuracy", test.accuracy).set("f1", test.f1).set("dev_accuracy", dev.accuracy).set("dev_f1", dev.f1);
    result.set("covered", data.covered).set("seconds", clock.seconds()).print();
    return;
  }
  torch::manual_seed(seed);
  Network network(model, data.vectors);
  torch::optim::Adam optimizer(network.parameters(), torch::optim::AdamOptions(0.01).weight_decay(1e-4));
  Triples batches(data.train, static_cast<std::uint32_t>(seed));
  const auto predict = [&](const std::vector<Example>& examples) { return network.predict(examples); };
  Progress told(model);
  std::vector<double> curve;
  std::vector<at::Tensor> best;
  double best_accuracy = -1;
  std::int64_t best_epoch = 0;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    train_epoch(network, optimizer, batches.epoch(static_cast<std::size_t>(triples)));
    curve.push_back(accuracy(data.dev, predict));
    if (curve.back() > best_accuracy) {
      best_accuracy = curve.back();
      best_epoch = epoch;
      best.clear();
      for (const at::Tensor& parameter : network.parameters()) best.push_back(parameter.detach().clone());
    }
    told.say("epoch", epoch, "accuracy on dev", curve.back());
  }
  told.done();
  {
    const torch::NoGradGuard no_gradients;
    std::size_t k = 0;
    for (at::Tensor& parameter : network.parameters()) parameter.copy_(best[k++]);
  }
  const Scores test = scored(data.test, predict);
  result.set("seed", seed).set("accuracy", test.accuracy).set("f1", test.f1).set("dev_accuracy", best_accuracy);
  result.set("epoch", best_epoch).set("epochs", epochs).set("threads", std::int64_t{threads});
  if (network.is_field()) {
    const std::vector<Example> examples = data.dev.flat();
    result.set("wrong_scores", wrong_scores(network, {examples.begin(), examples.begin() + 30}));
    add_words(result, network, data);
  }
  result.set("seconds", clock.seconds()).set("curve", thinned(curve, 25)).print();
}

}  // namespace
}  // namespace experiments

int main(int argc, char** argv) { return experiments::run_program(argc, argv, experiments::run); }
