// POSIX files behind exceptions.
#include "io/disk.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "io/source.hpp"
#include "plated/error.hpp"
#include "plated/file.hpp"

namespace plated {
namespace io {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw FileError(one_line(path.string()) + ": " + what);
}

[[noreturn]] void fail_with_errno(const std::filesystem::path& path, const std::string& what) {
  fail(path, what + ": " + std::generic_category().message(errno));
}

/// A file opened for reading, closed at the end of a scope.
class Opened {
 public:
  explicit Opened(const std::filesystem::path& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0 || ::fstat(file_, &status_) != 0) {
      if (file_ >= 0) ::close(file_);
      fail_with_errno(path, "cannot be opened");
    }
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { ::close(file_); }

  [[nodiscard]] int file() const { return file_; }
  [[nodiscard]] bool is_folder() const { return S_ISDIR(status_.st_mode); }
  [[nodiscard]] bool is_regular() const { return S_ISREG(status_.st_mode); }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(status_.st_size); }

 private:
  int file_;
  struct stat status_ = {};
};

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  constexpr std::size_t most_from_pipes = std::size_t{1} << 30;
  const Opened opened(path);
  if (opened.is_folder()) fail(path, "is a folder, not a file");
  std::string text;
  std::size_t read = 0;
  std::size_t step = opened.is_regular() ? opened.size() + 1 : 65536;
  while (true) {
    text.resize(read + step);
    const ssize_t more = ::read(opened.file(), text.data() + read, step);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) fail_with_errno(path, "cannot be read");
    if (more == 0) break;
    read += static_cast<std::size_t>(more);
    if (!opened.is_regular() && read > most_from_pipes) fail(path, "gives more than a GiB and is not a regular file");
    step = 65536 + read / 2;
  }
  text.resize(read);
  return text;
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Opened opened(path);
  if (!opened.is_regular()) fail(path, "is not a regular file");
  size_ = opened.size();
  if (size_ == 0) return;  // mmap refuses to map nothing
  data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, opened.file(), 0);
  if (data_ == MAP_FAILED) fail_with_errno(path, "cannot be mapped into memory");
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

NewFile::NewFile(const std::filesystem::path& path) : path_(path) {
  static std::atomic<unsigned> made{0};
  std::error_code ignored;
  // A link stays one, and a device or pipe cannot be replaced by a file: it is written to as it is.
  if (std::filesystem::is_symlink(path_, ignored)) {
    const std::filesystem::path real = std::filesystem::weakly_canonical(path_, ignored);
    if (!ignored) path_ = real;
  }
  const std::filesystem::file_status status = std::filesystem::status(path_, ignored);
  if (std::filesystem::is_directory(status)) fail(path_, "is a folder, not a file");
  int flags = O_WRONLY | O_CLOEXEC;
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) {
    making_ = path_;
    making_ += "." + std::to_string(::getpid()) + "-" + std::to_string(made++) + ".part";
    flags |= O_CREAT | O_EXCL;
  }
  file_ = ::open((making_.empty() ? path_ : making_).c_str(), flags, 0666);
  if (file_ < 0) fail_with_errno(path_, "cannot be written");
}

NewFile::~NewFile() {
  if (file_ < 0) return;
  ::close(file_);
  if (!making_.empty()) ::unlink(making_.c_str());
}

void NewFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with_errno(path_, "cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void NewFile::commit() {
  const bool closed = ::close(file_) == 0;
  file_ = -1;
  if (closed && (making_.empty() || ::rename(making_.c_str(), path_.c_str()) == 0)) return;
  const int why = errno;
  if (!making_.empty()) ::unlink(making_.c_str());
  errno = why;
  fail_with_errno(path_, "cannot be written");
}

}  // namespace io

void write_file(const std::filesystem::path& path, std::string_view contents) {
  io::NewFile file(path);
  file.write(contents);
  file.commit();
}

}  // namespace plated
