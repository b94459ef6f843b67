// Writes files atomically.
#pragma once

#include <filesystem>
#include <string_view>

namespace plated {

/// Writes a file under another name and renames it when it is complete; an existing file is replaced only then, and a
/// failure leaves nothing behind. Throws FileError.
void write_file(const std::filesystem::path& path, std::string_view contents);

}  // namespace plated
