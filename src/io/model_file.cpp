// Detects the format of model files, reads and writes them.
#include "plated/model_file.hpp"

#include <algorithm>

#include "io/disk.hpp"
#include "io/json_likelihood.hpp"
#include "io/readers.hpp"
#include "model/likelihoods.hpp"
#include "model/measured.hpp"
#include "plated/error.hpp"
#include "plated/file.hpp"
#include "plated/npy.hpp"

namespace plated {
namespace {

/// The beginning of the file gives its format: a brace, MARKOV or BAYES, a block of BIF or a comment of its kind.
std::optional<Format> sniffed(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    const bool comment = c == '#' || text.substr(at, 2) == "c " || text.substr(at, 2) == "c\n";
    if (comment) {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
      ++at;
    } else {
      break;
    }
  }
  const std::string_view rest = text.substr(at);
  if (rest.starts_with('{')) return Format::plated;
  if (rest.starts_with("MARKOV") || rest.starts_with("BAYES")) return Format::uai;
  for (const std::string_view block : {"network", "variable", "probability", "//", "/*"}) {
    if (rest.starts_with(block)) return Format::bif;
  }
  return std::nullopt;
}

Model parse(const io::Source& source, Format format, const ReadOptions& options) {
  switch (format) {
    case Format::uai:
      return io::read_uai(source);
    case Format::bif:
      return io::read_bif(source, options);
    default:
      return io::read_plated(source, options);
  }
}

}  // namespace

std::optional<Format> format_of(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  if (extension == ".uai") return Format::uai;
  if (extension == ".bif") return Format::bif;
  if (extension == ".json" || extension == ".plated") return Format::plated;
  return std::nullopt;
}

Model parse_model(std::string_view text, const std::string& file, const ReadOptions& options) {
  text = io::without_mark(text);
  const io::Source source(io::one_line(file), text);
  auto format = options.format ? options.format : sniffed(text);
  if (!format) format = format_of(file);
  if (!format) {
    source.fail(0, text.empty()
                       ? "is empty"
                       : "is no model: one begins with MARKOV or BAYES (UAI), 'network' (BIF) or '{' (plated)");
  }
  return parse(source, *format, options);
}

Model read_model(const std::filesystem::path& path, const ReadOptions& options) {
  ReadOptions located = options;
  if (!located.folder) located.folder = path.parent_path();
  const std::string text = io::read_text(path);
  Model model = parse_model(text, path.string(), located);
  if (model.name.empty()) model.name = path.stem().string();
  return model;
}

Model read_model(std::istream& stream, const std::string& file, const ReadOptions& options) {
  return parse_model(io::read_stream(stream, file), file, options);
}

void parse_evidence(Model& model, std::string_view text, const std::string& file) {
  text = io::without_mark(text);
  const io::Source source(io::one_line(file), text);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool json = begin != std::string_view::npos && text[begin] == '{';
  Observations seen =
      json ? io::read_json_evidence(model, source) : Observations{.states = io::read_uai_evidence(model, source)};
  for (const auto& [variable, states] : model.evidence) model.observed.erase(variable);
  for (const auto& [variable, rows] : model.lists) model.observed.erase(variable);
  for (const auto& [variable, states] : seen.states) model.observed.insert(variable);
  for (const auto& [variable, rows] : seen.lists) model.observed.insert(variable);
  model.evidence = std::move(seen.states);
  model.lists = std::move(seen.lists);
}

void read_evidence(Model& model, const std::filesystem::path& path) {
  parse_evidence(model, io::read_text(path), path.string());
}

void read_evidence(Model& model, std::istream& stream, const std::string& file) {
  parse_evidence(model, io::read_stream(stream, file), file);
}

ModelText model_text(const Model& model, Format format) {
  if (format == Format::plated) return io::write_plated(model, {});
  // What was measured, and what rows say, becomes tables, which every format has.
  const Model tables = model::bound(model);
  ModelText written = format == Format::uai ? io::write_uai(tables) : io::write_bif(tables);
  if (!model.lists.empty()) written.losses.emplace_back("evidence in rows, which became factors of their parents");
  if (!model.likelihoods.empty()) written.losses.emplace_back("likelihoods of observed numbers");
  return written;
}

std::vector<std::string> write_model(const Model& model, const std::filesystem::path& path,
                                     const WriteOptions& options) {
  const auto told = options.format ? options.format : format_of(path);
  if (!told) {
    throw OptionError(io::one_line(path.string()) +
                      ": the name has no extension of a format (.uai, .bif, .json, .plated), and no format is given");
  }
  const Format format = *told;
  if (format != Format::plated) {
    const ModelText written = model_text(model, format);
    const bool with_evidence = format == Format::uai && !model.evidence.empty();
    const std::string evidence = with_evidence ? uai_evidence_text(model) : "";
    write_file(path, written.text);
    if (with_evidence) write_file(path.string() + ".evid", evidence);
    return written.losses;
  }
  std::vector<Tensor> arrays = model.factors;
  for (const auto& [name, numbers] : io::measurements_in_file_order(model)) arrays.push_back(numbers);
  std::vector<std::string> files(arrays.size());
  for (std::size_t f = 0; f < files.size(); ++f) {
    const bool is_likelihood = f < model.factors.size() && model::likelihood_of(model, f) != nullptr;
    if (arrays[f].elements() > options.most_inline && !is_likelihood)
      files[f] = path.stem().string() + ".f" + std::to_string(f) + ".npy";
  }
  const ModelText written = io::write_plated(model, files);
  for (std::size_t f = 0; f < files.size(); ++f) {
    if (!files[f].empty()) write_npy(path.parent_path() / files[f], arrays[f]);
  }
  write_file(path, written.text);
  return written.losses;
}

}  // namespace plated
