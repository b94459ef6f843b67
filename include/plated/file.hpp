// Writes files atomically.
#pragma once

#include <filesystem>
#include <string_view>

namespace plated {

/// Writes a file under another name and renames it when it is complete; what was there before is replaced only then,
/// and a failure leaves nothing behind. A file that is replaced hands on its mode; symbolic links are followed; pipes,
/// devices and /dev/stdout are written in place. Throws FileError, also for a file that is read-only.
void write_file(const std::filesystem::path& path, std::string_view contents);

}  // namespace plated
