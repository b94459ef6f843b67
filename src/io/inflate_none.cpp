// Refuses deflated members in builds without zlib.
#include "io/zip.hpp"
#include "plated/error.hpp"

namespace plated::io {

std::shared_ptr<std::byte> inflate(const ZipMember& /*member*/, const std::string& file) {
  throw FormatError(file, 0, "is compressed, and Plated was built without zlib: save it with numpy.savez");
}

}  // namespace plated::io
