// Reads rows, defaults and whole tables.
#include "io/bif_table.hpp"

#include <algorithm>

#include "base/checked_size.hpp"
#include "io/numbers.hpp"
#include "model/entries.hpp"

namespace plated::io {

void BifTableReader::read(BifTable& table) {
  states_ = static_cast<std::int64_t>(variables_[table.child].states.size());
  source_.blame(table.at, [&] {
    for (const std::size_t parent : table.parents) {
      rows_ = base::checked_product(rows_, static_cast<std::int64_t>(variables_[parent].states.size()));
    }
    (void)base::checked_product(base::checked_product(rows_, states_), sizeof(double));
  });
  words_.expect('{', where_);
  while (!words_.is('}')) {
    const std::size_t at = words_.peek().at;
    if (words_.is('(')) {
      read_row(table);
    } else if (words_.is_word("table") || words_.is_word("default")) {
      std::vector<double>& target = words_.take().text == "table" ? whole_ : default_;
      if (!target.empty()) source_.fail(at, where_ + " says the same twice");
      const std::size_t before = numbers_.size();
      const std::size_t count = read_numbers();
      const bool is_whole = &target == &whole_;
      check_count(at, count, is_whole ? rows_ * states_ : states_, is_whole ? "its table" : "its default");
      target.assign(numbers_.begin() + static_cast<std::ptrdiff_t>(before), numbers_.end());
      numbers_.resize(before);
    } else if (words_.is_word("property")) {
      words_.skip_past(';', where_);
    } else {
      source_.fail(at, words_.is(0) ? "the file ends in " + where_
                                    : where_ + " has rows, 'table' or 'default', not " + shown(words_.peek().text));
    }
  }
  words_.take();
  if (!whole_.empty()) {
    if (!given_.empty() || !default_.empty()) source_.fail(table.at, where_ + " has both a table and rows");
    put_table(table);
  } else {
    put_rows(table);
  }
}

void BifTableReader::read_row(const BifTable& table) {
  Row row{words_.take().at, 0};
  for (const std::size_t parent : table.parents) {
    const BifVariable& variable = variables_[parent];
    const BifWord state = words_.expect('w', where_);
    const auto found = variable.by_name.find(state.text);
    if (found == variable.by_name.end()) {
      source_.fail(state.at, "variable " + shown(variable.name) + " has no state " + shown(state.text));
    }
    row.row = row.row * static_cast<std::int64_t>(variable.states.size()) + static_cast<std::int64_t>(found->second);
  }
  words_.expect(')', where_);
  check_count(row.at, read_numbers(), states_, "this row");
  given_.push_back(row);
}

std::size_t BifTableReader::read_numbers() {
  std::size_t count = 0;
  while (!words_.is(';')) {
    const BifWord word = words_.expect('w', where_);
    const ReadNumber number = read_number(word.text);
    if (number.bytes != word.text.size() || word.text.empty())
      source_.fail(word.at, shown(word.text) + " is not a number");
    if (const char* why = model::refused_entry(number.value, Space::real))
      source_.fail(word.at, shown(word.text) + " " + why);
    numbers_.push_back(number.value);
    ++count;
  }
  words_.take();
  return count;
}

void BifTableReader::check_count(std::size_t at, std::size_t count, std::int64_t wanted, const char* what) const {
  if (static_cast<std::int64_t>(count) == wanted) return;
  source_.fail(
      at, "in " + where_ + ", " + what + " has " + std::to_string(count) + " numbers, not " + std::to_string(wanted));
}

void BifTableReader::put_rows(BifTable& table) {
  const auto given = static_cast<std::int64_t>(given_.size());
  if (default_.empty() && given < rows_) {
    source_.fail(table.at,
                 where_ + " has " + std::to_string(given) + " rows of " + std::to_string(rows_) + ", and no default");
  }
  if (!default_.empty() && rows_ > given) {
    const std::int64_t entries = (rows_ - given) * states_;
    if (entries > defaults_left_) {
      source_.fail(table.at, "the default of " + where_ + " stands for " + std::to_string(entries) +
                                 " numbers, and a file may have " + std::to_string(defaults_left_) + " more");
    }
    defaults_left_ -= entries;
  }
  std::vector<std::int64_t> shape;
  for (const std::size_t parent : table.parents) {
    shape.push_back(static_cast<std::int64_t>(variables_[parent].states.size()));
  }
  shape.push_back(states_);
  table.numbers = Tensor::uninitialised(Dtype::float64, shape);
  auto* const entries = static_cast<double*>(table.numbers.mutable_data());
  std::vector<bool> seen(static_cast<std::size_t>(rows_), false);
  for (std::size_t k = 0; k < given_.size(); ++k) {
    if (seen[static_cast<std::size_t>(given_[k].row)]) source_.fail(given_[k].at, where_ + " has this row twice");
    seen[static_cast<std::size_t>(given_[k].row)] = true;
    std::copy_n(numbers_.data() + static_cast<std::int64_t>(k) * states_, states_, entries + given_[k].row * states_);
  }
  for (std::int64_t row = 0; row < rows_; ++row) {
    if (!seen[static_cast<std::size_t>(row)]) std::copy_n(default_.data(), states_, entries + row * states_);
  }
}

/// A whole table runs through the child's states slowest, then through the parents', the last one fastest.
void BifTableReader::put_table(BifTable& table) {
  std::vector<std::int64_t> shape{states_};
  std::vector<std::size_t> axes;
  for (const std::size_t parent : table.parents) {
    shape.push_back(static_cast<std::int64_t>(variables_[parent].states.size()));
    axes.push_back(shape.size() - 1);
  }
  axes.push_back(0);
  table.numbers = Tensor::of<double>(shape, whole_).permuted(axes);
}

}  // namespace plated::io
