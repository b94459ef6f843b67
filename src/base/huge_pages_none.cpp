// Systems whose pages are as they are.
#include "base/huge_pages.hpp"

namespace plated::base {

void prefer_huge_pages(void* /*memory*/, std::size_t /*bytes*/) noexcept {}

}  // namespace plated::base
