// `plated convert`: writes a model in another format.
#include "commands.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "interrupt.hpp"
#include "plated/error.hpp"
#include "plated/model_file.hpp"

namespace plated::cli {
namespace {

Format wanted_format(const Convert& wanted) {
  for (const Format format : {Format::uai, Format::bif, Format::plated}) {
    if (wanted.to == name(format)) return format;
  }
  return *format_of(wanted.output);  // check() has seen to it that there is one
}

}  // namespace

int convert(const Convert& wanted, const Common& common) {
  const Model model = load(wanted.input, common);
  const Format format = wanted_format(wanted);
  std::vector<std::string> losses;
  try {
    if (wanted.output == "-") {
      ModelText written = model_text(model, format);
      deliver(written.text, "");
      losses = std::move(written.losses);
      if (format == Format::uai && !model.evidence.empty()) losses.emplace_back("evidence, which UAI keeps in a file");
    } else {
      write_whole([&] { losses = write_model(model, wanted.output, {.format = format}); });
    }
  } catch (const OptionError& error) {
    const bool flat = wanted.input.unroll || format == Format::plated;
    throw UsageError(shown_name(wanted.input.model) + ": " + error.what() +
                     (flat ? "" : " (--unroll writes plates as copies)"));
  }
  if (!common.quiet) {
    for (const std::string& line : losses) note("lost: " + line);
  }
  return answered;
}

}  // namespace plated::cli
