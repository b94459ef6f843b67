// Has every schedule that a test program plans verified, whatever the build.
#include "planner/planner.hpp"

namespace {

[[maybe_unused]] const bool switched_on = [] {
  plated::planner::verify_by_default = true;
  return true;
}();

}  // namespace
