// Checks a fuzzed reader of models: it returns a model or throws FormatError, and written models can be read again.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "plated/error.hpp"
#include "plated/model_file.hpp"

namespace plated::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::cerr << "broken promise: " << what << "\n";
  std::abort();
}

inline void require_one_line(const FileError& error) {
  const std::string_view message = error.what();
  require(message.find_first_of("\n\r") == std::string_view::npos, "a message is one line");
  require(message.size() < 1000, "a message is short");
}

inline void require_same(const Model& model, const Model& again) {
  require(model.factors.size() == again.factors.size(), "as many factors are read as were written");
  require(variables(model).size() == variables(again).size(), "as many variables are read as were written");
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    require(model.factors[f].values() == again.factors[f].values(), "numbers are read as they were written");
  }
}

/// Reads the text in one format; where that succeeds, the model goes through the same format once more.
inline void read_and_write(std::string_view text, Format format, const std::string& file) {
  const ReadOptions options{.format = format, .most_defaults = 4096};
  Model model;
  try {
    model = parse_model(text, file, options);
  } catch (const FormatError& error) {
    require_one_line(error);
    return;
  }
  // BIF holds directed models only, and some that it can spell are none: a variable may lack its table.
  if (format == Format::bif && !model.directed) return;
  ReadOptions whole = options;
  whole.most_defaults = std::int64_t{1} << 30;
  require_same(model, parse_model(model_text(model, format).text, file, whole));
}

}  // namespace plated::fuzz
