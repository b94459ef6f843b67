// Reference answers of a network: in .PR, .MAR and .MAP files beside UAI models, in .ref files beside BIF models.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plated/model.hpp"

namespace bench {

/// A network with evidence, and what is known about it.
struct Instance {
  std::string name;
  std::filesystem::path file;
  std::filesystem::path evidence_file;  // empty: none
  std::vector<std::string> observed;    // further evidence, as plated::observe takes it
  std::optional<double> ln_z;
  std::optional<double> ln_map;
  std::map<std::string, std::vector<double>> marginals;  // of variables without evidence at least
};

/// The instances of a folder, UAI and BIF, by name; a BIF network has one for each query of its .ref.
[[nodiscard]] std::vector<Instance> instances_of(const std::filesystem::path& folder);

/// The model of an instance with its evidence.
[[nodiscard]] plated::Model load(const Instance& instance);

}  // namespace bench
