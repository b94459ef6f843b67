// Verifies every schedule that a test program plans, in any build.
#include "planner/planner.hpp"

namespace {

[[maybe_unused]] const bool switched_on = [] {
  plated::planner::verify_by_default = true;
  return true;
}();

}  // namespace
