// `plated explain`: prints whether a model is tractable, its certificate or its schedule, and the cost of solving it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>

#include "columns.hpp"
#include "commands.hpp"
#include "errors.hpp"
#include "explain_json.hpp"
#include "files.hpp"
#include "plated/error.hpp"
#include "plated/solve.hpp"
#include "progress.hpp"
#include "quantities.hpp"
#include "slices.hpp"

namespace plated::cli {
namespace {

constexpr std::size_t most_lines = 60;
constexpr std::size_t longest_plan_line = 160;

/// In the left column, under which everything else is aligned.
std::string heading(const std::string& text) { return fmt::format("{:<8}", text); }

std::string listed(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t k = 0; k < std::min(names.size(), most); ++k) text += (k > 0 ? ", " : "") + names[k];
  return names.size() > most ? text + fmt::format(" and {} more", names.size() - most) : text;
}

/// What is in the file.
std::string contents(const Model& model) {
  std::vector<std::string> repeated;
  for (const Dim& dim : model.graph.dims()) {
    const char* const kind = dim.kind == DimKind::plate ? "plate" : dim.kind == DimKind::chain ? "chain" : "batch dim";
    if (dim.kind != DimKind::variable) repeated.push_back(fmt::format("{} {} = {}", kind, dim.name, dim.size));
  }
  const std::vector<Slices> all = slices(model);
  double copies = 0;
  std::int64_t observed = 0;
  std::int64_t largest = 0;
  for (const Slices& of : all) {
    copies += static_cast<double>(of.count);
    largest = std::max(largest, of.states);
  }
  for (const auto& [variable, states] : model.evidence) {
    observed += std::count_if(states.begin(), states.end(), [](std::int64_t s) { return s >= 0; });
  }
  for (const auto& [variable, rows] : model.lists) {
    observed += std::count_if(rows.states.begin(), rows.states.end(), [](std::int64_t s) { return s >= 0; });
  }
  Columns table({Align::left, Align::left});
  table.row({heading("Model"), fmt::format("{}{}{}", model.name, model.name.empty() ? "" : ", ", name(model.format)) +
                                   (model.directed ? ", directed" : "")});
  table.row({"", counted(static_cast<std::int64_t>(all.size()), "variable") +
                     (repeated.empty() ? "" : " in " + counted(static_cast<std::int64_t>(copies), "slice")) +
                     fmt::format(", at most {} states; ", largest) +
                     counted(static_cast<std::int64_t>(model.factors.size()), "factor")});
  if (!repeated.empty()) table.row({"", listed(repeated, 12)});
  if (observed > 0) table.row({"", counted(observed, "value") + " observed"});
  return table.text();
}

/// What is done before planning.
std::string before_planning(const Explanation& explanation) {
  Columns table({Align::left, Align::left});
  const auto row = [&](const std::string& text) { table.row({heading(table.empty() ? "Before" : ""), text}); };
  if (explanation.absorbed > 0) row("evidence removes " + counted(explanation.absorbed, "variable"));
  if (explanation.determined > 0) row("evidence and zeros determine " + counted(explanation.determined, "variable"));
  if (explanation.impossible > 0) row(counted(explanation.impossible, "state") + " of others impossible, left out");
  if (!explanation.dropped.empty()) {
    row(counted(static_cast<std::int64_t>(explanation.dropped.size()), "variable") +
        " dropped as barren: " + listed(explanation.dropped, 8));
  }
  return table.empty() ? "" : table.text();
}

/// What is priced, in words.
std::string asked(const Question& question) {
  switch (question.kind) {
    case Question::Kind::marginals:
      return "the marginals of all variables";
    case Question::Kind::map:
      return "the most probable assignment";
    case Question::Kind::sample:
      return "samples";
    case Question::Kind::entropy:
      return "the entropy";
    default:
      return "ln Z";
  }
}

std::string price(const Explanation& explanation) {
  const Cost& cost = explanation.cost;
  Columns table({Align::left, Align::left, Align::left});
  const bool marginals = explanation.question.kind == Question::Kind::marginals;
  table.row({heading("Cost"), "arithmetic",
             count(cost.flops) + " additions and multiplications for " + asked(explanation.question)});
  table.row({"", "exponentials", count(cost.exps) + ", with logarithms"});
  table.row({"", "traffic", bytes(cost.bytes_read) + " read, " + bytes(cost.bytes_written) + " written"});
  table.row({"", "memory", bytes(static_cast<double>(cost.peak_bytes)) + " for intermediates at the peak"});
  if (marginals) {
    table.row({"", "sweeps", counted(explanation.sweeps, "sweep") + " forwards and back"});
  } else {
    table.row({"", "marginals",
               counted(explanation.sweeps, "sweep") + ", about " + count(explanation.sweep_flops) +
                   " operations forwards and up to twice that back (--task mar counts them)"});
  }
  table.row({"", "depth", count(cost.span) + " operations in sequence with unlimited processors"});
  return table.text();
}

/// The schedules of all plans, one after the other.
std::string schedule(const Explanation& explanation, bool whole, std::int64_t limit) {
  std::string printed;
  for (std::size_t k = 0; k < explanation.plans.size(); ++k) {
    printed += explanation.plans[k].print(explanation.questions[k], limit, Dtype::float64);
  }
  std::istringstream lines(printed);
  const bool only_value = explanation.question.kind == Question::Kind::value;
  std::string text =
      "Schedule  " +
      (only_value ? counted(static_cast<std::int64_t>(explanation.plans[0].steps()), "step") + " " : std::string()) +
      "for " + asked(explanation.question) + "\n";
  std::size_t left_out = 0;
  std::size_t shown = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("cost: ")) continue;  // printed above, for the type used in solving
    if (!whole && shown >= most_lines) {
      ++left_out;
      continue;
    }
    if (!whole && width(line) > longest_plan_line) {
      // Lists of all that the model holds; steps that are long say something with their beginning.
      if (line.starts_with("plan for ") || line.starts_with("variables ") || line.starts_with("dropped ")) continue;
      line.resize(longest_plan_line);
      // Not in the middle of a character.
      while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0x80) != 0) line.pop_back();
      line += " …";
    }
    text += "  " + line + "\n";
    ++shown;
  }
  if (left_out > 0)
    text += fmt::format("  … and {} (--whole shows all)\n", counted(static_cast<std::int64_t>(left_out), "line"));
  return text;
}

