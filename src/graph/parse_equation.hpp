// Parses the text of an equation into terms: names only, neither kinds nor sizes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace plated::graph {

/// A dim as it is written in a term, ends (`^b`, `b$`) with their mark; `tied` where it stands in parentheses. The name
/// views the equation's text.
struct WrittenDim {
  std::string_view name;
  bool tied = false;
};

/// One operand or output: its dims in the order they are written, and its text without surrounding blanks.
struct Term {
  std::string_view text;
  std::vector<WrittenDim> dims;
};

/// An equation's terms. A blank left side is one term without dims: one scalar operand, as in NumPy.
struct ParsedEquation {
  std::vector<Term> operands;
  std::vector<Term> outputs;
  bool spaced = false;
};

/// Reads `"x,iy,ijxy->"`, one letter per dim, or `"x, i y, i j x y ->"`, names of any length. Without `spaced`, the
/// equation is spaced iff blanks separate two dims inside one term or parenthesis. Throws ParseError, pointing at the
/// column. The result views `text`.
[[nodiscard]] ParsedEquation parse_equation(std::string_view text, std::optional<bool> spaced);

}  // namespace plated::graph
