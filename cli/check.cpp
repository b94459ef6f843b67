// Refuses options that contradict each other.
#include <algorithm>
#include <filesystem>

#include "errors.hpp"
#include "parse.hpp"
#include "plated/model_file.hpp"

namespace plated::cli {
namespace {

/// Options of one task, given with another.
void check_task(const Solve& solve) {
  if (solve.task.empty()) {
    throw UsageError("--task is required: pr, mar, map, sample, entropy or leave-one-out (plated solve --help)");
  }
  if (!solve.query.empty() && solve.task != "mar") {
    throw UsageError("--query asks for marginals: it goes with --task mar only, which need not be said then");
  }
  if (solve.task != "leave-one-out") {
    if (!solve.plate.empty()) throw UsageError("--plate is left out slice by slice: it goes with --task leave-one-out");
    if (!solve.factors.empty()) throw UsageError("--factor is left out of slices: it goes with --task leave-one-out");
  } else if (solve.plate.empty()) {
    throw UsageError("--task leave-one-out needs --plate, the plate or chain whose slices are left out");
  }
}

void check_solve(const Solve& solve) {
  check_task(solve);
  if (solve.json && !solve.format.empty() && solve.format != "json") {
    throw UsageError("--json and --format " + solve.format + " contradict each other: give one of them");
  }
  if (solve.task != "sample") {
    if (solve.samples) throw UsageError("-n is the number of samples: it goes with --task sample only");
    if (solve.seed) throw UsageError("--seed is for samples: it goes with --task sample only");
  }
  if (solve.samples && *solve.samples < 1) throw UsageError("-n must be at least 1");
  if (solve.format != "uai") return;
  if (solve.task != "pr" && solve.task != "mar" && solve.task != "map") {
    throw UsageError("the UAI format has no answer for --task " + solve.task + ": use --format table, csv or json");
  }
  if (!solve.query.empty()) {
    throw UsageError(
        "the UAI format has the marginals of all variables, not of a --query: use --format table, csv or json");
  }
}

/// Standard input can be read once.
void check_input(const Input& input) {
  if (input.model == "-" && input.evidence == "-") {
    throw UsageError("model and evidence cannot both come from standard input: name a file for one of them");
  }
}

void check_fit(const FitCommand& fit) {
  const bool named = !fit.output.empty() && fit.output != "-";
  if (fit.resume && !named) throw UsageError("--resume goes on from the file of -o: name it");
  if (named && !format_of(fit.output)) {
    throw UsageError(fit.output + ": the name has no extension of a format (.uai, .bif, .json, .plated)");
  }
  if (fit.output == "-" && fit.plot == "-") throw UsageError("model and plot cannot both go to standard output");
}

void check_convert(const Convert& convert) {
  if (convert.to.empty() && convert.output == "-") {
    throw UsageError("standard output has no extension to tell the format: add --to uai, bif or plated");
  }
  if (convert.to.empty() && !format_of(convert.output)) {
    throw UsageError(convert.output + ": the name has no extension of a format (.uai, .bif, .json, .plated): add --to");
  }
}

void check_draw(const Draw& draw) {
  const std::string extension = std::filesystem::path(draw.output).extension().string();
  if (draw.output != "-" && extension != ".svg" && extension != ".png")
    throw UsageError(draw.output + ": a picture ends in .svg or .png, or goes to - as SVG");
  if (draw.plan && draw.directed) {
    throw UsageError("--plan draws a schedule, which has no directions: leave out --directed");
  }
}

void check_bench(const Bench& bench) {
  if (!bench.figure.empty() && bench.figure != "-" && std::filesystem::path(bench.figure).extension() != ".svg") {
    throw UsageError(bench.figure + ": the figure is an .svg");
  }
  if (!bench.figure.empty() && bench.figure == bench.json) {
    throw UsageError("-o and --json name the same file");
  }
}

void check_einsum(const Einsum& einsum) {
  if (std::count(einsum.operands.begin(), einsum.operands.end(), "-") > 1) {
    throw UsageError("standard input can be read once, and - names it for several operands: name files for the others");
  }
  for (std::size_t k = 0; k < einsum.outputs.size(); ++k) {
    for (std::size_t j = 0; j < k; ++j) {
      if (einsum.outputs[j] == einsum.outputs[k])
        throw UsageError("two outputs go to the same file " + einsum.outputs[k]);
    }
  }
}

}  // namespace

void check(const Arguments& arguments) {
  for (const Input* input : {&arguments.solve.input, &arguments.fit.input, &arguments.evaluate.input,
                             &arguments.convert.input, &arguments.explain.input, &arguments.draw.input}) {
    check_input(*input);
  }
  if (arguments.command == "solve") check_solve(arguments.solve);
  if (arguments.command == "fit") check_fit(arguments.fit);
  if (arguments.command == "evaluate" && arguments.evaluate.plate.empty() && !arguments.evaluate.factors.empty()) {
    throw UsageError("--factor is scored in slices of a chain: it goes with --plate");
  }
  if (arguments.command == "convert") check_convert(arguments.convert);
  if (arguments.command == "einsum") check_einsum(arguments.einsum);
  if (arguments.command == "draw") check_draw(arguments.draw);
  if (arguments.command == "bench") check_bench(arguments.bench);
}

}  // namespace plated::cli
