// Reads files into memory, maps them, and writes them atomically.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace plated::io {

/// All of a regular file, or, a GiB at most, of an open descriptor that a name such as /dev/stdin or /dev/fd/63 stands
/// for. Pipes, sockets and devices of other names are refused before they are opened. Throws FileError.
[[nodiscard]] std::string read_text(const std::filesystem::path& path);
/// All that is left of a stream, a GiB at most; `file` is what errors call it. Throws FileError.
[[nodiscard]] std::string read_stream(std::istream& stream, const std::string& file);

/// A file mapped into memory, read-only; writing to the memory changes neither it nor the file.
class MappedFile {
 public:
  /// Throws FileError, also for what is not a regular file, which is not opened.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A file in the making, under a name of its own beside the one it will have; gone unless commit() was reached. It
/// takes the mode of the file that it replaces. Links are followed, and what is no regular file is written in place.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  void write(std::string_view bytes);
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path making_;  // empty: written in place
  int file_ = -1;
};

}  // namespace plated::io
