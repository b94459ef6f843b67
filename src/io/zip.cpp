// Reads the central directory of a zip archive.
#include "io/zip.hpp"

#include <algorithm>
#include <string_view>

#include "plated/error.hpp"

namespace plated::io {
namespace {

constexpr std::uint64_t in_extra = 0xFFFFFFFF;  // a size or offset that stands in the 64-bit extra field

class Archive {
 public:
  Archive(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  std::vector<ZipMember> members() const {
    std::uint64_t end = end_record();
    std::uint64_t count = number(end + 10, 2);
    std::uint64_t at = number(end + 16, 4);
    // A locator just before the end leads to its 64-bit form.
    if ((count == 0xFFFF || at == in_extra) && end >= 20 && number(end - 20, 4) == 0x07064b50) {
      end = number(end - 12, 8);
      if (number(end, 4) != 0x06064b50) fail("its 64-bit end record is missing");
      count = number(end + 32, 8);
      at = number(end + 48, 8);
    }
    std::vector<ZipMember> members;
    for (std::uint64_t k = 0; k < count; ++k) {
      if (number(at, 4) != 0x02014b50) fail("its directory is damaged");
      members.push_back(member(at));
      at += 46 + number(at + 28, 2) + number(at + 30, 2) + number(at + 32, 2);
    }
    return members;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const { throw FormatError(file_, 0, reason); }

  /// A little-endian number; every read of the archive goes through here.
  std::uint64_t number(std::uint64_t at, std::uint64_t width) const {
    if (at > bytes_.size() || width > bytes_.size() - at) fail("the archive is cut short or damaged");
    std::uint64_t value = 0;
    for (std::uint64_t k = 0; k < width; ++k) value |= static_cast<std::uint64_t>(bytes_[at + k]) << (8 * k);
    return value;
  }

  /// The end record is the last thing, but for a comment of up to 65535 bytes.
  std::uint64_t end_record() const {
    constexpr std::uint64_t record = 22;
    if (bytes_.size() < record || number(0, 2) != 0x4b50) fail("is not an .npz archive");
    const std::uint64_t last = bytes_.size() - record;
    const std::uint64_t first = last - std::min<std::uint64_t>(last, 65535);
    for (std::uint64_t at = last + 1; at-- > first;) {
      if (number(at, 4) == 0x06054b50) return at;
    }
    fail("the archive is cut short: it has no directory");
  }

  ZipMember member(std::uint64_t at) const {
    ZipMember result;
    const std::uint64_t name_bytes = number(at + 28, 2);
    const std::uint64_t extra_bytes = number(at + 30, 2);
    (void)number(at + 46, 0);
    for (std::uint64_t k = 0; k < name_bytes; ++k) result.name += static_cast<char>(number(at + 46 + k, 1));
    const std::uint64_t method = number(at + 10, 2);
    if ((number(at + 8, 2) & 1U) != 0) fail("its members are encrypted");
    if (method != 0 && method != 8) fail("its members are packed in an unknown way, number " + std::to_string(method));
    result.deflated = method == 8;
    result.crc = static_cast<std::uint32_t>(number(at + 16, 4));
    std::uint64_t packed = number(at + 20, 4);
    result.size = number(at + 24, 4);
    std::uint64_t local = number(at + 42, 4);
    read_wide(at + 46 + name_bytes, extra_bytes, {&result.size, &packed, &local});
    if (number(local, 4) != 0x04034b50) fail("a member is not where the directory says");
    const std::uint64_t data = local + 30 + number(local + 26, 2) + number(local + 28, 2);
    if (data > bytes_.size() || packed > bytes_.size() - data) fail("a member is cut short");
    result.packed = bytes_.subspan(data, packed);
    if (!result.deflated && result.size != packed) fail("a stored member has two sizes");
    return result;
  }

  /// The extra field of id 1 holds, in order, those of the numbers that did not fit in 32 bits.
  void read_wide(std::uint64_t at, std::uint64_t bytes, std::initializer_list<std::uint64_t*> fields) const {
    const std::uint64_t end = at + bytes;
    while (at + 4 <= end) {
      const std::uint64_t id = number(at, 2);
      const std::uint64_t length = number(at + 2, 2);
      at += 4;
      if (id == 1) {
        std::uint64_t place = at;
        for (std::uint64_t* field : fields) {
          if (*field != in_extra) continue;
          *field = number(place, 8);
          place += 8;
        }
        return;
      }
      at += length;
    }
  }

  std::span<const std::byte> bytes_;
  const std::string& file_;
};

}  // namespace

std::vector<ZipMember> read_zip(std::span<const std::byte> bytes, const std::string& file) {
  return Archive(bytes, file).members();
}

}  // namespace plated::io
