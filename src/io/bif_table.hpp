// The tables of BIF files: rows of probabilities by the parents' states.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/bif_words.hpp"
#include "plated/tensor.hpp"

namespace plated::io {

struct BifVariable {
  std::string_view name;
  std::vector<std::string_view> states;
  std::unordered_map<std::string_view, std::size_t> by_name;
  std::optional<std::size_t> table;
};

/// Axes: the parents in order, then the child.
struct BifTable {
  std::size_t at = 0;
  std::size_t child = 0;
  std::vector<std::size_t> parents;
  Tensor numbers;
};

/// Reads the braces of one probability. What was read is kept as it stands until all is, so that memory is taken in
/// proportion to the text and not to what its head claims; entries of `default` count against `defaults_left`.
class BifTableReader {
 public:
  BifTableReader(const Source& source, BifWords& words, const std::vector<BifVariable>& variables,
                 const std::string& where, std::int64_t& defaults_left)
      : source_(source), words_(words), variables_(variables), where_(where), defaults_left_(defaults_left) {}

  void read(BifTable& table);

 private:
  struct Row {
    std::size_t at = 0;
    std::int64_t row = 0;
  };
  void read_row(const BifTable& table);
  /// All numbers up to the semicolon, appended to `numbers_`; returns how many.
  std::size_t read_numbers();
  void check_count(std::size_t at, std::size_t count, std::int64_t wanted, const char* what) const;
  void put_rows(BifTable& table);
  void put_table(BifTable& table);

  const Source& source_;
  BifWords& words_;
  const std::vector<BifVariable>& variables_;
  const std::string& where_;
  std::int64_t& defaults_left_;

  std::int64_t states_ = 0;  // the child's
  std::int64_t rows_ = 1;    // the parents' states, multiplied
  std::vector<Row> given_;
  std::vector<double> numbers_;  // of the given rows, one after the other
  std::vector<double> default_, whole_;
};

}  // namespace plated::io
