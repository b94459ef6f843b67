// Reads the data that commands fit and score models on.
#include "data.hpp"

#include <algorithm>

#include "errors.hpp"
#include "plated/data_file.hpp"

namespace plated::cli {

Data load_data(const Model& model, const std::vector<std::string>& words, const std::vector<std::string>& weights,
               const std::string& option) {
  Data data;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string variable = equals == std::string::npos ? "" : word.substr(0, equals);
    const std::string file = equals == std::string::npos ? word : word.substr(equals + 1);
    if (file.empty()) throw UsageError(option + " " + word + " names no file");
    const auto take = [&](auto& all, const std::string& name, const auto& entries) {
      if (!all.emplace(name, entries).second) {
        throw UsageError(option + " " + word + ": another " + option + " has given the data of '" + name + "'");
      }
    };
    const std::vector<std::string> measured = measured_names(model);
    const bool is_number = std::find(measured.begin(), measured.end(), variable) != measured.end();
    if (!is_number) {
      for (const auto& [name, states] : read_data(model, file, variable)) take(data.states, name, states);
    }
    if (is_number || (variable.empty() && !measured.empty())) {
      for (const auto& [name, numbers] : read_measurements(model, file, variable)) {
        take(data.measurements, name, numbers);
      }
    }
  }
  for (const std::string& word : weights) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
      throw UsageError("--weights reads 'plate=FILE', not '" + word + "'");
    }
    if (!data.weights.emplace(word.substr(0, equals), read_weights(word.substr(equals + 1))).second) {
      throw UsageError("--weights " + word + ": the plate has weights already");
    }
  }
  return data;
}

}  // namespace plated::cli
