// Has the tests of this program plan chains as scans.
#include <cstdlib>

#include "planner/planner.hpp"

namespace plated::test {
namespace {

[[maybe_unused]] const bool switched = [] {
  planner::scan_chains_by_default.store(true);
  planner::verify_by_default.store(std::getenv("NOVERIFY") == nullptr);
  return true;
}();

}  // namespace
}  // namespace plated::test
