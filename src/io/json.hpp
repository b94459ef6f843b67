// Parses strict JSON into values that know their position.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/source.hpp"

namespace plated::io {

struct JsonMember;

/// A value and its place in the text: an error about what a value means can name its line, which nlohmann's values do
/// not remember. Arrays of numbers, the bulk of a model, are kept as numbers.
struct Json {
  enum class Kind : std::uint8_t { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  bool boolean = false;
  bool packed = false;  // of an array: all its items are `numbers`, in which "-inf" stands for −∞
  std::size_t at = 0;
  double number = 0;
  std::string string;
  std::vector<Json> items;
  std::vector<double> numbers;
  std::vector<JsonMember> members;  // in the text's order, each key once

  [[nodiscard]] bool is(Kind wanted) const { return kind == wanted; }
  /// The member of that key, or null.
  [[nodiscard]] const Json* find(std::string_view key) const;
  /// How many items an array has.
  [[nodiscard]] std::size_t size() const { return packed ? numbers.size() : items.size(); }
};

struct JsonMember {
  std::string key;
  Json value;
};

/// Throws FormatError for all that is not RFC 8259, for keys twice in an object, and for more than 100 brackets in each
/// other.
[[nodiscard]] Json read_json(const Source& source);

}  // namespace plated::io
