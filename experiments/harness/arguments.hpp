// The arguments of an experiment's program: words `name=value`.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

namespace experiments {

/// Throws std::runtime_error for words that are no `name=value`, for names that are missing, and for names that nobody
/// asked for: a misspelt option must not be a run with the default.
class Arguments {
 public:
  Arguments(int count, char** words) {
    for (int k = 1; k < count; ++k) {
      const std::string word = words[k];
      const std::size_t sign = word.find('=');
      if (sign == std::string::npos) throw std::runtime_error(word + " is no name=value");
      values_[word.substr(0, sign)] = word.substr(sign + 1);
    }
  }

  [[nodiscard]] std::string text(const std::string& name) {
    asked_.insert(name);
    const auto found = values_.find(name);
    if (found == values_.end()) throw std::runtime_error(name + "=… is missing");
    return found->second;
  }
  [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise) {
    asked_.insert(name);
    return values_.contains(name) ? values_.at(name) : otherwise;
  }
  [[nodiscard]] std::int64_t integer(const std::string& name, std::int64_t otherwise) {
    return std::stoll(text(name, std::to_string(otherwise)));
  }
  [[nodiscard]] double number(const std::string& name, double otherwise) {
    return std::stod(text(name, std::to_string(otherwise)));
  }

  /// To be called when everything was asked for.
  void finish() const {
    for (const auto& [name, value] : values_) {
      if (!asked_.contains(name)) throw std::runtime_error("nobody asks for " + name + "=" + value);
    }
  }

 private:
  std::map<std::string, std::string> values_;
  std::set<std::string> asked_;
};

/// The path of a file of public data, in the folder that PLATED_DATA names. Throws where that is not set.
inline std::string data_path(const std::string& name) {
  const char* const folder = std::getenv("PLATED_DATA");
  if (folder == nullptr || *folder == '\0') throw std::runtime_error("PLATED_DATA is not set");
  return std::string(folder) + "/" + name;
}

}  // namespace experiments
