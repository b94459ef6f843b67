// One run of Table 1 by gradients: a music model as a probabilistic program, trained by Adam as the paper does.
//
//   music_adam set=jsb model=nnHMM states=36 seed=0 epochs=300 batch=20 [channels=2] [check=0|1] [threads=1]
//   [sequences=…]
//
// The rate falls geometrically from 0.03 to 3e-5, step by step. `check` also scores the start by fit()'s model of the
// same tables.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "harness/program.hpp"
#include "harness/progress.hpp"
#include "harness/result.hpp"
#include "music/music_program.hpp"
#include "music/music_sets.hpp"

namespace experiments {
namespace {

/// Sequences from `begin`, in their order; `count` of them or fewer.
std::vector<std::int64_t> some(const std::vector<std::int64_t>& order, std::size_t begin, std::size_t count) {
  const auto first = order.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(std::min(count, order.size() - begin))};
}

std::vector<std::int64_t> all_of(const PianoRolls& rolls) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rolls.sequences()));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Nats for each step of a set.
double nats(const MusicParameters& p, const NumberedSteps& steps, std::size_t batch,
            const plated::RunOptions& options) {
  const torch::NoGradGuard no_gradients;
  double sum = 0;
  const std::vector<std::int64_t> order = all_of(steps.rolls());
  for (std::size_t begin = 0; begin < order.size(); begin += batch) {
    sum += p.log_likelihood(p.batch(steps, some(order, begin, batch)), options).item<double>();
  }
  return -sum / static_cast<double>(steps.rolls().steps());
}

/// How far gradients of the network's scores are from those of the same sums by plain operations, relatively.
double wrong_gradients(MusicParameters& p, const NumberedSteps& steps) {
  const NoteBatch batch = p.batch(steps, {0, 1});
  const auto gradients = [&](const at::Tensor& scores) {
    return torch::autograd::grad({(scores * at::arange(scores.numel()).reshape(scores.sizes()).sin()).sum()},
                                 p.parameters(), {}, {}, false, true);
  };
  const auto chunked = gradients(p.scores(batch)), plain = gradients(p.scores(batch, false));
  double worst = 0;
  for (std::size_t k = 0; k < chunked.size(); ++k) {
    if (!plain[k].defined()) continue;
    worst = std::max(worst, ((chunked[k] - plain[k]).abs().max() / plain[k].abs().max()).item<double>());
  }
  return worst;
}

/// Batches of a training set, shuffled anew in each epoch.
class Batches {
 public:
  Batches(const PianoRolls& rolls, std::size_t batch, std::uint32_t seed)
      : batch_(batch), order_(all_of(rolls)), bits_(seed) {}
  [[nodiscard]] std::int64_t for_epoch() const {
    return static_cast<std::int64_t>((order_.size() + batch_ - 1) / batch_);
  }
  std::vector<std::int64_t> at(std::int64_t step) {
    const std::int64_t place = step % for_epoch();
    if (place == 0) {
      for (std::size_t k = order_.size(); k > 1; --k) std::swap(order_[k - 1], order_[bits_() % k]);
    }
    return some(order_, static_cast<std::size_t>(place) * batch_, batch_);
  }

 private:
  std::size_t batch_;
  std::vector<std::int64_t> order_;
  std::mt19937 bits_;
};

void run(Arguments& arguments) {
  const Clock clock;
  const std::string set = arguments.text("set"), model = arguments.text("model");
  const MusicModelName name(model);
  const std::int64_t states = arguments.integer("states", 9), seed = arguments.integer("seed", 0);
  const std::int64_t epochs = arguments.integer("epochs", 300), channels = arguments.integer("channels", 2);
  const auto batch = static_cast<std::size_t>(arguments.integer("batch", 20));
  const std::int64_t sequences = arguments.integer("sequences", 1 << 20);
  const auto threads = static_cast<int>(arguments.integer("threads", 1));
  const bool check = arguments.integer("check", 0) == 1;
  arguments.finish();
  at::set_num_threads(threads);
  const MusicSets sets(set, sequences);
  const PianoRolls& train = sets.train;
  const NumberedSteps steps_of_train(train), steps_of_test(sets.test);
  const plated::RunOptions options{.threads = threads};
  MusicParameters p(name, states, channels, train, static_cast<std::uint32_t>(seed));
  Result result;
  result.set("set", set).set("model", model).set("states", states).set("method", "adam").set("seed", seed);
  if (name.neural) result.set("channels", channels);
  if (check) result.set("start_nll", nats(p, steps_of_train, batch, options));
  if (check && name.neural) result.set("wrong_gradients", wrong_gradients(p, steps_of_train));
  if (check && !name.neural) {
    const plated::Model start = table_model(name, states, train, static_cast<std::uint32_t>(seed));
    const double by_fit = plated::evaluate(start, table_data(name, train)).log_likelihood;
    result.set("start_nll_by_fit", -by_fit / static_cast<double>(train.steps()));
  }

  Batches batches(train, batch, static_cast<std::uint32_t>(seed));
  const std::int64_t steps = epochs * batches.for_epoch();
  torch::optim::Adam optimizer(p.parameters(), torch::optim::AdamOptions(0.03));
  std::vector<double> curve;  // the mean loss of each epoch
  double of_epoch = 0;
  Progress told(set + " " + model + " " + std::to_string(states));
  const auto loss = [&](std::int64_t step) {
    const NoteBatch some_of_them = p.batch(steps_of_train, batches.at(step));
    return -p.log_likelihood(some_of_them, options) / static_cast<double>(some_of_them.steps);
  };
  const auto progress = [&](std::int64_t step, double now) {
    const std::int64_t done = step + 1;
    const double rate = 0.03 * std::pow(1e-3, static_cast<double>(done) / static_cast<double>(steps));
    for (auto& group : optimizer.param_groups()) group.options().set_lr(rate);
    of_epoch += now / static_cast<double>(batches.for_epoch());
    if (done % batches.for_epoch() == 0) {
      told.say("epoch", std::ssize(curve), "loss", of_epoch);
      curve.push_back(of_epoch);
      of_epoch = 0;
    }
    return true;
  };
  plated::torch::train(p, optimizer, loss, {.steps = steps, .progress = progress});
  told.done();
  result.set("train_nll", nats(p, steps_of_train, batch, options))
      .set("test_nll", nats(p, steps_of_test, batch, options));
  result.set("iterations", epochs).set("threads", std::int64_t{threads});
  result.set("seconds", clock.seconds()).set("curve", thinned(curve, 25)).print();
}

}  // namespace
}  // namespace experiments

int main(int argc, char** argv) { return experiments::run_program(argc, argv, experiments::run); }
