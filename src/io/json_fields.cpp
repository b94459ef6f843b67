// Checks JSON values.
#include "io/json_fields.hpp"

#include <algorithm>

namespace plated::io {
namespace {

[[noreturn]] void fail_unknown(const Source& source, const Json& member, const std::string& what,
                               const std::string& key, std::initializer_list<std::string_view> known) {
  std::string list;
  for (const std::string_view name : known) list.append(list.empty() ? "" : ", ").append(name);
  source.fail(member.at, what + " has no " + shown(key) + "; it may have: " + list);
}

}  // namespace

void check_object(const Source& source, const Json& value, const std::string& what,
                  std::initializer_list<std::string_view> known) {
  if (!value.is(Json::Kind::object)) source.fail(value.at, what + " should be an object, in braces");
  for (const auto& [key, member] : value.members) {
    if (key == "comment" || key.starts_with('$')) continue;
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    fail_unknown(source, member, what, key, known);
  }
}

const Json& required(const Source& source, const Json& object, std::string_view key, const std::string& what) {
  if (const Json* found = object.find(key)) return *found;
  source.fail(object.at, what + " lacks " + shown(key));
}

const std::string& as_string(const Source& source, const Json& value, const std::string& what) {
  if (!value.is(Json::Kind::string)) source.fail(value.at, what + " should be a string");
  return value.string;
}

std::vector<std::string> as_strings(const Source& source, const Json& value, const std::string& what) {
  if (!value.is(Json::Kind::array) || (value.packed && value.size() > 0)) {
    source.fail(value.at, what + " should be a list of strings");
  }
  std::vector<std::string> strings;
  for (const Json& item : value.items) strings.push_back(as_string(source, item, "each of " + what));
  return strings;
}

bool as_boolean(const Source& source, const Json& value, const std::string& what) {
  if (!value.is(Json::Kind::boolean)) source.fail(value.at, what + " should be true or false");
  return value.boolean;
}

std::int64_t as_size(const Source& source, const Json& value, const std::string& what) {
  constexpr double most = 9007199254740992.0;
  const double number = value.number;
  if (!value.is(Json::Kind::number) || !(number >= 0 && number <= most) ||
      static_cast<double>(static_cast<std::int64_t>(number)) != number) {
    source.fail(value.at, what + " should be a whole number from 0 to 2^53");
  }
  return static_cast<std::int64_t>(number);
}

std::vector<std::int64_t> nested_shape(const Json& value) {
  std::vector<std::int64_t> shape;
  for (const Json* level = &value; level->is(Json::Kind::array); level = level->items.data()) {
    shape.push_back(static_cast<std::int64_t>(level->size()));
    if (level->items.empty()) break;
  }
  return shape;
}

}  // namespace plated::io
