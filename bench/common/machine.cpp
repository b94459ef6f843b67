// Reads the machine's description from Linux and the commit from git.
#include "common/machine.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

namespace bench {
namespace {

/// The rest of the first line of a file that starts with `key`, without blanks, tabs and colons before it.
std::string line_after(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t:", key.size());
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

std::string first_line_of(const char* command) {
  struct Close {
    void operator()(FILE* pipe) const { pclose(pipe); }
  };
  const std::unique_ptr<FILE, Close> pipe(popen(command, "r"));
  std::array<char, 256> text{};
  if (!pipe || !std::fgets(text.data(), static_cast<int>(text.size()), pipe.get())) return {};
  const std::string line(text.data());
  return line.substr(0, line.find('\n'));
}

std::string or_unknown(const std::string& text) { return text.empty() ? "unknown" : text; }

std::int64_t kilobytes(const char* key) {
  return 1024 * std::strtoll(line_after("/proc/self/status", key).c_str(), nullptr, 10);
}

}  // namespace

Json describe_machine() {
#if defined(__clang__)
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  std::array<double, 1> load{};
  if (getloadavg(load.data(), 1) != 1) load[0] = 0;
  Json machine = Json::object();
  machine.set("commit", or_unknown(first_line_of("git describe --always --dirty --abbrev=12 2>/dev/null")))
      .set("date", or_unknown(first_line_of("date -u +%Y-%m-%dT%H:%MZ")))
      .set("cpu", or_unknown(line_after("/proc/cpuinfo", "model name")))
      .set("compiler", compiler)
      .set("hardware_threads", std::thread::hardware_concurrency())
      .set("load", load[0]);
  return machine;
}

std::int64_t resident_bytes() { return kilobytes("VmRSS"); }
std::int64_t peak_resident_bytes() { return kilobytes("VmHWM"); }

void forget_peak_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);  // what is free but kept for later allocations is nobody's
#endif
  std::ofstream file("/proc/self/clear_refs");
  file << "5";  // resets VmHWM alone
}

}  // namespace bench
