// Turns names from files into names that equations can spell.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace plated::io {

/// Spells names one after the other.
class Speller {
 public:
  /// The name itself, or one like it in which `_` stands for each character that a name cannot have, with a number
  /// behind it where `taken` says that it is another's.
  [[nodiscard]] std::string spell(std::string_view name, const std::function<bool(const std::string&)>& taken);

 private:
  std::map<std::string, int> last_;  // the number behind the last name like it: many alike stay quick
};

}  // namespace plated::io
