// Tables and JSON of held-out data, folds, numbers of states and standard errors.
#include "fit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "errors.hpp"
#include "json.hpp"
#include "plated/json.hpp"

namespace plated::cli {
namespace {

/// A member of an object, a comma before it; empty where there is no number.
std::string member(const std::string& name, const std::optional<double>& value) {
  return value ? ", \"" + name + "\": " + json::number(*value) : "";
}

/// `name=number`; throws UsageError with the message for anything else.
template <class Number>
std::map<std::string, Number> numbered(const std::string& message, const std::string& word) {
  const std::size_t equals = word.rfind('=');
  Number number = 0;
  if (equals != std::string::npos && equals > 0) {
    const char* const end = word.data() + word.size();
    const auto [rest, error] = std::from_chars(word.data() + equals + 1, end, number);
    if (error == std::errc() && rest == end) return {{word.substr(0, equals), number}};
  }
  throw UsageError(message);
}

/// `truth=I vote=II`, plates by their slices.
std::string entry_label(const Model& model, const Factor& factor, std::size_t entry) {
  std::string text;
  for (std::size_t a = factor.dims.size(); a-- > 0;) {
    const Dim& dim = model.graph.dims()[factor.dims[a]];
    const auto at = static_cast<std::int64_t>(entry % static_cast<std::size_t>(dim.size));
    entry /= static_cast<std::size_t>(dim.size);
    const bool is_variable = dim.kind == DimKind::variable;
    const std::string name = is_variable ? label(model, dim.name) : dim.name;
    const std::string state = is_variable ? state_label(model, dim.name, at) : std::to_string(at);
    text = name + "=" + state + (text.empty() ? "" : " ") + text;
  }
  return text;
}

/// Rows of a likelihood's parameters.
void add_parameters(Columns& rows, const Fit& fit, std::size_t f) {
  const Factor& factor = fit.model.graph.factors()[f];
  const auto found = fit.likelihood_errors.find(factor.name);
  if (found == fit.likelihood_errors.end()) return;
  const Likelihood& likelihood = fit.model.likelihoods.find(factor.name)->second;
  for (const std::string& parameter : parameter_names(likelihood.family, likelihood.zero_inflated)) {
    const std::vector<double> numbers = likelihood.parameters.at(parameter).values();
    const std::vector<double> errors = found->second.at(parameter).values();
    // A list of probabilities has one more axis.
    const auto entries = static_cast<std::size_t>(fit.model.factors[f].elements());
    const std::size_t each = numbers.size() / std::max<std::size_t>(entries, 1);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const std::string state = each > 1 ? fmt::format("[{}]", k % each) : "";
      const std::string entry = entry_label(fit.model, factor, k / each);
      rows.row({factor.name, parameter + state + (entry.empty() ? "" : " " + entry), fmt::format("{:.6f}", numbers[k]),
                fmt::format("{:.6f}", errors[k])});
    }
  }
}

}  // namespace

std::map<std::string, int> folds_of(const std::string& word) {
  return numbered<int>("--cross-validate " + word + " is not a plate and a number of folds, as in patient=5", word);
}

std::map<std::string, std::int64_t> batch_of(const std::string& word) {
  return numbered<std::int64_t>("--batch " + word + " is not a plate and a number of slices, as in patient=100", word);
}

std::map<std::string, std::vector<std::int64_t>> states_of(const std::string& word) {
  const auto fail = [&] {
    throw UsageError("--vary " + word + " is not a variable and numbers of states, as in truth=2..8 or truth=2,4,8");
  };
  const std::size_t equals = word.rfind('=');
  if (equals == std::string::npos || equals == 0) fail();
  const char* at = word.data() + equals + 1;
  const char* const end = word.data() + word.size();
  const auto number = [&] {
    std::int64_t value = 0;
    const auto [rest, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 1 || value > 100000) fail();
    at = rest;
    return value;
  };
  std::vector<std::int64_t> states{number()};
  if (std::string_view(at, end).starts_with("..")) {
    at += 2;
    const std::int64_t last = number();
    if (last < states[0] || at != end) fail();
    while (states.back() < last) states.push_back(states.back() + 1);
  }
  while (at != end) {
    if (*at++ != ',') fail();
    states.push_back(number());
  }
  return {{word.substr(0, equals), std::move(states)}};
}

