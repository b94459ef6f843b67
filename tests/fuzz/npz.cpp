// Fuzzes the reader of .npz archives: the directory, and every array it names.
#include <cstddef>
#include <cstdint>

#include "io/stored_array.hpp"
#include "round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    for (const std::string& name : plated::io::npz_names(bytes, "fuzz.npz")) {
      try {
        double sum = 0;
        for (const double value : plated::io::npz_array(bytes, name, nullptr, "fuzz.npz").read().values()) sum += value;
        volatile double keep = sum;  // every element is read
        (void)keep;
      } catch (const plated::FormatError& error) {
        plated::fuzz::require_one_line(error);
      }
    }
  } catch (const plated::FormatError& error) {
    plated::fuzz::require_one_line(error);
  }
  return 0;
}
