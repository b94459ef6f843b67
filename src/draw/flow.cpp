// Turns a schedule into its flow, labelled as planner::print_schedule does.
#include "draw/flow.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/overloaded.hpp"
#include "draw/text.hpp"

namespace plated::draw {
namespace {

using planner::SortedSet;
using planner::Step;
using planner::Value;
using planner::ValueId;

constexpr double widest_line = 250;
constexpr std::size_t most_lines = 3;     // of a list of names
constexpr std::size_t kept_of_long = 40;  // steps at either end of a plan that is too long to show

class FlowMaker {
 public:
  FlowMaker(const planner::Schedule& schedule, const DrawOptions& options, const SliceNames& slice)
      : schedule_(schedule), options_(options), slice_(slice), number_(schedule.values.size()), last_(slice.messages) {
    for (const Dim& dim : schedule.graph.dims()) has_plates_ |= has_slices(dim.kind);
    for (const Step& step : schedule.steps) {
      for_each_output(step, [&](ValueId v) {
        if (schedule.values[v].kind == Value::Kind::intermediate) number_[v] = ++last_;
      });
    }
  }

  SliceNames names_in(const Step& step) const {
    const auto& scan = *step.as<planner::Scan>();
    SliceNames inside{.operands = {"message"}, .messages = last_};
    for (std::size_t k = 1; k < scan.body->operands.size(); ++k) inside.operands.push_back(name_of(step.inputs[k]));
    return inside;
  }

  Flow make(std::size_t most) {
    const std::size_t count = schedule_.steps.size();
    const std::size_t kept = count > most ? std::min(kept_of_long, most / 2) : count;
    for (std::size_t s = 0; s < count; ++s) {
      if (count > most && s == kept) s = skip(kept, count - kept);
      add_step(s);
    }
    return std::move(flow_);
  }

 private:
  template <class Dims>
  std::vector<std::string> names(const Dims& dims) const {
    std::vector<std::string> list;
    for (const DimId d : dims) {
      const std::string& name = schedule_.graph.dims()[d].name;
      const auto label = options_.labels.find(name);
      list.push_back(label == options_.labels.end() ? name : label->second);
    }
    return list;
  }

  /// `before{a, b, c}` in lines; of a very long list the beginning, and how long it is.
  template <class Dims>
  static void add_list(std::vector<std::string>& lines, const std::string& before, const Dims& words, char open,
                       char close, const std::string& after = "") {
    std::string line = before + open;
    std::size_t started = 1;
    for (std::size_t k = 0; k < words.size(); ++k) {
      std::string word = words[k] + (k + 1 < words.size() ? ", " : "");
      if (k > 0 && text_width(line + word, label_font) > widest_line) {
        if (started++ == most_lines) {
          word = "… " + std::to_string(words.size()) + " in all";
          k = words.size();
        }
        lines.push_back(line);
        line = "  ";
      }
      line += word;
    }
    line += close;
    if (text_width(line + after, label_font) > widest_line && !after.empty()) {
      lines.push_back(line);
      line = " ";
      lines.push_back(line + after);
      return;
    }
    lines.push_back(line + after);
  }

  /// ` 32 × 2 = 64`: a value's sizes and how many numbers that is.
  std::string size_of(const Value& value) const {
    std::string sizes;
    for (const DimId d : value.dims)
      sizes.append(sizes.empty() ? "" : " × ").append(std::to_string(schedule_.graph.dims()[d].size));
    const std::int64_t count = planner::elements(schedule_.extents, value.dims);
    if (value.dims.empty()) return " 1 number";
    if (value.dims.size() == 1 || value.dims.size() > 6) return " " + with_commas(count) + " numbers";
    return " " + sizes + " = " + with_commas(count);
  }

  std::string operation(const Step& step) const {
    return std::visit(
        base::Overloaded{
            [&](const planner::Contract& contract) {
              return step.inputs.size() > 1 || !contract.sum.empty() ? "SumProduct" : "";
            },
            [](const planner::LeaveOneOut&) { return "LeaveOneOut"; }, [](const planner::Weigh&) { return "Weigh"; },
            [](const planner::LogMass&) { return "LogMass"; }, [](const planner::Raise&) { return "Raise"; },
            [](const planner::Gather&) { return "Gather"; }, [](const planner::Scatter&) { return "Scatter"; },
            [](const planner::Scan&) { return "Scan"; }},
        step.operation);
  }

  int colour_of(const SortedSet& leaf) {
    const auto [found, fresh] = leaves_.try_emplace(leaf, static_cast<int>(leaves_.size()));
    return found->second;
  }

