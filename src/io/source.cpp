// Throws errors that name file, line and reason in one line.
#include "io/source.hpp"

#include <algorithm>

#include "graph/characters.hpp"
#include "plated/error.hpp"

namespace plated::io {

std::string one_line(std::string_view message) {
  std::string line(message.substr(0, message.find('\n')));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return line;
}

void Source::fail(std::size_t at, const std::string& reason) const {
  // What another part of Plated says may quote a name of any length.
  constexpr std::size_t most = 250;
  std::string line = one_line(reason);
  if (line.size() > most) {
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
    line = line.substr(0, end) + "…";
  }
  const std::string_view before = text_.substr(0, std::min(at, text_.size()));
  throw FormatError(file_, std::count(before.begin(), before.end(), '\n') + 1, line);
}

void Source::fail_with_current(std::size_t at) const {
  try {
    throw;
  } catch (const FileError&) {
    throw;  // it says already where
  } catch (const MemoryLimitError&) {
    throw;  // nothing is wrong with the file
  } catch (const Error& error) {
    fail(at, error.what());
  }
}

std::string shown(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string result = "'";
  std::size_t at = 0;
  while (at < text.size() && at < most) {
    const graph::CodePoint c = graph::decode(text, at);
    const bool printable = c.bytes > 0 && c.value >= 0x20 && c.value != 0x7F;
    const std::size_t bytes = c.bytes > 0 ? c.bytes : 1;
    result += printable ? text.substr(at, bytes) : std::string_view("?");
    at += bytes;
  }
  if (at < text.size()) result += "…";
  return result + "'";
}

std::string_view without_mark(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
}

std::size_t not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const std::size_t bytes = graph::decode(text, at).bytes;
    if (bytes == 0) return at;
    at += bytes;
  }
  return std::string_view::npos;
}

}  // namespace plated::io
