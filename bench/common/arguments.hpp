// The options of a benchmark's command line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Words, then options `--name value` and flags `--name`.
class Arguments {
 public:
  /// `words` says what stands before the options, as in {"FOLDER"}. Throws std::invalid_argument where one of them is
  /// missing, on an option that is in neither list, and on one without its value.
  Arguments(int argc, const char* const* argv, const std::vector<std::string>& options,
            const std::vector<std::string>& flags, const std::vector<std::string>& words = {});

  /// The word of that number, from 0.
  [[nodiscard]] const std::string& word(std::size_t number) const { return words_.at(number); }

  [[nodiscard]] bool has(std::string_view name) const { return given_.find(name) != given_.end(); }
  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise) const;
  /// Throws std::invalid_argument where the value is no number, or out of range.
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise, std::int64_t lowest,
                                     std::int64_t highest) const;
  /// The same for numbers that need not be whole.
  [[nodiscard]] double number(std::string_view name, double otherwise, double lowest, double highest) const;
  /// The parts of a list with commas.
  [[nodiscard]] std::vector<std::string> list(std::string_view name, std::string_view otherwise) const;

 private:
  void require_words(const std::vector<std::string>& words) const;

  std::vector<std::string> words_;
  std::map<std::string, std::string, std::less<>> given_;
};

}  // namespace bench
