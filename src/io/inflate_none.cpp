// Refuses deflated members in builds without zlib.
#include "io/zip.hpp"
#include "plated/error.hpp"

namespace plated::io {

struct Inflate::State {};

Inflate::Inflate(std::span<const std::byte> /*packed*/, const std::string& file) {
  throw FormatError(file, 0, "is compressed, and Plated was built without zlib: save it with numpy.savez");
}

Inflate::~Inflate() = default;

std::size_t Inflate::read(std::span<std::byte> /*to*/) { return 0; }

}  // namespace plated::io
