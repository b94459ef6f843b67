// Fuzzes the reader of .npy arrays.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "io/stored_array.hpp"
#include "round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const plated::Tensor tensor =
        plated::io::StoredArray({reinterpret_cast<const std::byte*>(data), size}, nullptr, "fuzz.npy").read();
    double sum = 0;
    for (const double value : tensor.values()) sum += value;
    volatile double keep = sum;  // every element is read
    (void)keep;
  } catch (const plated::FormatError& error) {
    plated::fuzz::require_one_line(error);
  }
  return 0;
}
