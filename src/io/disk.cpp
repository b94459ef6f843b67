// POSIX files behind exceptions.
#include "io/disk.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <istream>
#include <limits>
#include <optional>
#include <system_error>

#include "base/whole_integer.hpp"
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

/// The descriptor that a name stands for, as shells give them to programs for `<(…)` and `>(…)`.
std::optional<int> named_descriptor(const std::filesystem::path& path) {
  const std::string& name = path.native();
  if (name == "/dev/stdin") return STDIN_FILENO;
  if (name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!name.starts_with(folder)) continue;
    const auto number = base::whole_integer(std::string_view(name).substr(folder.size()));
    if (number && *number >= 0 && *number <= std::numeric_limits<int>::max()) return static_cast<int>(*number);
  }
  return std::nullopt;
}

const char* kind_of(mode_t mode) { return S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device"; }

/// A file opened for reading, closed at the end of a scope. Pipes, sockets and devices are refused by name, before they
/// are opened: that alone could wait forever, or do something. Open descriptors are whatever they are.
class Opened {
 public:
  explicit Opened(const std::filesystem::path& path) {
    const std::optional<int> descriptor = named_descriptor(path);
    if (!descriptor && ::stat(path.c_str(), &status_) == 0) check_kind(path);
    file_ = descriptor ? ::fcntl(*descriptor, F_DUPFD_CLOEXEC, 0)
                       : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file_ < 0 || ::fstat(file_, &status_) != 0) {
      if (file_ >= 0) ::close(file_);
      fail_with_errno(path, "cannot be opened");
    }
    try {
      // Again: the name may stand for something else by now.
      if (!descriptor || S_ISDIR(status_.st_mode)) check_kind(path);
    } catch (...) {
      ::close(file_);
      throw;
    }
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { ::close(file_); }

  [[nodiscard]] int file() const { return file_; }
  [[nodiscard]] bool is_regular() const { return S_ISREG(status_.st_mode); }
  [[nodiscard]] const struct stat& status() const { return status_; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(status_.st_size); }

 private:
  void check_kind(const std::filesystem::path& path) const {
    if (S_ISDIR(status_.st_mode)) fail(path, "is a folder, not a file");
    if (!S_ISREG(status_.st_mode)) fail(path, std::string("is ") + kind_of(status_.st_mode) + ", not a regular file");
  }

  int file_ = -1;
  struct stat status_ = {};
};

// Of what is not a regular file, whose size nobody knows.
constexpr std::size_t most_from_streams = std::size_t{1} << 30;

/// Where a name leads: through links, also to a file that does not exist yet.
std::filesystem::path behind_links(const std::filesystem::path& path) {
  std::filesystem::path place = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(place, error); ++links) {
    const std::filesystem::path next = std::filesystem::read_symlink(place, error);
    if (error || links >= 40) fail(path, "cannot be written: its links lead nowhere");
    place = place.parent_path() / next;  // the second alone where it is absolute
  }
  return place;
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  const Opened opened(path);
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
    if (!opened.is_regular() && read > most_from_streams) fail(path, "gives more than a GiB and is not a regular file");
    step = 65536 + read / 2;
  }
  text.resize(read);
  return text;
}

std::string read_stream(std::istream& stream, const std::string& file) {
  std::string text;
  std::array<char, 65536> piece;
  while (stream.read(piece.data(), piece.size()), stream.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > most_from_streams) fail(file, "gives more than a GiB and is not a regular file");
  }
  if (stream.bad()) fail(file, "cannot be read");
  return text;
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Opened opened(path);
  if (!opened.is_regular())
    fail(path, std::string("is ") + kind_of(opened.status().st_mode) + ", and arrays are mapped from regular files");
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
  if (const std::optional<int> descriptor = named_descriptor(path_)) {
    file_ = ::fcntl(*descriptor, F_DUPFD_CLOEXEC, 0);
    if (file_ < 0) fail_with_errno(path_, "cannot be written");
    return;
  }
  // A link stays one, and a device or pipe cannot be replaced by a file: it is written to as it is.
  path_ = behind_links(path_);
  struct stat status = {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(path_, "is a folder, not a file");
  // Replacing a file takes no right to write it, and nobody means to lose one that is read-only.
  if (exists && ::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0)
    fail_with_errno(path_, "cannot be written");
  int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
  if (!exists || S_ISREG(status.st_mode)) {
    making_ = path_;
    making_ += "." + std::to_string(::getpid()) + "-" + std::to_string(made++) + ".part";
    flags |= O_CREAT | O_EXCL;
  }
  // What is replaced keeps its mode; before that, nobody else may look at what could become private.
  const mode_t mode = exists ? status.st_mode & 07777U : 0666U;
  file_ = ::open((making_.empty() ? path_ : making_).c_str(), flags, exists ? mode & 0700U : mode);
  if (file_ < 0) fail_with_errno(path_, "cannot be written");
  if (exists && !making_.empty()) {
    // Who may not give a file away keeps it.
    [[maybe_unused]] const bool given = ::fchown(file_, status.st_uid, status.st_gid) == 0;
    if (::fchmod(file_, mode) != 0) {
      const int why = errno;
      ::close(file_);
      ::unlink(making_.c_str());
      errno = why;
      fail_with_errno(path_, "cannot be written");
    }
  }
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
