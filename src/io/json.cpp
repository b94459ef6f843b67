// A recursive-descent JSON parser with bounded depth.
#include "io/json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "io/numbers.hpp"

namespace plated::io {
namespace {

constexpr int deepest = 100;

class JsonReader {
 public:
  explicit JsonReader(const Source& source) : source_(source), text_(source.text()) {}

  Json document() {
    if (const std::size_t bad = not_utf8(text_); bad != std::string_view::npos)
      source_.fail(bad, "this is not UTF-8 text");
    Json value = read(0);
    skip_blanks();
    if (at_ < text_.size()) source_.fail(at_, "the file continues after its end");
    return value;
  }

 private:
  Json read(int depth) {
    skip_blanks();
    Json value;
    value.at = at_;
    if (at_ == text_.size()) source_.fail(at_, "the file ends in the middle");
    if (depth > deepest) source_.fail(at_, "nested more than " + std::to_string(deepest) + " deep");
    switch (text_[at_]) {
      case '{':
        read_object(value, depth);
        break;
      case '[':
        read_array(value, depth);
        break;
      case '"':
        value.kind = Json::Kind::string;
        value.string = read_string();
        break;
      case 't':
      case 'f':
        value.kind = Json::Kind::boolean;
        value.boolean = text_[at_] == 't';
        take_word(value.boolean ? "true" : "false");
        break;
      case 'n':
        take_word("null");
        break;
      default:
        value.kind = Json::Kind::number;
        value.number = read_a_number();
    }
    return value;
  }

  void read_object(Json& value, int depth) {
    value.kind = Json::Kind::object;
    std::set<std::string, std::less<>> keys;
    ++at_;
    if (next_is('}')) return;
    do {
      skip_blanks();
      const std::size_t at = at_;
      if (at_ == text_.size() || text_[at_] != '"') source_.fail(at_, "a key in quotation marks should be here");
      std::string key = read_string();
      if (!keys.insert(key).second) source_.fail(at, "the key " + shown(key) + " is there twice");
      if (!next_is(':')) source_.fail(at_, "':' should be here");
      value.members.push_back({std::move(key), read(depth + 1)});
    } while (next_is(','));
    if (!next_is('}'))
      source_.fail(at_, at_ == text_.size() ? "the file ends in the middle" : "',' or '}' should be here");
  }

  void read_array(Json& value, int depth) {
    value.kind = Json::Kind::array;
    value.packed = true;
    ++at_;
    if (next_is(']')) return;
    do {
      skip_blanks();
      const bool number = at_ < text_.size() && (text_[at_] == '-' || (text_[at_] >= '0' && text_[at_] <= '9'));
      if (value.packed && number) {
        value.numbers.push_back(read_a_number());
      } else if (value.packed && !value.numbers.empty() && text_.substr(at_, 6) == "\"-inf\"") {
        value.numbers.push_back(-std::numeric_limits<double>::infinity());
        at_ += 6;
      } else {
        if (value.packed) unpack(value);
        value.items.push_back(read(depth + 1));
      }
    } while (next_is(','));
    if (!next_is(']'))
      source_.fail(at_, at_ == text_.size() ? "the file ends in the middle" : "',' or ']' should be here");
  }

  static void unpack(Json& value) {
    for (const double number : value.numbers) {
      Json& item = value.items.emplace_back();
      item.at = value.at;
      item.kind = number == -std::numeric_limits<double>::infinity() ? Json::Kind::string : Json::Kind::number;
      if (item.is(Json::Kind::string)) item.string = "-inf";
      item.number = number;
    }
    value.numbers.clear();
    value.packed = false;
  }

  /// JSON's spelling is narrower than from_chars': no leading zeros, digits on both sides of a point.
  double read_a_number() {
    const std::size_t begin = at_;
    std::size_t at = at_;
    const auto digits = [&] {
      const std::size_t first = at;
      while (at < text_.size() && text_[at] >= '0' && text_[at] <= '9') ++at;
      return at - first;
    };
    const auto has = [&](char c) { return at < text_.size() && text_[at] == c; };
    if (has('-')) ++at;
    const std::size_t lead = at;
    const std::size_t whole = digits();
    bool good = whole == 1 || (whole > 1 && text_[lead] != '0');
    if (good && has('.')) {
      ++at;
      good = digits() > 0;
    }
    if (good && (has('e') || has('E'))) {
      ++at;
      if (has('+') || has('-')) ++at;
      good = digits() > 0;
    }
    if (!good) source_.fail(begin, "a value should be here, not " + shown(text_.substr(begin, 12)));
    at_ = at;
    const double value = read_number(text_.substr(begin, at - begin)).value;
    if (!std::isfinite(value)) source_.fail(begin, "this number does not fit in a double");
    return value;
  }

  std::string read_string() {
    const std::size_t begin = at_++;
    std::string result;
    while (true) {
      const std::size_t plain = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<unsigned char>(text_[at_]) >= 0x20)
        ++at_;
      result += text_.substr(plain, at_ - plain);
      if (at_ == text_.size()) source_.fail(begin, "this string is not closed");
      if (text_[at_] == '"') break;
      if (text_[at_] != '\\') source_.fail(at_, "a control character stands in a string");
      read_escape(result);
    }
    ++at_;
    return result;
  }

  void read_escape(std::string& result) {
    const std::size_t begin = at_++;
    static constexpr std::string_view letters = "\"\\/bfnrt";
    static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    const char c = at_ < text_.size() ? text_[at_++] : '\0';
    if (const std::size_t known = letters.find(c); c != '\0' && known != std::string_view::npos) {
      result += meanings[known];
      return;
    }
    if (c != 'u') source_.fail(begin, "there is no such escape");
    std::uint32_t code = hex(begin);
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      const std::uint32_t low = hex(begin);
      code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : 0xD800;
    }
    if (code >= 0xD800 && code < 0xE000) source_.fail(begin, "half a surrogate pair");
    append_code_point(result, code);
  }

  std::uint32_t hex(std::size_t begin) {
    std::uint32_t code = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc() || digits.size() != 4 || stop != digits.data() + 4) {
      source_.fail(begin, "four hexadecimal digits should follow");
    }
    at_ += 4;
    return code;
  }

  static void append_code_point(std::string& text, std::uint32_t code) {
    const auto rest = [&](unsigned shift) { text += static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += static_cast<char>(0xC0U | (code >> 6));
      rest(0);
    } else if (code < 0x10000) {
      text += static_cast<char>(0xE0U | (code >> 12));
      rest(6);
      rest(0);
    } else {
      text += static_cast<char>(0xF0U | (code >> 18));
      rest(12);
      rest(6);
      rest(0);
    }
  }

  void take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word)
      source_.fail(at_, "a value should be here, not " + shown(text_.substr(at_, 12)));
    at_ += word.size();
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }

  bool next_is(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  const Source& source_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const Json* Json::find(std::string_view key) const {
  for (const JsonMember& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

Json read_json(const Source& source) { return JsonReader(source).document(); }

}  // namespace plated::io
