// Measures and pads cells.
#include "columns.hpp"

#include <algorithm>

namespace plated::cli {

std::size_t width(std::string_view text) {
  // Bytes that continue a character take no column.
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

void Columns::row(std::vector<std::string> cells) {
  for (std::string& cell : cells) {
    std::replace_if(
        cell.begin(), cell.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  }
  rows_.push_back(std::move(cells));
}

std::string Columns::text() const {
  std::vector<std::size_t> widths;
  for (const auto& cells : rows_) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (std::size_t c = 0; c < cells.size(); ++c) widths[c] = std::max(widths[c], width(cells[c]));
  }
  std::string text;
  for (const auto& cells : rows_) {
    std::string line = indent_;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) line += "  ";
      const std::string padding(widths[c] - width(cells[c]), ' ');
      const bool right = align_[std::min(c, align_.size() - 1)] == Align::right;
      line += right ? padding + cells[c] : cells[c] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace plated::cli
