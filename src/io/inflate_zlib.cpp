// Unpacks deflated members with zlib.
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "base/aligned_memory.hpp"
#include "io/zip.hpp"
#include "plated/error.hpp"

namespace plated::io {

std::shared_ptr<std::byte> inflate(const ZipMember& member, const std::string& file) {
  // Deflate makes at most 1032 bytes of one: what promises more is refused before room is made for it.
  if (member.size / 1032 > member.packed.size())
    throw FormatError(file, 0, "a member promises more than it can unpack to");
  std::shared_ptr<std::byte> memory(base::allocate_aligned(std::max<std::size_t>(member.size, 1)), base::free_aligned);
  z_stream stream = {};
  // Negative: a bare stream, without zlib's own header.
  if (::inflateInit2(&stream, -15) != Z_OK) throw FormatError(file, 0, "zlib cannot be started");
  // zlib counts in 32 bits: a large member is fed to it in pieces.
  constexpr std::size_t most = std::size_t{1} << 30;
  std::size_t read = 0;
  std::size_t written = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    const std::size_t in = std::min(most, member.packed.size() - read);
    const std::size_t out = std::min(most, static_cast<std::size_t>(member.size) - written);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(member.packed.data() + read));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(memory.get() + written);
    stream.avail_out = static_cast<uInt>(out);
    status = ::inflate(&stream, Z_NO_FLUSH);
    const std::size_t consumed = in - stream.avail_in;
    const std::size_t produced = out - stream.avail_out;
    read += consumed;
    written += produced;
    if (consumed == 0 && produced == 0) break;
  }
  ::inflateEnd(&stream);
  if (status != Z_STREAM_END || written != member.size)
    throw FormatError(file, 0, "a packed member is damaged or cut short");
  uLong crc = ::crc32(0, nullptr, 0);
  for (std::size_t k = 0; k < written; k += most) {
    crc =
        ::crc32(crc, reinterpret_cast<const Bytef*>(memory.get() + k), static_cast<uInt>(std::min(most, written - k)));
  }
  if (crc != member.crc) throw FormatError(file, 0, "a packed member does not have its checksum");
  return memory;
}

}  // namespace plated::io
