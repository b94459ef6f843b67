// Unpacks deflated members with zlib.
#include <zlib.h>

#include <algorithm>

#include "io/zip.hpp"
#include "plated/error.hpp"

namespace plated::io {

struct Inflate::State {
  z_stream stream = {};
  std::span<const std::byte> left;  // that zlib has not been given yet
  std::string file;
  bool ended = false;
};

Inflate::Inflate(std::span<const std::byte> packed, const std::string& file) : state_(std::make_unique<State>()) {
  state_->left = packed;
  state_->file = file;
  // Negative: a bare stream, without zlib's own header.
  if (::inflateInit2(&state_->stream, -15) != Z_OK) throw FormatError(file, 0, "zlib cannot be started");
}

Inflate::~Inflate() { ::inflateEnd(&state_->stream); }

std::size_t Inflate::read(std::span<std::byte> to) {
  constexpr std::size_t most = std::size_t{1} << 30;  // zlib counts in 32 bits
  z_stream& stream = state_->stream;
  std::size_t written = 0;
  while (written < to.size() && !state_->ended) {
    const std::size_t in = std::min(most, state_->left.size());
    const std::size_t out = std::min(most, to.size() - written);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(state_->left.data()));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(to.data() + written);
    stream.avail_out = static_cast<uInt>(out);
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    const std::size_t consumed = in - stream.avail_in;
    const std::size_t produced = out - stream.avail_out;
    state_->left = state_->left.subspan(consumed);
    written += produced;
    state_->ended = status == Z_STREAM_END;
    const bool stuck = consumed == 0 && produced == 0;
    if (!state_->ended && (status != Z_OK || stuck))
      throw FormatError(state_->file, 0, "its packed bytes are damaged or cut short");
  }
  return written;
}

}  // namespace plated::io
