// Prints schedules.
#include "planner/print_schedule.hpp"

#include <cstdio>

#include "base/overloaded.hpp"
#include "planner/scan_form.hpp"
#include "planner/schedule_cost.hpp"

namespace plated::planner {
namespace {

class Printer {
 public:
  /// `names` are those of a body's operands, whose steps continue the count of `messages`.
  explicit Printer(const Schedule& schedule, std::vector<std::string> names = {}, std::size_t messages = 0)
      : schedule_(schedule), operands_(std::move(names)), messages_(messages) {
    // In the order of the steps: passes may have removed values in between.
    number_.assign(schedule.values.size(), 0);
    for (const Step& step : schedule.steps) {
      for_each_output(step, [&](ValueId v) {
        if (schedule.values[v].kind == Value::Kind::intermediate) number_[v] = ++messages_;
      });
    }
  }

  std::string run() const {
    std::string text = header();
    const SortedSet* leaf = nullptr;
    std::size_t component = schedule_.components.size();
    for (std::size_t s = 0; s < schedule_.steps.size(); ++s) {
      const Step& step = schedule_.steps[s];
      if (step.component != component) {
        component = step.component;
        const ComponentNote& note = schedule_.components[component];
        if (component + 1 == schedule_.components.size()) {
          text += "outputs\n";
        } else {
          if (leaf == nullptr || *leaf != note.leaf) text += "leaf L = " + set(note.leaf) + "\n";
          leaf = &note.leaf;
          text += "  " + describe(note) + "\n";
        }
      }
      char line[32];
      std::snprintf(line, sizeof line, "%6zu  ", s + 1);
      text += line + value(step.output) + " = " + operation(step) + "\n";
      if (const auto* scan = step.as<Scan>()) text += slices(*scan, step);
    }
    return text + footer();
  }

  /// The steps of a body.
  std::string body() const {
    std::string text;
    for (const Step& step : schedule_.steps) text += "          " + value(step.output) + " = " + operation(step) + "\n";
    return text;
  }

 private:
  template <class Dims>
  std::string names(const Dims& dims, const char* separator) const {
    std::string text;
    for (const DimId d : dims) text += (text.empty() ? "" : separator) + schedule_.graph.dims()[d].name;
    return text;
  }

  std::string set(const SortedSet& dims) const { return "{" + names(dims, ", ") + "}"; }

  std::string describe(const ComponentNote& note) const {
    std::string factors;
    for (const ValueId v : note.factors) factors += (factors.empty() ? "" : ", ") + value(v);
    return "V_c = " + set(note.variables) + ", F_c = {" + factors + "}, V_f = " + set(note.remaining) +
           (note.remaining.empty() ? ", to the scalars S" : ", L′ = " + set(note.parent));
  }

  /// What a scan does in each slice.
  std::string slices(const Scan& scan, const Step& step) const {
    std::vector<std::string> names{"message"};
    for (std::size_t k = 1; k < scan.body->operands.size(); ++k) names.push_back(value(step.inputs[k]));
    const bool splits = scan_form(schedule_, step) && !scan.ragged &&
                        splits_time(elements(schedule_.extents, scan.kept), elements(schedule_.extents, scan.before),
                                    schedule_.extents[scan.chain]);
    std::string links;
    for (std::size_t k = 0; k < scan.before.size(); ++k) {
      const DimId source = scan.forward ? scan.before[k] : scan.after[k];
      const DimId target = scan.forward ? scan.after[k] : scan.before[k];
      links += (k > 0 ? ", " : "") + schedule_.graph.dims()[source].name + "→" + schedule_.graph.dims()[target].name;
    }
    const std::string way = splits ? std::to_string(time_parts) + " parts at once" : "slice after slice";
    return "        chain " + schedule_.graph.dims()[scan.chain].name + " = " +
           std::to_string(schedule_.extents[scan.chain]) + " slices, links " + links + ": " + way + ", from the " +
           (scan.forward ? "first to the last" : "last to the first") + ":\n" +
           Printer(*scan.body, std::move(names), messages_).body();
  }

  std::string value(ValueId v) const {
    const Value& value = schedule_.values[v];
    switch (value.kind) {
      case Value::Kind::operand:
        return operands_.empty() ? schedule_.operand_name(value) : operands_[value.index];
      case Value::Kind::output:
        if (!operands_.empty()) return "message";
        return "output" + std::to_string(value.index) + "[" + names(value.dims, ", ") + "]";
      case Value::Kind::intermediate:
        return "m" + std::to_string(number_[v]) + "[" + names(value.dims, ", ") + "]";
    }
    return {};
  }

  std::string operation(const Step& step) const {
    std::string inputs;
    for (const ValueId v : step.inputs) inputs += (inputs.empty() ? "" : ", ") + value(v);
    if (step.inputs.empty()) return "1";
    const SortedSet plates = multiplied(step);
    return std::visit(
        base::Overloaded{
            [&](const Contract& contract) {
              const std::string text = plates.empty() ? "" : "Product" + set(plates) + " ";
              const bool sums = !contract.sum.empty() || step.inputs.size() > 1;
              return sums ? text + "SumProduct" + set(contract.sum) + "(" + inputs + ")" : text + inputs;
            },
            [&](const LeaveOneOut&) { return "LeaveOneOut" + set(plates) + "(" + inputs + ")"; },
            [&](const Weigh& weigh) {
              return (weigh.accumulate ? "itself + Weigh" : "Weigh") + set(weigh.sum) + "(" + inputs + ")";
            },
            [&](const LogMass&) { return "LogMass(" + inputs + ")"; },
            [&](const Raise& raise) {
              return "Raise(" + inputs + (raise.less == 0 ? ")" : " − " + std::to_string(raise.less) + ")");
            },
            [&](const Gather& gather) {
              return (plates.empty() ? "" : "Product" + set(plates) + " ") + "Gather" + set(gather.variables) + "(" +
                     inputs + ")";
            },
            [&](const Scatter& scatter) { return "Scatter" + set(scatter.variables) + "(" + inputs + ")"; },
            [&](const Scan& scan) { return "Scan{" + schedule_.graph.dims()[scan.chain].name + "}(" + inputs + ")"; }},
        step.operation);
  }

  std::string header() const {
    std::string text = "plan for " + schedule_.graph.equation() + "\n";
    std::string plates;
    std::string variables;
    for (const Dim& d : schedule_.graph.dims()) {
      std::string& list = d.kind == DimKind::variable ? variables : plates;
      list += (list.empty() ? "" : ", ") + d.name + " = " + std::to_string(d.size) +
              (d.kind == DimKind::batch ? " (batch)" : "");
    }
    if (!variables.empty()) text += "variables " + variables + "\n";
    if (!plates.empty()) text += "plates " + plates + "\n";
    if (!schedule_.problem.dropped.empty())
      text += "dropped as barren: " + names(schedule_.problem.dropped, ", ") + "\n";
    return text;
  }

  std::string footer() const {
    const Cost cost = schedule_cost(schedule_, schedule_.extents, Semiring::log, 4);
    char line[160];
    std::snprintf(line, sizeof line,
                  "cost: %.3g flops, %.3g exps, %.3g bytes read, %lld bytes of working memory, span %.3g\n", cost.flops,
                  cost.exps, cost.bytes_read, static_cast<long long>(cost.peak_bytes), cost.span);
    return line;
  }

  const Schedule& schedule_;
  std::vector<std::string> operands_;
  std::size_t messages_;
  std::vector<std::size_t> number_;
};

}  // namespace

std::string print_schedule(const Schedule& schedule) { return Printer(schedule).run(); }

}  // namespace plated::planner
