// Reads a benchmark's command line.
#include "common/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

namespace bench {

Arguments::Arguments(int argc, const char* const* argv, const std::vector<std::string>& options,
                     const std::vector<std::string>& flags, const std::vector<std::string>& words) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (words_.size() < words.size() && !name.starts_with("--")) {
      words_.push_back(name);
      continue;
    }
    require_words(words);
    if (std::find(flags.begin(), flags.end(), name) != flags.end()) {
      given_[name] = "";
    } else if (std::find(options.begin(), options.end(), name) == options.end()) {
      throw std::invalid_argument("unknown option " + name);
    } else if (++i == argc) {
      throw std::invalid_argument(name + " needs a value");
    } else {
      given_[name] = argv[i];
    }
  }
  require_words(words);
}

void Arguments::require_words(const std::vector<std::string>& words) const {
  if (words_.size() < words.size()) throw std::invalid_argument(words[words_.size()] + " comes first and is missing");
}

std::string Arguments::text(std::string_view name, std::string_view otherwise) const {
  const auto found = given_.find(name);
  return found == given_.end() ? std::string(otherwise) : found->second;
}

std::int64_t Arguments::integer(std::string_view name, std::int64_t otherwise, std::int64_t lowest,
                                std::int64_t highest) const {
  const std::string value = text(name, std::to_string(otherwise));
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < lowest || number > highest) {
    throw std::invalid_argument(std::string(name) + " takes a number from " + std::to_string(lowest) + " to " +
                                std::to_string(highest) + ", not " + value);
  }
  return number;
}

double Arguments::number(std::string_view name, double otherwise, double lowest, double highest) const {
  if (!has(name)) return otherwise;
  const std::string value = text(name, "");
  double read = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), read);
  if (error != std::errc() || end != value.data() + value.size() || !(read >= lowest && read <= highest)) {
    throw std::invalid_argument(std::string(name) + " takes a number from " + std::to_string(lowest) + " to " +
                                std::to_string(highest) + ", not " + value);
  }
  return read;
}

std::vector<std::string> Arguments::list(std::string_view name, std::string_view otherwise) const {
  std::vector<std::string> parts;
  std::istringstream stream(text(name, otherwise));
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace bench
