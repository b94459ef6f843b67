// Archives as Plated reads them where it was built without zlib.
#include <gtest/gtest.h>

#include "plated/error.hpp"
#include "plated/npy.hpp"
#include "unit/graph/message_of.hpp"

namespace plated {
namespace {

TEST(WithoutZlib, StoredArraysAreReadAndDeflatedOnesSayWhatToDo) {
  const std::filesystem::path folder = PLATED_TEST_FILES;
  EXPECT_EQ(read_npz(folder / "stored.npz", "weights").at({2, 39}), 119 * 0.5);
  EXPECT_EQ(npz_names(folder / "deflated.npz").size(), 2U);
  EXPECT_SAYS(test::message_of<FormatError>([&] { (void)read_npz(folder / "deflated.npz", "weights"); }),
              "deflated.npz['weights']: is compressed, and Plated was built without zlib: save it with numpy.savez");
}

}  // namespace
}  // namespace plated
