// Tables and JSON of held-out data and folds.
#include "fit_report.hpp"

#include <fmt/format.h>

#include <charconv>

#include "errors.hpp"
#include "json.hpp"

namespace plated::cli {

std::map<std::string, int> folds_of(const std::string& word) {
  const std::size_t equals = word.rfind('=');
  int folds = 0;
  if (equals != std::string::npos && equals > 0) {
    const char* const end = word.data() + word.size();
    const auto [rest, error] = std::from_chars(word.data() + equals + 1, end, folds);
    if (error == std::errc() && rest == end) return {{word.substr(0, equals), folds}};
  }
  throw UsageError("--cross-validate " + word + " is not a plate and a number of folds, as in patient=5");
}

void add_held_out(Columns& summary, const Fit& fit) {
  if (fit.held_out) summary.row({"held-out ln L", fmt::format("{:.6f}", *fit.held_out)});
  if (!fit.cross_validated) return;
  double cells = 0;
  for (const Fold& fold : fit.folds) cells += fold.cells;
  summary.row({"cross-validated ln L", fmt::format("{:.6f}", *fit.cross_validated)});
  if (cells > 0) summary.row({"per cell", fmt::format("{:.6f}", *fit.cross_validated / cells)});
}

std::string folds_table(const Fit& fit) {
  if (fit.folds.empty()) return "";
  Columns folds({Align::right, Align::right, Align::right, Align::right, Align::left, Align::right});
  folds.row({"fold", "slices", "cells", "iterations", "converged", "held-out ln L"});
  for (std::size_t k = 0; k < fit.folds.size(); ++k) {
    const Fold& fold = fit.folds[k];
    folds.row({std::to_string(k), std::to_string(fold.slices.size()), fmt::format("{:g}", fold.cells),
               std::to_string(fold.iterations), fold.converged ? "yes" : "no",
               fmt::format("{:.6f}", fold.log_likelihood)});
  }
  return folds.text() + "\n";
}

std::string held_out_json(const Fit& fit) {
  std::string text;
  if (fit.held_out) text += ", \"held_out_ln_l\": " + json::number(*fit.held_out);
  if (fit.folds.empty()) return text;
  std::string folds;
  for (const Fold& fold : fit.folds) {
    folds += fmt::format("{}{{\"slices\": {}, \"ln_l\": {}, \"cells\": {}, \"iterations\": {}, \"converged\": {}}}",
                         folds.empty() ? "" : ", ", json::nested(Integers({std::ssize(fold.slices)}, fold.slices)),
                         json::number(fold.log_likelihood), json::number(fold.cells), fold.iterations, fold.converged);
  }
  text += ", \"folds\": [" + folds + "]";
  if (fit.cross_validated) text += ", \"cross_validated_ln_l\": " + json::number(*fit.cross_validated);
  return text;
}

}  // namespace plated::cli
