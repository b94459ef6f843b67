// Reads the data that commands fit and score models on.
#include "data.hpp"

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
    Observations read = read_observations(model, file, variable);
    const auto add = [&](auto& to, auto& from) {
      for (auto& [name, states] : from) {
        if (data.states.contains(name) || !to.emplace(name, std::move(states)).second) {
          throw UsageError(option + " " + word + ": another " + option + " has given the data of '" + name + "'");
        }
      }
    };
    add(data.states, read.states);
    add(data.lists, read.lists);
    add(data.measurements, read.measurements);
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
