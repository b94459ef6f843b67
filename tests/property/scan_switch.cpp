// Has the tests of this program plan chains as scans.
#include <cstdlib>

#include "engine/blocking.hpp"
#include "planner/planner.hpp"

namespace plated::test {
namespace {

[[maybe_unused]] const bool switched = [] {
  planner::scan_chains_by_default.store(true);
  planner::verify_by_default.store(std::getenv("NOVERIFY") == nullptr);
  if (const char* from = std::getenv("PLATED_BLOCKED_FROM")) engine::least_blocked_bytes = std::atoll(from);
  return true;
}();

}  // namespace
}  // namespace plated::test
