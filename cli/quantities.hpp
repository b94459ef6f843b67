// Amounts as people write and read them: bytes, counts, times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plated::cli {

/// `2GiB`, `500 MB`, `1.5G` (binary, like GiB), `4096`; nothing for what is no amount of bytes above 0 and below 2^63.
[[nodiscard]] std::optional<std::int64_t> parse_bytes(std::string_view text);

[[nodiscard]] std::string bytes(double amount);    ///< "1.50 MiB"
[[nodiscard]] std::string count(double amount);    ///< "1,234,567", "1.23e+12"
[[nodiscard]] std::string seconds(double amount);  ///< "12.3 ms"
/// "1 factor", "3 factors".
[[nodiscard]] std::string counted(std::int64_t amount, const std::string& noun);

}  // namespace plated::cli
