// `plated solve`: answers a question about a model.
#include "plated/solve.hpp"

#include "answer.hpp"
#include "commands.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "progress.hpp"

namespace plated::cli {
namespace {

Answer ask(const Model& model, const Solve& wanted, const SolveOptions& options) {
  Answer answer;
  answer.task = wanted.task;
  if (wanted.task == "pr") {
    answer.ln_z = log_partition(model, options);
  } else if (wanted.task == "mar") {
    answer.marginals = marginals(model, options);
  } else if (wanted.task == "map") {
    answer.best = map(model, options);
  } else if (wanted.task == "sample") {
    const SampleOptions draws{.count = wanted.samples.value_or(1), .seed = wanted.seed.value_or(0)};
    answer.samples = sample(model, draws, options);
  } else {
    answer.entropy = entropy(model, options);
  }
  return answer;
}

}  // namespace

int solve(const Solve& wanted, const Common& common) {
  const Model model = load(wanted.input, common);
  const std::string format = wanted.json ? "json" : wanted.format;
  if (format == "uai") require_flat(model);
  Answer answer;
  {
    Progress progress("solving", common.quiet);
    answer = ask(model, wanted,
                 {.threads = common.threads, .memory_limit = memory_limit(common), .progress = progress.callback()});
  }
  deliver(format == "json"  ? answer_json(model, answer)
          : format == "uai" ? answer_uai(model, answer)
                            : answer_table(model, answer),
          wanted.output);
  return answered;
}

}  // namespace plated::cli
