// A JSON document that is built up and written; nothing here reads one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

/// A JSON value: null, a boolean, a number, a text, an array or an object whose fields keep their order.
///
///   Json row = Json::object();
///   row.set("threads", 2).set("ratio", 1.18);
class Json {
 public:
  Json() = default;
  template <class T>
  requires std::is_arithmetic_v<T> Json(T value)
      : text_(spell(value)) {}  // NOLINT(google-explicit-constructor): a value is JSON
  Json(std::string_view text);  // NOLINT(google-explicit-constructor)
  Json(const std::string& text) : Json(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)
  Json(const char* text) : Json(std::string_view(text)) {}         // NOLINT(google-explicit-constructor)

  [[nodiscard]] static Json object();
  [[nodiscard]] static Json array();

  Json& set(std::string_view key, Json value);
  Json& push(Json value);

  /// Objects and arrays that hold no others stand on one line.
  [[nodiscard]] std::string print(int indent = 0) const;

 private:
  enum class Kind : std::uint8_t { plain, array, object };

  template <class T>
  static std::string spell(T value) {
    if constexpr (std::is_same_v<T, bool>)
      return value ? "true" : "false";
    else if constexpr (std::is_integral_v<T>)
      return std::to_string(value);
    else
      return spell_number(value);
  }
  static std::string spell_number(double value);

  Kind kind_ = Kind::plain;
  std::string text_ = "null";
  std::vector<std::pair<std::string, Json>> items_;
};

/// Writes a document to a file. Throws std::runtime_error where that fails.
void write_json(const std::string& path, const Json& document);

}  // namespace bench