  void add_step(std::size_t s) {
    const Step& step = schedule_.steps[s];
    const Value& result = schedule_.values[step.output];
    const bool is_output = result.kind == Value::Kind::output;
    FlowNode node{.kind = is_output ? FlowNode::Kind::output : FlowNode::Kind::step};
    node.heading = std::to_string(s + 1);
    if (has_plates_ && step.component + 1 < schedule_.components.size()) {
      const auto& leaf = schedule_.components[step.component].leaf;
      node.colour = colour_of(leaf);
      std::vector<std::string> words;
      add_list(words, " · leaf ", names(leaf), '{', '}');
      for (const auto& word : words) node.heading += word;
    }
    const SortedSet plates = multiplied(step);
    if (!plates.empty()) add_list(node.lines, "Product", names(plates), '{', '}');
    if (step.inputs.empty()) {
      node.lines.push_back("1");
    } else if (const std::string word = operation(step); !word.empty()) {
      add_list(node.lines, word, names(summed(step)), '{', '}');
    } else if (plates.empty()) {
      node.lines.push_back("as it is");
    }
    add_list(node.lines, "= " + name_of(step.output), names(result.dims), '[', ']', " ·" + size_of(result));
    node.tooltip = tooltip_of(step);
    const int at = add(std::move(node));
    std::set<int> sources;
    for (const ValueId v : step.inputs) sources.insert(node_of(v));
    for (const int source : sources) flow_.arrows.emplace_back(source, at);
    for_each_output(step, [&](ValueId v) { made_[v] = at; });
  }

  std::string name_of(ValueId v) const {
    const Value& value = schedule_.values[v];
    const bool in_slice = !slice_.operands.empty();
    switch (value.kind) {
      case Value::Kind::operand:
        return in_slice ? slice_.operands[value.index] : schedule_.operand_name(value);
      case Value::Kind::output:
        return in_slice ? "message" : "output" + std::to_string(value.index);
      case Value::Kind::intermediate:
        break;
    }
    return "m" + std::to_string(number_[v]);
  }

  std::string tooltip_of(const Step& step) const {
    if (step.component + 1 >= schedule_.components.size()) return "";
    const auto& note = schedule_.components[step.component];
    const auto joined = [&](const SortedSet& dims) {
      std::string text;
      for (const auto& name : names(dims)) text.append(text.empty() ? "" : ", ").append(name);
      return "{" + text + "}";
    };
    return "V_c = " + joined(note.variables) + ", V_f = " + joined(note.remaining) +
           (note.remaining.empty() ? "" : ", L′ = " + joined(note.parent));
  }

  int add(FlowNode node) {
    flow_.nodes.push_back(std::move(node));
    return static_cast<int>(flow_.nodes.size()) - 1;
  }

  /// The node a value comes from; an operand gets one when it is first used.
  int node_of(ValueId v) {
    if (const auto found = made_.find(v); found != made_.end()) return found->second;
    const Value& value = schedule_.values[v];
    FlowNode node{.kind = FlowNode::Kind::factor};
    add_list(node.lines, name_of(v), names(value.dims), '[', ']');
    return made_[v] = add(std::move(node));
  }

  /// One node in place of the steps from `first` to before `end`; returns `end`.
  std::size_t skip(std::size_t first, std::size_t end) {
    std::set<int> sources;
    std::set<ValueId> operands;
    for (std::size_t s = first; s < end; ++s) {
      for (const ValueId v : schedule_.steps[s].inputs) {
        if (const auto found = made_.find(v); found != made_.end()) {
          sources.insert(found->second);
        } else if (schedule_.values[v].kind == Value::Kind::operand) {
          operands.insert(v);
        }
      }
    }
    const int at = add({.kind = FlowNode::Kind::gap,
                        .lines = {with_commas(static_cast<std::int64_t>(end - first)) + " steps more, " +
                                  std::to_string(first + 1) + " to " + std::to_string(end) + ", with " +
                                  with_commas(static_cast<std::int64_t>(operands.size())) + " factors more"}});
    for (std::size_t s = first; s < end; ++s) for_each_output(schedule_.steps[s], [&](ValueId v) { made_[v] = at; });
    for (const int source : sources) flow_.arrows.emplace_back(source, at);
    return end;
  }

  const planner::Schedule& schedule_;
  const DrawOptions& options_;
  const SliceNames& slice_;
  std::vector<std::size_t> number_;
  std::size_t last_;
  bool has_plates_ = false;
  std::map<ValueId, int> made_;
  std::map<SortedSet, int> leaves_;
  Flow flow_;
};

}  // namespace

SliceNames slice_names(const planner::Schedule& schedule, const Step& step, const SliceNames& outside) {
  return FlowMaker(schedule, {}, outside).names_in(step);
}

Flow flow_of(const planner::Schedule& schedule, const DrawOptions& options, const SliceNames& names, std::size_t most) {
  return FlowMaker(schedule, options, names).make(most);
}

}  // namespace plated::draw
