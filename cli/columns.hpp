// Text in aligned columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plated::cli {

/// Columns on a terminal that UTF-8 text takes, one a character.
[[nodiscard]] std::size_t width(std::string_view text);

enum class Align : bool { left, right };

/// Rows of cells, two blanks between columns. Columns beyond those given are aligned like the last.
class Columns {
 public:
  explicit Columns(std::vector<Align> align, std::string indent = "")
      : align_(std::move(align)), indent_(std::move(indent)) {}

  /// Control characters, which names in files may have, become question marks.
  void row(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Align> align_;
  std::string indent_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace plated::cli
