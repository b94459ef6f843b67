// Fuzzes the reader of bif models.
#include <cstddef>
#include <cstdint>

#include "round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  plated::fuzz::read_and_write({reinterpret_cast<const char*>(data), size}, plated::Format::bif, "fuzz.bif");
  return 0;
}
