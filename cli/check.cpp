// Refuses options that contradict each other.
#include <filesystem>

#include "errors.hpp"
#include "parse.hpp"
#include "plated/model_file.hpp"

namespace plated::cli {
namespace {

void check_solve(const Solve& solve) {
  if (solve.json && !solve.format.empty() && solve.format != "json") {
    throw UsageError("--json and --format " + solve.format + " contradict each other: give one of them");
  }
  if (solve.task != "sample") {
    if (solve.samples) throw UsageError("-n is the number of samples: it goes with --task sample only");
    if (solve.seed) throw UsageError("--seed is for samples: it goes with --task sample only");
  }
  if (solve.samples && *solve.samples < 1) throw UsageError("-n must be at least 1");
  if (solve.format == "uai" && (solve.task == "sample" || solve.task == "entropy")) {
    throw UsageError("the UAI format has no answer for --task " + solve.task + ": use --format table or json");
  }
}

/// Standard input can be read once.
void check_input(const Input& input) {
  if (input.model == "-" && input.evidence == "-") {
    throw UsageError("model and evidence cannot both come from standard input: name a file for one of them");
  }
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
  for (std::size_t k = 0; k < einsum.outputs.size(); ++k) {
    for (std::size_t j = 0; j < k; ++j) {
      if (einsum.outputs[j] == einsum.outputs[k])
        throw UsageError("two outputs go to the same file " + einsum.outputs[k]);
    }
  }
}

}  // namespace

void check(const Arguments& arguments) {
  for (const Input* input :
       {&arguments.solve.input, &arguments.convert.input, &arguments.explain.input, &arguments.draw.input}) {
    check_input(*input);
  }
  if (arguments.command == "solve") check_solve(arguments.solve);
  if (arguments.command == "convert") check_convert(arguments.convert);
  if (arguments.command == "einsum") check_einsum(arguments.einsum);
  if (arguments.command == "draw") check_draw(arguments.draw);
  if (arguments.command == "bench") check_bench(arguments.bench);
}

}  // namespace plated::cli
