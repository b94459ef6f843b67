// The functions that read and write files of models.
#include "plated/model_file.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "model_call.hpp"
#include "plated/error.hpp"
#include "verb.hpp"

namespace plated::python {

Format format_of(std::string_view key, nb::handle value) {
  const std::string_view text = text_of(key, value);
  for (const Format format : {Format::uai, Format::bif, Format::plated}) {
    if (name(format) == text) return format;
  }
  throw OptionError(std::string(key) + " is '" + std::string(text) + "', and it can be uai, bif, plated");
}

namespace {

PythonModel read(const std::filesystem::path& path, const nb::kwargs& keywords) {
  ReadOptions options;
  read_keywords("read_model", keywords, [&](std::string_view key, nb::handle value) {
    if (key == "format") {
      if (!value.is_none()) options.format = format_of(key, value);
    } else if (key == "outside_folder") {
      options.outside_folder = flag_of(key, value);
    } else if (key == "check_arrays") {
      options.check_arrays = flag_of(key, value);
    } else if (key == "memory_limit") {
      options.memory_limit = value.is_none() ? 0 : integer_of<std::int64_t>(key, value);
    } else {
      return false;
    }
    return true;
  });
  const nb::gil_scoped_release unlocked;
  return {read_model(path, options)};
}

std::vector<std::string> write(const PythonModel& model, const std::filesystem::path& path, nb::handle format,
                               std::int64_t most_inline) {
  WriteOptions options{.most_inline = most_inline};
  if (!format.is_none()) options.format = format_of("format", format);
  const nb::gil_scoped_release unlocked;
  return write_model(model, path, options);
}

nb::dict evidence_in(const PythonModel& model, const std::filesystem::path& path) {
  Model copy = model;
  read_evidence(copy, path);
  return to_dict(std::move(copy.evidence), Library::numpy);
}

}  // namespace

void define_model_files(nb::module_& module) {
  module.def("read_model", &read, nb::arg("path"), nb::arg("keywords"),
             nb::sig("def read_model(path: str | os.PathLike[str], *, format: str | None = None, "
                     "outside_folder: bool = False, check_arrays: bool = True, memory_limit: int = 0) -> Model"),
             R"(The model of a file: UAI, BIF, or Plated's JSON, told apart by how it begins.

``format`` is "uai", "bif" or "plated". Raises FileError where the file cannot be read, and FormatError, with the line,
where it is not what it claims to be.)");
  module.def("write_model", &write, nb::arg("model"), nb::arg("path"), nb::arg("format") = nb::none(),
             nb::arg("most_inline") = std::int64_t{1} << 16,
             nb::sig("def write_model(model: Model, path: str | os.PathLike[str], format: str | None = None, "
                     "most_inline: int = 65536) -> list[str]"),
             R"(Writes a model in the format of the file's extension; returns what that cannot hold, one line each.

Factors of more numbers than ``most_inline`` go to .npy files beside a plated file, evidence of UAI to ``PATH.evid``.)");
  module.def("read_evidence", &evidence_in, nb::arg("model"), nb::arg("path"),
             nb::sig("def read_evidence(model: Model, path: str | os.PathLike[str]) -> dict[str, _Array]"),
             "The evidence of a file, UAI's or JSON, as verbs on the model take it.");
}

}  // namespace plated::python
