// The words of BIF files: names, numbers, quoted names and punctuation, between comments.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "io/source.hpp"

namespace plated::io {

/// A word, a quoted name or one punctuation mark; `kind` is that mark, 'w' for a word and 0 at the end.
struct BifWord {
  char kind = 0;
  std::string_view text;
  std::size_t at = 0;
};

/// Reads a BIF file word by word, one ahead. Commas count as blanks, as the format says.
class BifWords {
 public:
  explicit BifWords(const Source& source) : source_(source), text_(source.text()) { advance(); }

  [[nodiscard]] const BifWord& peek() const { return ahead_; }
  [[nodiscard]] bool is(char kind) const { return ahead_.kind == kind; }
  [[nodiscard]] bool is_word(std::string_view word) const { return ahead_.kind == 'w' && ahead_.text == word; }
  BifWord take() {
    const BifWord taken = ahead_;
    advance();
    return taken;
  }
  /// Takes a mark or, of kind 'w', a word; `where` says in errors what it belongs to.
  BifWord expect(char kind, const std::string& where);
  /// Takes all up to a mark and the mark itself.
  void skip_past(char mark, const std::string& where);

 private:
  void advance();
  void skip_blanks();

  const Source& source_;
  std::string_view text_;
  std::size_t at_ = 0;
  BifWord ahead_;
};

}  // namespace plated::io
