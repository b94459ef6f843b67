// Writes the plated format.
#include <algorithm>

#include "graph/spell.hpp"
#include "io/json.hpp"
#include "io/json_likelihood.hpp"
#include "io/nested_text.hpp"
#include "io/numbers.hpp"
#include "io/readers.hpp"
#include "model/entries.hpp"
#include "model/likelihoods.hpp"
#include "plated/error.hpp"
#include "plated/json.hpp"

namespace plated::io {
namespace {

/// `["a", "b"]`
std::string listed(const FactorGraph& graph, const std::vector<DimId>& dims) {
  std::string text = "[";
  for (const DimId dim : dims) text += (text.size() > 1 ? ", " : "") + json_string(graph.dims()[dim].name);
  return text + "]";
}

void append_integers(std::string& text, const FactorGraph& graph, const IntegerView& entries,
                     const std::vector<DimId>& plates, const auto& item) {
  if (entries.shape().size() < plates.size())
    throw SizeError("evidence or lengths have fewer axes than there are plates");
  const std::vector<std::size_t> axes = file_axes(graph, plates, entries.shape().size());  // of the entries
  std::vector<std::int64_t> shape;
  for (const std::size_t axis : axes) shape.push_back(entries.shape()[axis]);
  append_nested(text, shape, "    ", [&](std::string& to, const std::vector<std::int64_t>& index) {
    std::vector<std::int64_t> original(index.size());
    for (std::size_t k = 0; k < index.size(); ++k) original[axes[k]] = index[k];
    item(to, entries.at(original));
  });
}

class PlatedWriter {
 public:
  PlatedWriter(const Model& model, const std::vector<std::string>& array_files)
      : model_(model), graph_(model.graph), files_(array_files), plates_(model.graph.variable_plates()) {}

  std::string write() {
    text_ = "{\n  \"format\": \"plated\",\n  \"version\": 1";
    if (!model_.name.empty()) begin("name") += json_string(model_.name);
    begin("space") += model_.space == Space::log ? "\"log\"" : "\"real\"";
    write_sizes("plates", DimKind::plate);
    write_chains();
    write_sizes("batch", DimKind::batch);
    write_variables();
    write_factors();
    write_outputs();
    write_evidence();
    write_lengths();
    if (!model_.measurements.empty()) {
      const std::size_t numbered = std::min(files_.size(), model_.factors.size());
      write_measurements(begin("measurements"), measurements_in_file_order(model_),
                         {files_.begin() + static_cast<std::ptrdiff_t>(numbered), files_.end()});
    }
    return text_ + "\n}\n";
  }

 private:
  std::string& begin(std::string_view key) { return text_ += ",\n  " + json_string(key) + ": "; }

  void write_sizes(std::string_view key, DimKind kind) {
    std::string sizes;
    for (const Dim& dim : graph_.dims()) {
      if (dim.kind == kind)
        sizes += (sizes.empty() ? "" : ", ") + json_string(dim.name) + ": " + std::to_string(dim.size);
    }
    if (!sizes.empty()) begin(key) += "{" + sizes + "}";
  }

  void write_chains() {
    std::string chains;
    for (DimId d = 0; d < graph_.dims().size(); ++d) {
      const Dim& dim = graph_.dims()[d];
      if (dim.kind != DimKind::chain) continue;
      std::string links;
      for (const Chain& chain : graph_.chains()) {
        if (chain.dim != d) continue;
        for (const Link& link : chain.links)
          links += (links.empty() ? "" : ", ") + listed(graph_, {link.source, link.target});
      }
      chains += (chains.empty() ? "\n    " : ",\n    ") + json_string(dim.name) +
                ": {\"size\": " + std::to_string(dim.size) + ", \"links\": [" + links + "]}";
    }
    if (!chains.empty()) begin("chains") += "{" + chains + "\n  }";
  }

  void write_variables() {
    const bool plated =
        std::any_of(graph_.dims().begin(), graph_.dims().end(), [](const Dim& d) { return has_slices(d.kind); });
    std::string& text = begin("variables") += "{";
    bool first_one = true;
    for (DimId d = 0; d < graph_.dims().size(); ++d) {
      const Dim& dim = graph_.dims()[d];
      if (dim.kind != DimKind::variable || dim.end != End::none) continue;
      text += (first_one ? "\n    " : ",\n    ") + json_string(dim.name) + ": ";
      first_one = false;
      std::string more;
      if (const auto states = model_.states.find(dim.name); states != model_.states.end()) {
        more += ", \"states\": [";
        for (std::size_t k = 0; k < states->second.size(); ++k)
          more += (k > 0 ? ", " : "") + json_string(states->second[k]);
        more += "]";
      }
      if (plated) more += ", \"plates\": " + listed(graph_, plates_[d]);
      if (model_.observed.contains(dim.name)) more += ", \"observed\": true";
      if (const auto label = model_.labels.find(dim.name); label != model_.labels.end())
        more += ", \"label\": " + json_string(label->second);
      text += more.empty() ? std::to_string(dim.size) : "{\"size\": " + std::to_string(dim.size) + more + "}";
    }
    text += first_one ? "}" : "\n  }";
  }