std::string varied_table(const Fit& fit) {
  if (fit.varied.empty()) return "";
  Columns rows({Align::right});
  std::vector<std::string> heads{"states", "ln L", "parameters", "AIC", "BIC"};
  if (fit.varied[0].held_out) heads.emplace_back("held-out ln L");
  if (fit.varied[0].cross_validated) heads.emplace_back("cross-validated ln L");
  rows.row(heads);
  for (const Varied& varied : fit.varied) {
    const bool best = varied.bic == fit.bic && varied.parameters == fit.parameters;
    std::vector<std::string> cells{std::to_string(varied.states) + (best ? " *" : ""),
                                   fmt::format("{:.6f}", varied.log_likelihood), std::to_string(varied.parameters),
                                   fmt::format("{:.6f}", varied.aic), fmt::format("{:.6f}", varied.bic)};
    for (const std::optional<double>& score : {varied.held_out, varied.cross_validated}) {
      if (score) cells.push_back(fmt::format("{:.6f}", *score));
    }
    rows.row(std::move(cells));
  }
  return rows.text() + "\n";
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

std::string errors_table(const Fit& fit) {
  if (fit.standard_errors.empty() && fit.likelihood_errors.empty()) return "";
  const FactorGraph& graph = fit.model.graph;
  Columns rows({Align::left, Align::left, Align::right, Align::right});
  rows.row({"factor", "entry", fit.likelihood_errors.empty() ? "probability" : "number", "standard error"});
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    const Factor& factor = graph.factors()[f];
    const auto found = fit.standard_errors.find(factor.name);
    add_parameters(rows, fit, f);
    if (found == fit.standard_errors.end()) continue;
    const std::vector<double> numbers = fit.model.factors[f].values();
    const std::vector<double> errors = found->second.values();
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const double probability = fit.model.space == Space::log ? std::exp(numbers[k]) : numbers[k];
      rows.row({factor.name, entry_label(fit.model, factor, k), fmt::format("{:.6f}", probability),
                fmt::format("{:.6f}", errors[k])});
    }
  }
  return "\n" + rows.text();
}

std::string errors_json(const Fit& fit) {
  std::string text;
  for (const auto& [factor, errors] : fit.standard_errors) {
    text += (text.empty() ? "" : ", ") + json_string(factor) + ": " + json::nested(errors);
  }
  std::string likelihoods;
  for (const auto& [factor, parameters] : fit.likelihood_errors) {
    std::string own;
    for (const auto& [parameter, errors] : parameters) {
      own += (own.empty() ? "" : ", ") + json_string(parameter) + ": " + json::nested(errors);
    }
    likelihoods += (likelihoods.empty() ? "" : ", ") + json_string(factor) + ": {" + own + "}";
  }
  return (text.empty() ? "" : ", \"standard_errors\": {" + text + "}") +
         (likelihoods.empty() ? "" : ", \"likelihood_errors\": {" + likelihoods + "}");
}

std::string held_out_json(const Fit& fit) {
  std::string varied;
  for (const Varied& row : fit.varied) {
    varied += fmt::format("{}{{\"states\": {}, \"ln_l\": {}, \"parameters\": {}, \"aic\": {}, \"bic\": {}{}{}}}",
                          varied.empty() ? "" : ", ", row.states, json::number(row.log_likelihood), row.parameters,
                          json::number(row.aic), json::number(row.bic), member("held_out_ln_l", row.held_out),
                          member("cross_validated_ln_l", row.cross_validated));
  }
  std::string text = varied.empty() ? "" : ", \"varied\": [" + varied + "]";
  text += member("held_out_ln_l", fit.held_out);
  if (fit.folds.empty()) return text;
  std::string folds;
  for (const Fold& fold : fit.folds) {
    folds += fmt::format("{}{{\"slices\": {}, \"ln_l\": {}, \"cells\": {}, \"iterations\": {}, \"converged\": {}}}",
                         folds.empty() ? "" : ", ", json::nested(Integers({std::ssize(fold.slices)}, fold.slices)),
                         json::number(fold.log_likelihood), json::number(fold.cells), fold.iterations, fold.converged);
  }
  text += ", \"folds\": [" + folds + "]";
  return text + member("cross_validated_ln_l", fit.cross_validated);
}

}  // namespace plated::cli
