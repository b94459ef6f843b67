// `plated evaluate`: how well a model predicts data.
#include <fmt/format.h>

#include "columns.hpp"
#include "commands.hpp"
#include "data.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "json.hpp"
#include "plated/fit.hpp"
#include "progress.hpp"

namespace plated::cli {
namespace {

std::string table(const Score& score, const std::string& plate) {
  Columns summary({Align::left, Align::right});
  summary.row({"ln L", fmt::format("{:.6f}", score.log_likelihood)});
  summary.row({"cells", fmt::format("{:g}", score.cells)});
  summary.row({"ln L per cell", fmt::format("{:.6f}", score.log_likelihood / score.cells)});
  if (plate.empty()) return summary.text();
  Columns slices({Align::right, Align::right});
  slices.row({plate, "ln p"});
  const std::vector<double> values = score.slices.values();
  for (std::size_t k = 0; k < values.size(); ++k) slices.row({std::to_string(k), fmt::format("{:.6f}", values[k])});
  return summary.text() + "\n" + slices.text();
}

}  // namespace

int evaluate(const Evaluate& wanted, const Common& common) {
  const Model model = load(wanted.input, common);
  const Data data = load_data(model, wanted.data, wanted.weights);
  Score score;
  {
    Progress progress("evaluating", common.quiet);
    score = plated::evaluate(model, data,
                             {.plate = wanted.plate,
                              .factors = wanted.factors,
                              .threads = common.threads,
                              .memory_limit = memory_limit(common),
                              .progress = progress.callback()});
  }
  if (!wanted.json) {
    deliver(table(score, wanted.plate), "");
    return answered;
  }
  const std::string slices = wanted.plate.empty() ? "" : ", \"slices_ln_p\": " + json::nested(score.slices);
  deliver(fmt::format("{{\"ln_l\": {}, \"cells\": {}{}}}\n", json::number(score.log_likelihood),
                      json::number(score.cells), slices),
          "");
  return answered;
}

}  // namespace plated::cli
