// Reads models and writes answers.
#include "files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>

#include "errors.hpp"
#include "interrupt.hpp"
#include "machine.hpp"
#include "plated/error.hpp"
#include "plated/file.hpp"
#include "plated/model_file.hpp"
#include "progress.hpp"

namespace plated::cli {

namespace {

/// Adds --given to the evidence: each slice once, since one of two could not count.
void observe_all(Model& model, const std::vector<Given>& all) {
  std::map<std::string, std::string> said;
  for (const Given& given : all) {
    const std::string words = given.option + " " + given.assignment;
    std::string slice;
    try {
      slice = observe(model, given.assignment);
    } catch (const Error& error) {
      throw UsageError(words + ": " + error.what());
    }
    const auto [before, is_new] = said.emplace(slice, words);
    if (!is_new) {
      throw UsageError(fmt::format("{} and {} both observe '{}': give one of them", before->second, words, slice));
    }
  }
}

}  // namespace

std::string shown_name(const std::string& file) { return file == "-" ? "standard input" : file; }

std::int64_t memory_limit(const Common& common) {
  return common.memory_limit > 0 ? common.memory_limit : machine_memory();
}

Model load(const Input& input, const Common& common) {
  const Progress progress("reading", common.quiet);
  ReadOptions options{.memory_limit = memory_limit(common)};
  if (input.model == "-") options.folder = ".";
  Model model = input.model == "-" ? read_model(std::cin, shown_name("-"), options) : read_model(input.model, options);
  if (!common.quiet) {
    for (const std::string& line : model.notes) note(shown_name(input.model) + ": " + line);
  }
  if (input.evidence == "-") {
    read_evidence(model, std::cin, shown_name("-"));
  } else if (!input.evidence.empty()) {
    read_evidence(model, input.evidence);
  }
  observe_all(model, input.given);
  if (input.unroll) return unroll(model);
  return model;
}

void deliver(const std::string& text, const std::string& file) {
  if (!file.empty() && file != "-") {
    write_whole([&] { write_file(file, text); });
    return;
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw FileError(std::string("standard output: ") + std::strerror(errno));
  }
}

}  // namespace plated::cli
