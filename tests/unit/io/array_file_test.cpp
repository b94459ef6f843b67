// Headers before numbers, checksums, and memory limits of array files.
#include <gtest/gtest.h>

#include <fstream>

#include "io/crc32.hpp"
#include "plated/error.hpp"
#include "plated/model_file.hpp"
#include "plated/npy.hpp"
#include "scratch.hpp"
#include "unit/graph/message_of.hpp"

namespace plated {
namespace {

using test::message_of;
using test::Scratch;

std::string contents(const std::string& name) {
  std::ifstream file(std::filesystem::path(PLATED_TEST_FILES) / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Crc32, OfKnownTextsInOnePieceAndInTwo) {
  const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); };
  EXPECT_EQ(io::crc32({}), 0U);
  EXPECT_EQ(io::crc32(bytes("123456789")), 0xCBF43926U);
  const std::string_view fox = "The quick brown fox jumps over the lazy dog";
  for (std::size_t cut = 0; cut <= fox.size(); ++cut) {
    EXPECT_EQ(io::crc32(bytes(fox.substr(cut)), io::crc32(bytes(fox.substr(0, cut)))), 0x414FA339U);
  }
}

TEST(ArrayFile, TellsShapeAndMemoryBeforeNumbersAreRead) {
  const std::filesystem::path folder = PLATED_TEST_FILES;
  const ArrayFile deflated(folder / "deflated.npz", "weights");
  EXPECT_EQ(deflated.shape(), (Tensor::Shape{3, 40}));
  EXPECT_EQ(deflated.dtype(), Dtype::float64);
  EXPECT_EQ(deflated.allocated_bytes(), 3 * 40 * 8);
  EXPECT_EQ(deflated.read().at({2, 39}), 119 * 0.5);

  const Scratch scratch;
  write_npy(scratch.folder() / "a.npy", Tensor::of<float>({2}, {1, 2}));
  const ArrayFile mapped(scratch.folder() / "a.npy");
  EXPECT_EQ(mapped.allocated_bytes(), 0);
  EXPECT_EQ(mapped.dtype(), Dtype::float32);
  EXPECT_EQ(mapped.read().values(), (std::vector<double>{1, 2}));
}

TEST(ArrayFile, DamagedNumbersAreRefusedUnderTheNameOfFileAndMember) {
  const Scratch scratch;
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    SCOPED_TRACE(name);
    const std::string whole = contents(name);
    // A byte of the numbers in the stored archive, and the checksum in the directory of either.
    std::vector<std::size_t> places = {whole.find("PK\x01\x02") + 16};
    if (std::string(name) == "stored.npz") places.push_back(whole.find("PK\x03\x04", 4) - 1);
    for (const std::size_t place : places) {
      std::string damaged = whole;
      damaged[place] = static_cast<char>(damaged[place] ^ 1);
      const auto path = scratch.put("bad.npz", damaged);
      const ArrayFile file(path, "weights");  // the header is sound
      EXPECT_SAYS(message_of<FormatError>([&] { (void)file.read(); }), path.string() + "['weights']: is damaged");
    }
  }
}

TEST(ArrayFile, AModelRefusesAnotherShapeAndTooMuchMemoryBeforeUnpacking) {
  const Scratch scratch;
  // The packed bytes behind the header are damaged: whoever unpacks them fails.
  std::string damaged = contents("deflated.npz");
  damaged[damaged.find("PK\x03\x04", 4) - 1] ^= 0x55;
  scratch.put("f.npz", damaged);
  const auto model = [&](int states, const ReadOptions& options) {
    return read_model(scratch.put("m.json", R"({"format": "plated", "version": 1, "space": "real",
      "variables": {"x": 3, "y": )" + std::to_string(states) +
                                                R"(}, "factors": [
      {"dims": ["x", "y"], "values": {"file": "f.npz", "array": "weights"}}]})"),
                      options);
  };
  EXPECT_SAYS(message_of<FormatError>([&] { (void)model(41, {}); }),
              "needs the shape (3, 41), and 'f.npz' has (3, 40)");
  EXPECT_SAYS(message_of<MemoryLimitError>([&] { (void)model(40, {.memory_limit = 959}); }), "960 bytes");
  EXPECT_SAYS(message_of<FormatError>([&] { (void)model(40, {.memory_limit = 960}); }), "f.npz['weights']: ");
}

TEST(ArrayFile, LimitsCountAllArraysOfAModelTogether) {
  const Scratch scratch;
  scratch.put("f.npz", contents("deflated.npz"));
  const auto path = scratch.put("m.json", R"({"format": "plated", "version": 1, "space": "real",
    "variables": {"x": 3, "y": 40}, "factors": [
    {"dims": ["x", "y"], "values": {"file": "f.npz", "array": "weights"}},
    {"dims": ["x", "y"], "values": {"file": "f.npz", "array": "weights"}}]})");
  EXPECT_THROW((void)read_model(path, {.memory_limit = 1919}), MemoryLimitError);
  EXPECT_EQ(read_model(path, {.memory_limit = 1920}).factors.size(), 2U);
}

}  // namespace
}  // namespace plated