/// The forbidden minor and the ways out of it.
std::string why_not(const IntractableError& error) {
  const Certificate& c = error.certificate();
  Columns table({Align::left});
  table.row({heading("Verdict"), "intractable: the cost would be exponential in the size of a plate"});
  table.row({heading("Why"), fmt::format("'{}' is in plate '{}' and not in '{}'", c.u, c.a, c.b)});
  table.row({"", fmt::format("'{}' is in plate '{}' and not in '{}'", c.w, c.b, c.a)});
  table.row({"", "factors in both plates join the two: " + listed(c.factors, 12)});
  std::string text = table.text();
  if (error.repairs().empty()) return text + "Repairs   none that could be planned\n";
  Columns repairs({Align::left, Align::left, Align::right});
  for (const Repair& repair : error.repairs()) {
    repairs.row({heading(repairs.empty() ? "Repairs" : ""), "unroll " + listed(repair.unroll, 8),
                 count(repair.flops) + " operations", bytes(static_cast<double>(repair.peak_bytes)) + " of memory"});
  }
  return text + repairs.text();
}

std::string verdict(const std::string& words) { return "Verdict   " + words + "\n"; }

/// "needs 773 GiB for intermediates, and this machine has 15.6 GiB"; nothing where it fits.
std::string too_much(const Explanation& explanation, const Common& common) {
  const std::int64_t limit = memory_limit(common);
  if (limit <= 0 || explanation.cost.peak_bytes <= limit) return "";
  return fmt::format("needs {} for intermediates, and {} {}", bytes(static_cast<double>(explanation.cost.peak_bytes)),
                     common.memory_limit > 0 ? "--memory-limit allows" : "this machine has",
                     bytes(static_cast<double>(limit)));
}

Question::Kind kind_of(const std::string& task) {
  if (task == "mar") return Question::Kind::marginals;
  if (task == "map") return Question::Kind::map;
  if (task == "sample") return Question::Kind::sample;
  if (task == "entropy") return Question::Kind::entropy;
  return Question::Kind::value;
}

void deliver_text(const Explanation& told, const std::string& refused, const std::string& beginning,
                  const Explain& wanted, const Common& common) {
  const std::string judged = verdict(
      refused.empty() ? "tractable: the cost is polynomial in the sizes of plates and chains" : "too wide: " + refused);
  deliver(beginning + judged + before_planning(told) + price(told) + "\n" +
              schedule(told, wanted.whole, common.memory_limit),
          "");
}

int explain_plan(const Model& model, const std::string& beginning, const Explain& wanted, const Common& common) {
  std::unique_ptr<Progress> progress = std::make_unique<Progress>("planning", common.quiet);
  const Explanation told =
      plated::explain(model, kind_of(wanted.task), {.memory_limit = memory_limit(common)}, wanted.observed);
  progress.reset();
  const std::string refused = too_much(told, common);
  if (wanted.json) {
    deliver(refused.empty() ? explain_json(model, {.verdict = "tractable"}, &told)
                            : explain_json(model, {.verdict = "too wide", .reason = refused}, &told),
            "");
  } else {
    deliver_text(told, refused, beginning, wanted, common);
  }
  if (refused.empty()) return answered;
  throw MemoryLimitError(shown_name(wanted.input.model) + ": " + refused, told.cost.peak_bytes, common.memory_limit);
}

}  // namespace

int explain(const Explain& wanted, const Common& common) {
  Input as_it_is = wanted.input;
  as_it_is.unroll = false;
  Model model = load(as_it_is, common);
  std::string text = contents(model);
  try {
    if (wanted.input.unroll) {
      model = unroll(model);
      text = contents(model);
    }
    return explain_plan(model, text, wanted, common);
  } catch (const IntractableError& error) {
    deliver(wanted.json ? explain_json(model, {"intractable", error.what(), &error}) : text + why_not(error), "");
    throw;
  } catch (const SizeOverflowError& error) {
    deliver(wanted.json ? explain_json(model, {.verdict = "too wide", .reason = error.what()})
                        : text + verdict("too wide: " + std::string(error.what())),
            "");
    throw;
  } catch (const ImpossibleError& error) {
    deliver(wanted.json ? explain_json(model, {.verdict = "impossible", .reason = error.what()})
                        : text + verdict("impossible: " + std::string(error.what())),
            "");
    throw;
  }
}

}  // namespace plated::cli
