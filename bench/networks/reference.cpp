// Reads references.
#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "plated/model_file.hpp"

namespace bench {
namespace {

std::filesystem::path with(const std::filesystem::path& path, const char* suffix) { return path.string() + suffix; }

/// Natural logarithms of MAP scores are in a table of the whole folder: column `ln_MAP` (or `ln_mpe`) by name.
std::map<std::string, double> map_scores(const std::filesystem::path& folder) {
  std::ifstream file(folder / "reference.tsv");
  std::map<std::string, double> scores;
  std::string line;
  std::size_t column = 0;
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '\t');) cells.push_back(cell);
    if (column == 0) {
      const auto found = std::find(cells.begin(), cells.end(), "ln_MAP");
      if (found == cells.end()) return {};
      column = static_cast<std::size_t>(found - cells.begin());
    } else if (cells.size() > column && !cells[column].empty()) {
      scores[cells[0]] = std::stod(cells[column]);
    }
  }
  return scores;
}

Instance uai_instance(const std::filesystem::path& path, const std::map<std::string, double>& scores) {
  Instance instance{.name = path.stem().string(), .file = path};
  if (exists(with(path, ".evid"))) instance.evidence_file = with(path, ".evid");
  if (const auto score = scores.find(instance.name); score != scores.end()) instance.ln_map = score->second;
  std::string word;
  if (std::ifstream file(with(path, ".PR")); file >> word) {
    double log10_z = 0;
    file >> log10_z;
    instance.ln_z = log10_z * std::log(10.0);
  }
  if (std::ifstream file(with(path, ".MAR")); file >> word) {
    std::size_t variables = 0;
    file >> variables;
    for (std::size_t v = 0; v < variables; ++v) {
      std::size_t states = 0;
      file >> states;
      std::vector<double>& posterior = instance.marginals["v" + std::to_string(v)];
      posterior.resize(states);
      for (double& p : posterior) file >> p;
    }
    if (!file) throw std::runtime_error("cannot read " + path.string() + ".MAR");
  }
  return instance;
}

std::vector<Instance> bif_instances(const std::filesystem::path& path) {
  std::filesystem::path reference = path;
  reference.replace_extension(".ref");
  std::ifstream file(reference);
  std::vector<Instance> result;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream row(line);
    std::string word;
    row >> word;
    if (word == "QUERY") {
      std::string number, count;
      row >> number >> count;
      Instance& instance = result.emplace_back(Instance{.name = path.stem().string() + "/" + number, .file = path});
      for (std::string observed; row >> observed;) instance.observed.push_back(observed);
    } else if (word == "LNPE") {
      row >> result.back().ln_z.emplace();
    } else if (word == "LNMPE") {
      row >> result.back().ln_map.emplace();
    } else if (word == "MAR") {
      std::string variable;
      row >> variable;
      std::vector<double>& posterior = result.back().marginals[variable];
      for (double p = 0; row >> p;) posterior.push_back(p);
    }
  }
  if (result.empty()) result.push_back({.name = path.stem().string(), .file = path});
  return result;
}

}  // namespace

std::vector<Instance> instances_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  const std::map<std::string, double> scores = map_scores(folder);
  std::vector<Instance> result;
  for (const std::filesystem::path& file : files) {
    if (file.extension() == ".uai") result.push_back(uai_instance(file, scores));
    if (file.extension() == ".bif") {
      for (Instance& instance : bif_instances(file)) result.push_back(std::move(instance));
    }
  }
  return result;
}

plated::Model load(const Instance& instance) {
  plated::Model model = plated::read_model(instance.file);
  if (!instance.evidence_file.empty()) plated::read_evidence(model, instance.evidence_file);
  for (const std::string& observed : instance.observed) plated::observe(model, observed);
  return model;
}

}  // namespace bench
