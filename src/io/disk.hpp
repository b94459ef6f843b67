// Reads files into memory, maps them, and writes them atomically.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace plated::io {

/// All of a file. What is not a regular file (a pipe) is read to its end, a GiB at most. Throws FileError.
[[nodiscard]] std::string read_text(const std::filesystem::path& path);

/// A file mapped into memory, read-only; writing to the memory changes neither it nor the file.
class MappedFile {
 public:
  /// Throws FileError, also for what is not a regular file.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A file in the making, under a name of its own beside the one it will have; gone unless commit() was reached.
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
