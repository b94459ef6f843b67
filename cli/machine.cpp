// Asks the system for its memory.
#include "machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace plated::cli {

std::int64_t machine_memory() {
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES);
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  const std::int64_t machine = pages > 0 && page > 0 ? pages * page : 0;
  // In a container; the file says "max" where there is no limit.
  std::ifstream group("/sys/fs/cgroup/memory.max");
  std::int64_t limit = 0;
  if (!(group >> limit) || limit <= 0) return machine;
  return machine > 0 ? std::min(machine, limit) : limit;
}

}  // namespace plated::cli
