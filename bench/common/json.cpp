// Builds and prints JSON.
#include "common/json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "plated/json.hpp"

namespace bench {
Json::Json(std::string_view text) : text_(plated::json_string(text)) {}

std::string Json::spell_number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

Json Json::object() {
  Json json;
  json.kind_ = Kind::object;
  return json;
}

Json Json::array() {
  Json json;
  json.kind_ = Kind::array;
  return json;
}

Json& Json::set(std::string_view key, Json value) {
  items_.emplace_back(std::string(key), std::move(value));
  return *this;
}

Json& Json::push(Json value) {
  items_.emplace_back(std::string(), std::move(value));
  return *this;
}

std::string Json::print(int indent) const {
  if (kind_ == Kind::plain) return text_;
  const bool flat =
      std::all_of(items_.begin(), items_.end(), [](const auto& item) { return item.second.kind_ == Kind::plain; });
  const std::string between = flat ? ", " : ",\n" + std::string(static_cast<std::size_t>(indent) + 2, ' ');
  std::string out(1, kind_ == Kind::object ? '{' : '[');
  if (!flat) out += between.substr(1);
  bool first = true;
  for (const auto& [key, value] : items_) {
    if (!first) out += between;
    first = false;
    if (kind_ == Kind::object) out += plated::json_string(key) + ": ";
    out += value.print(indent + 2);
  }
  if (!flat) out += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
  return out + (kind_ == Kind::object ? '}' : ']');
}

void write_json(const std::string& path, const Json& document) {
  std::ofstream file(path);
  file << document.print() << '\n';
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace bench
