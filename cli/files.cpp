// Reads models and writes answers.
#include "files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "errors.hpp"
#include "interrupt.hpp"
#include "plated/error.hpp"
#include "plated/file.hpp"
#include "plated/model_file.hpp"
#include "progress.hpp"

namespace plated::cli {

Model load(const Input& input, const Common& common) {
  const Progress progress("reading", common.quiet);
  Model model = read_model(input.model);
  if (!common.quiet) {
    for (const std::string& line : model.notes) note(input.model + ": " + line);
  }
  if (!input.evidence.empty()) read_evidence(model, input.evidence);
  for (const std::string& assignment : input.observe) {
    try {
      observe(model, assignment);
    } catch (const Error& error) {
      throw UsageError("--observe " + assignment + ": " + error.what());
    }
  }
  return input.unroll ? unroll(model) : model;
}

void deliver(const std::string& text, const std::string& file) {
  if (!file.empty()) {
    write_whole([&] { write_file(file, text); });
    return;
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw FileError(std::string("standard output: ") + std::strerror(errno));
  }
}

}  // namespace plated::cli
