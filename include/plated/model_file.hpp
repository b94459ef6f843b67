// Reads and writes model files in UAI, BIF and the plated format, and evidence.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plated/model.hpp"

namespace plated {

/// How a model is read. Without a format, it is detected from the beginning of the file.
struct ReadOptions {
  std::optional<Format> format = {};
  /// The folder of a plated file's arrays; not set: that of the file.
  std::optional<std::filesystem::path> folder = {};
  /// Whether the file may name arrays outside of that folder, by absolute paths or `..`.
  bool outside_folder = false;
  /// Whether arrays in files are checked for NaN and negative weights; else only a run finds them.
  bool check_arrays = true;
  /// Bytes that arrays in files may be unpacked to, all of them together; 0 is no limit. Arrays that are mapped take
  /// none. More is refused with MemoryLimitError before it is unpacked.
  std::int64_t memory_limit = 0;
  /// Numbers that `default` lines of a BIF file may stand for: the one place where a short file makes a large model.
  std::int64_t most_defaults = std::int64_t{1} << 26;
};

/// The model of a file. Throws FileError where it cannot be read, and FormatError, with the line, where it is not what
/// it claims to be: memory is bounded in proportion to the size of the file.
[[nodiscard]] Model read_model(const std::filesystem::path& path, const ReadOptions& options = {});
/// The same from a stream, which is read to its end, a GiB at most; `file` is what errors call it. Arrays in files need
/// ReadOptions::folder.
[[nodiscard]] Model read_model(std::istream& stream, const std::string& file, const ReadOptions& options = {});
/// The same from memory; `file` is what errors call it. Arrays in files need ReadOptions::folder.
[[nodiscard]] Model parse_model(std::string_view text, const std::string& file, const ReadOptions& options = {});

/// Reads evidence for a model and puts it in place of the model's own: UAI's (`.evid`, both forms), by the variables'
/// numbers, or a JSON object from variables to states, by names. Throws as read_model does.
void read_evidence(Model& model, const std::filesystem::path& path);
void read_evidence(Model& model, std::istream& stream, const std::string& file);
void parse_evidence(Model& model, std::string_view text, const std::string& file);

/// How a model is written.
struct WriteOptions {
  /// Not set: by the file's extension, as format_of() says.
  std::optional<Format> format = {};
  /// Factors of more numbers than this are written as `.npy` files beside a plated file: `model.f0.npy`.
  std::int64_t most_inline = std::int64_t{1} << 16;
};

/// A model in a format, and what the format could not hold, one line each.
struct ModelText {
  std::string text;
  std::vector<std::string> losses;
};

/// The text of a model in a format, with all numbers inline. Throws OptionError where the format cannot hold the model:
/// plates and chains in UAI and BIF (unroll() it first), batch dims, undirected models in BIF.
[[nodiscard]] ModelText model_text(const Model& model, Format format);
/// A model's evidence in UAI's form, for models without plates.
[[nodiscard]] std::string uai_evidence_text(const Model& model);

/// Writes a model, each file atomically; returns what is lost. Evidence of a UAI model goes to `PATH.evid`.
/// Throws what model_text throws, OptionError for a name whose extension is that of no format, and FileError.
std::vector<std::string> write_model(const Model& model, const std::filesystem::path& path,
                                     const WriteOptions& options = {});

/// The format by a file's extension: `.uai`, `.bif`, `.json` or `.plated`.
[[nodiscard]] std::optional<Format> format_of(const std::filesystem::path& path);

}  // namespace plated
