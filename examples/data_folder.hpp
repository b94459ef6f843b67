// Finds the examples' public data: the folder that the environment variable PLATED_DATA names.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

/// The path of a data file, or nothing, said aloud, where there is no such file.
inline std::optional<std::string> data_file(const std::string& name) {
  const char* const variable = std::getenv("PLATED_DATA");
  const std::string folder = variable == nullptr ? "" : variable;
  if (!folder.empty()) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    if (std::filesystem::exists(path)) return path.string();
  }
  std::printf(
      "*** THE DATA ARE ABSENT: %s is not in %s.\n"
      "*** What follows is about a small made-up set, and says nothing about the real one.\n\n",
      name.c_str(), folder.empty() ? "PLATED_DATA, which is not set" : folder.c_str());
  return std::nullopt;
}
