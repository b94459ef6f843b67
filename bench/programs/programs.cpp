// Times one full-batch epoch, loss and gradients, of a hidden Markov model of the JSB chorales: as a program, and in a
// loop of libtorch. bench/peers/pyro_program.py times the same model in Pyro.
//
//   PLATED_DATA=… bench_programs [--states 16] [--milliseconds 3000] [--json FILE]
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "common/arguments.hpp"
#include "common/json.hpp"
#include "common/machine.hpp"
#include "common/program.hpp"
#include "data_folder.hpp"
#include "piano_rolls.hpp"
#include "plated/torch/torch.hpp"
#include "workload/timing.hpp"

namespace {

using namespace plated::torch;  // NOLINT(google-build-using-namespace)

struct Music {
  at::Tensor notes;    // [sequence, step, key], zeros beyond lengths
  at::Tensor lengths;  // [sequence]
};

Music read_music() {
  const auto found = data_file("music/jsb_train_notes.npy");
  const PianoRolls rolls = found ? read_piano_rolls(found->substr(0, found->size() - std::string("_notes.npy").size()))
                                 : made_up_piano_rolls();
  Music music{at::zeros({rolls.sequences(), rolls.longest(), PianoRolls::keys}, at::kByte),
              at::tensor(rolls.lengths, at::kLong)};
  std::int64_t row = 0;
  const at::Tensor all = at::tensor(rolls.notes, at::kByte).reshape({-1, PianoRolls::keys});
  for (std::int64_t n = 0; n < rolls.sequences(); ++n) {
    const std::int64_t length = rolls.lengths[static_cast<std::size_t>(n)];
    music.notes[n].slice(0, 0, length).copy_(all.slice(0, row, row + length));
    row += length;
  }
  return music;
}

/// Numbers that Python can make, too.
at::Tensor wave(std::vector<std::int64_t> shape, double seed) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return at::sin(at::arange(count, at::kDouble) * 1.7 + seed).reshape(shape);
}

/// Logits of the first state, of transitions, and of notes by state.
std::vector<at::Tensor> parameters(std::int64_t states) {
  std::vector<at::Tensor> p{wave({states}, 1), wave({states, states}, 2), wave({states, PianoRolls::keys}, 3) - 2};
  for (at::Tensor& parameter : p) parameter.requires_grad_();
  return p;
}

at::Tensor program_loss(const std::vector<at::Tensor>& p, const Music& music) {
  Program model;
  const Plate n = model.plate("n", music.notes.size(0)), key = model.plate("key", PianoRolls::keys);
  const auto scope = model.within({n});
  const Plate t = model.chain("t", music.notes.size(1), {.lengths = {Value(music.lengths, {n})}});
  const Value start = model.sample("start", Categorical::logits(p[0]));
  model.markov(t, {start}, [&](const std::vector<Value>& before) {
    const Value x = model.sample("x", Categorical::logits(Value(p[1])[before[0]]));
    model.observe("note", Bernoulli::logits(Value(p[2].t(), {key})[x]), music.notes, {key});
    return std::vector{x};
  });
  return -model.log_likelihood({.threads = 1});
}

at::Tensor loop_loss(const std::vector<at::Tensor>& p, const Music& music) {
  const at::Tensor on = music.notes.to(at::kDouble);
  const at::Tensor emission =
      at::matmul(on, at::log_sigmoid(p[2]).t()) + at::matmul(1 - on, at::log_sigmoid(-p[2]).t());
  const at::Tensor transition = p[1].log_softmax(1);
  at::Tensor message = p[0].log_softmax(0).expand({music.notes.size(0), -1});
  for (std::int64_t step = 0; step < music.notes.size(1); ++step) {
    const at::Tensor next = (message.unsqueeze(2) + transition).logsumexp(1) + emission.select(1, step);
    message = at::where((music.lengths > step).unsqueeze(1), next, message);
  }
  return -message.logsumexp(1).sum();
}

template <class Loss>
double epoch(Loss loss, const std::vector<at::Tensor>& p, const Music& music) {
  for (const at::Tensor& parameter : p) parameter.mutable_grad().reset();
  const at::Tensor value = loss(p, music);
  value.backward();
  return value.template item<double>();
}

int run(int argc, const char* const* argv) {
  const bench::Arguments arguments(argc, argv, {"--states", "--milliseconds", "--json"}, {"--quick"});
  const std::int64_t states = arguments.integer("--states", 16, 1, 512);
  const bool quick = arguments.has("--quick");
  const bench::Budget budget = {
      .seconds = 1e-3 * static_cast<double>(arguments.integer("--milliseconds", quick ? 100 : 10000, 0, 1000000)),
      .turns = quick ? 2 : 5};
  at::set_num_threads(1);
  const Music music = read_music();
  const std::vector<at::Tensor> p = parameters(states);
  const double value = epoch(program_loss, p, music);
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : p) gradients.push_back(parameter.grad().clone());
  const double expected = epoch(loop_loss, p, music);
  double error = std::abs(value - expected) / std::abs(expected);
  for (std::size_t k = 0; k < p.size(); ++k) {
    error = std::max(error, ((p[k].grad() - gradients[k]).abs().max() / p[k].grad().abs().max()).item<double>());
  }
  if (!(error < 1e-9)) throw std::runtime_error("the program and the loop disagree: " + std::to_string(error));
  const std::vector<double> best = bench::best_times(
      {[&] { (void)epoch(program_loss, p, music); }, [&] { (void)epoch(loop_loss, p, music); }}, budget);
  std::printf("%d sequences of up to %d steps, %d states, loss and gradients, float64, one thread\n",
              static_cast<int>(music.notes.size(0)), static_cast<int>(music.notes.size(1)), static_cast<int>(states));
  std::printf("loss %.6f, largest difference %.1e\n", value, error);
  std::printf("%-28s %10.2f ms\n%-28s %10.2f ms\n%-28s %10.2f\n", "program", best[0] * 1e3, "loop of libtorch",
              best[1] * 1e3, "ratio", best[1] / best[0]);
  bench::Json report = bench::Json::object();
  report.set("benchmark", "programs").set("machine", bench::describe_machine()).set("quick", quick);
  report.set("states", states).set("loss", value).set("error", error);
  report.set("program_seconds", best[0]).set("loop_seconds", best[1]).set("ratio", best[1] / best[0]);
  if (arguments.has("--json")) bench::write_json(arguments.text("--json", ""), report);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program("bench_programs", run, argc, argv); }