  void write_factors() {
    begin("factors") += "[";
    for (std::size_t f = 0; f < graph_.factors().size(); ++f) {
      const Factor& factor = graph_.factors()[f];
      text_ += (f > 0 ? ",\n    " : "\n    ") + ("{\"name\": " + json_string(factor.name)) +
               ", \"dims\": " + listed(graph_, factor.dims);
      if (!factor.tied.empty()) text_ += ", \"tied\": " + listed(graph_, factor.tied);
      if (!model_.children[f].empty()) text_ += ", \"distribution_of\": " + json_string(model_.children[f]);
      const Learning* const learning = write_learning(factor.name);
      const Likelihood* const likelihood = model::likelihood_of(model_, f);
      if (likelihood != nullptr) write_likelihood(text_, *likelihood);
      if (likelihood != nullptr || (learning != nullptr && learning->learn && !learning->started)) {
        text_ += "}";
        continue;
      }
      if (!files_.empty() && !files_[f].empty()) {
        text_ += ",\n     \"values\": {\"file\": " + json_string(files_[f]) + "}}";
        continue;
      }
      if (model_.factors[f].dtype() == Dtype::float32) text_ += ", \"dtype\": \"float32\"";
      text_ += ",\n     \"values\": ";
      write_values(model_.factors[f], factor.name);
      text_ += "}";
    }
    text_ += graph_.factors().empty() ? "]" : "\n  ]";
  }

  /// What the model says about learning a factor, if anything.
  const Learning* write_learning(const std::string& factor) {
    const auto found = model_.learning.find(factor);
    if (found == model_.learning.end()) return nullptr;
    const Learning& learning = found->second;
    if (learning.learn) text_ += ", \"learn\": true";
    if (!learning.same_as.empty()) text_ += ", \"same_as\": " + json_string(learning.same_as);
    if (learning.prior.data() != nullptr) {
      text_ += ",\n     \"prior\": ";
      append_nested(text_, learning.prior.shape(), "      ", [&](std::string& text, const auto& index) {
        append_number(text, learning.prior.at(index), Dtype::float64);
      });
    }
    return &learning;
  }

  void write_values(const Tensor& numbers, const std::string& factor) {
    const std::vector<double> values = numbers.values();
    std::size_t next = 0;
    append_nested(text_, numbers.shape(), "      ", [&](std::string& text, const std::vector<std::int64_t>&) {
      const double entry = values[next++];
      if (const char* why = model::refused_entry(entry, model_.space)) {
        throw ValueError("an entry of factor " + graph::quoted(factor) + " " + why);
      }
      if (entry < 0 && entry * 0 != 0) {
        text += "\"-inf\"";
      } else {
        append_number(text, entry, numbers.dtype());
      }
    });
  }

  void write_outputs() {
    const std::vector<Output>& outputs = graph_.outputs();
    const auto only_batch = [&](const Output& output) {
      return std::all_of(output.dims.begin(), output.dims.end(),
                         [&](DimId d) { return graph_.dims()[d].kind == DimKind::batch; });
    };
    if (outputs.size() == 1 && only_batch(outputs[0])) return;  // the total, which is what a file asks for by itself
    begin("outputs") += "[";
    for (std::size_t o = 0; o < outputs.size(); ++o) text_ += (o > 0 ? ", " : "") + listed(graph_, outputs[o].dims);
    text_ += "]";
  }

  /// Appends a state by its name or number.
  [[nodiscard]] auto state_writer(const std::string& variable) const {
    const auto names = model_.states.find(variable);
    const std::vector<std::string>* const named = names == model_.states.end() ? nullptr : &names->second;
    return [named](std::string& text, std::int64_t state) {
      if (state < 0) {
        text += "null";
      } else if (named != nullptr) {
        text += json_string((*named)[static_cast<std::size_t>(state)]);
      } else {
        text += std::to_string(state);
      }
    };
  }

  void write_evidence() {
    if (model_.evidence.empty() && model_.lists.empty()) return;
    std::string& text = begin("evidence") += "{";
    bool first_one = true;
    const auto next = [&](const std::string& variable) {
      text += (first_one ? "\n    " : ",\n    ") + json_string(variable) + ": ";
      first_one = false;
    };
    for (const auto& [variable, states] : model_.evidence) {
      next(variable);
      append_integers(text, graph_, states, plates_[*graph_.find(variable)], state_writer(variable));
    }
    const auto append_rows = [&](const IntegerView& entries, const auto& item) {
      append_nested(text, entries.shape(), "      ",
                    [&](std::string& to, const std::vector<std::int64_t>& row) { item(to, entries.at(row)); });
    };
    for (const auto& [variable, rows] : model_.lists) {
      next(variable);
      text += "{\"states\": ";
      append_rows(rows.states, state_writer(variable));
      text += ",\n     \"slices\": {";
      for (const auto& [plate, slices] : rows.slices) {
        text += (text.back() == '{' ? "" : ",\n       ") + json_string(plate) + ": ";
        append_rows(slices, [](std::string& to, std::int64_t slice) { to += std::to_string(slice); });
      }
      text += "}}";
    }
    text += "\n  }";
  }

  void write_lengths() {
    if (model_.lengths.empty()) return;
    begin("lengths") += "{";
    bool first_one = true;
    for (const Chain& chain : graph_.chains()) {
      const std::string& name = graph_.dims()[chain.dim].name;
      const auto lengths = model_.lengths.find(name);
      if (lengths == model_.lengths.end() || chain.links.empty()) continue;
      std::vector<DimId> others = plates_[chain.links[0].source];
      std::erase(others, chain.dim);
      text_ += (first_one ? "\n    " : ",\n    ") + json_string(name) + ": ";
      first_one = false;
      append_integers(text_, graph_, IntegerView::view(lengths->second), others,
                      [](std::string& text, std::int64_t length) { text += std::to_string(length); });
    }
    text_ += "\n  }";
  }

  const Model& model_;
  const FactorGraph& graph_;
  const std::vector<std::string>& files_;
  std::vector<std::vector<DimId>> plates_;
  std::string text_;
};

}  // namespace

ModelText write_plated(const Model& model, const std::vector<std::string>& array_files) {
  return {PlatedWriter(model, array_files).write(), {}};
}

}  // namespace plated::io
