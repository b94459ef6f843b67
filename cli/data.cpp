// Reads the data that commands fit and score models on.
#include "data.hpp"

#include "errors.hpp"
#include "plated/data_file.hpp"

namespace plated::cli {

Data load_data(const Model& model, const std::vector<std::string>& words, const std::string& option) {
  Data data;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string variable = equals == std::string::npos ? "" : word.substr(0, equals);
    const std::string file = equals == std::string::npos ? word : word.substr(equals + 1);
    if (file.empty()) throw UsageError(option + " " + word + " names no file");
    for (auto& [name, states] : read_data(model, file, variable)) {
      if (!data.states.emplace(name, states).second) {
        throw UsageError(option + " " + word + ": another " + option + " has given the data of '" + name + "'");
      }
    }
  }
  return data;
}

}  // namespace plated::cli
