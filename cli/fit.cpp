// `plated fit`: learns a model from data.
#include "plated/fit.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "columns.hpp"
#include "commands.hpp"
#include "data.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "fit_plot.hpp"
#include "fit_report.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "plated/model_file.hpp"
#include "progress.hpp"

namespace plated::cli {
namespace {

std::string table(const Fit& fit) {
  const std::string varied = varied_table(fit);
  Columns restarts({Align::right, Align::right, Align::left, Align::right});
  restarts.row({"restart", "iterations", "converged", "ln L"});
  for (std::size_t k = 0; k < fit.restarts.size(); ++k) {
    const Restart& restart = fit.restarts[k];
    if (restart.iterations == 0 && fit.interrupted) continue;
    restarts.row({std::to_string(k) + (k == fit.best && fit.restarts.size() > 1 ? " *" : ""),
                  std::to_string(restart.iterations), restart.converged ? "yes" : "no",
                  fmt::format("{:.6f}", restart.objective)});
  }
  Columns summary({Align::left, Align::right});
  summary.row({"ln L", fmt::format("{:.6f}", fit.log_likelihood)});
  if (fit.objective != fit.log_likelihood) summary.row({"with prior", fmt::format("{:.6f}", fit.objective)});
  summary.row({"parameters", std::to_string(fit.parameters)});
  summary.row({"observations", fmt::format("{:g}", fit.observations)});
  summary.row({"AIC", fmt::format("{:.6f}", fit.aic)});
  summary.row({"BIC", fmt::format("{:.6f}", fit.bic)});
  add_held_out(summary, fit);
  return varied + restarts.text() + "\n" + folds_table(fit) + summary.text() + errors_table(fit);
}

std::string as_json(const Fit& fit) {
  std::string restarts;
  for (const Restart& restart : fit.restarts) {
    restarts +=
        fmt::format("{}{{\"objective\": {}, \"iterations\": {}, \"converged\": {}}}", restarts.empty() ? "" : ", ",
                    json::number(restart.objective), restart.iterations, restart.converged);
  }
  std::string history;
  for (const double objective : fit.history) history += (history.empty() ? "" : ", ") + json::number(objective);
  return fmt::format(
      "{{\"ln_l\": {}, \"objective\": {}, \"parameters\": {}, \"observations\": {}, \"aic\": {}, \"bic\": {}, "
      "\"converged\": {}, \"interrupted\": {}, \"best\": {}, \"restarts\": [{}], \"history\": [{}]{}}}\n",
      json::number(fit.log_likelihood), json::number(fit.objective), fit.parameters, json::number(fit.observations),
      json::number(fit.aic), json::number(fit.bic), fit.converged, fit.interrupted, fit.best, restarts, history,
      held_out_json(fit) + errors_json(fit));
}

/// The numbers of a fit that was interrupted, in place of the model's own.
void resume(Model& model, const std::string& file) {
  if (!std::filesystem::exists(file)) return;
  const Model before = read_model(file);
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    const std::string& name = model.graph.factors()[f].name;
    if (before.factors.size() != model.factors.size() || before.graph.factors()[f].name != name ||
        before.factors[f].shape() != model.factors[f].shape() || before.space != model.space) {
      throw UsageError(file + " is no fit of this model to resume: its factors differ");
    }
    model.factors[f] = before.factors[f];
    const auto learning = model.learning.find(name);
    if (learning != model.learning.end()) learning->second.started = true;
    const auto likelihood = before.likelihoods.find(name);
    if ((likelihood != before.likelihoods.end()) != model.likelihoods.contains(name)) {
      throw UsageError(file + " is no fit of this model to resume: its likelihoods differ");
    }
    if (likelihood != before.likelihoods.end()) model.likelihoods.find(name)->second = likelihood->second;
  }
}

FitOptions options_of(const Model& model, const FitCommand& wanted, const Common& common) {
  FitOptions options;
  options.learn = wanted.learn;
  options.restarts = wanted.restarts;
  options.iterations = wanted.iterations;
  options.tolerance = wanted.tolerance;
  options.accelerate = !wanted.plain;
  options.pseudo_count = wanted.pseudo_count;
  options.seed = wanted.seed;
  if (!wanted.held_out.empty()) options.held_out = load_data(model, wanted.held_out, {}, "--held-out");
  if (!wanted.batch.empty()) options.batch = batch_of(wanted.batch);
  if (!wanted.cross_validate.empty()) options.cross_validate = folds_of(wanted.cross_validate);
  if (!wanted.vary.empty()) options.vary = states_of(wanted.vary);
  options.standard_errors = wanted.standard_errors;
  options.threads = common.threads;
  options.memory_limit = memory_limit(common);
  return options;
}

/// Shows ln L and how fast steps are.
class Reporter {
 public:
  Reporter(Progress& progress, const FitOptions& options)
      : progress_(progress), most_(static_cast<double>(options.restarts) * static_cast<double>(options.iterations)) {
    for (const auto& [plate, folds] : options.cross_validate) most_ *= 1 + folds;
    for (const auto& [variable, states] : options.vary) most_ *= static_cast<double>(states.size());
  }

  void operator()(const FitProgress& now) {
    ++steps_;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    if (seconds - told_ < 0.1) return;
    told_ = seconds;
    const std::string fold = (now.states > 0 ? fmt::format(", {} states", now.states) : "") +
                             (now.fold < 0 ? "" : fmt::format(", fold {}", now.fold));
    progress_.now(fmt::format("fitting{}, restart {}, iteration {}, ln L {:.4f}, {:.3g} iterations/s", fold,
                              now.restart, now.iteration, now.objective, static_cast<double>(steps_) / seconds));
    if (most_ > 0) progress_.share(static_cast<double>(steps_) / most_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Progress& progress_;
  double most_;
  std::int64_t steps_ = 0;
  const Clock::time_point begin_ = Clock::now();
  double told_ = 0;
};

Fit run(const Model& model, const Data& data, const FitCommand& wanted, const Common& common) {
  FitOptions options = options_of(model, wanted, common);
  Progress progress("fitting", common.quiet);
  Reporter reporter(progress, options);
  const HeldInterrupt interrupt;
  options.cancelled = [&] { return interrupt.requested(); };
  options.progress = [&](const FitProgress& now) { reporter(now); };
  return plated::fit(model, data, options);
}

}  // namespace

int fit(const FitCommand& wanted, const Common& common) {
  Model model = load(wanted.input, common);
  if (wanted.resume) resume(model, wanted.output);
  const Data data = load_data(model, wanted.data, wanted.weights);
  const Fit fitted = run(model, data, wanted, common);
  if (!common.quiet) {
    for (const std::string& line : fitted.notes) note(line);
  }
  if (wanted.output == "-") {
    deliver(model_text(fitted.model, Format::plated).text, "");
  } else if (!wanted.output.empty()) {
    std::vector<std::string> losses;
    write_whole([&] { losses = write_model(fitted.model, wanted.output); });
    for (const std::string& line : losses) {
      if (!common.quiet) note("lost: " + line);
    }
  }
  if (!wanted.plot.empty()) deliver(fit_plot(fitted, model.name), wanted.plot);
  if (wanted.output != "-" && wanted.plot != "-") deliver(wanted.json ? as_json(fitted) : table(fitted), "");
  if (!fitted.interrupted) return answered;
  note(wanted.output.empty() ? "interrupted: with -o the numbers so far would have been kept"
                             : "interrupted: the numbers so far are kept, and --resume goes on from them");
  return interrupted;
}

}  // namespace plated::cli
