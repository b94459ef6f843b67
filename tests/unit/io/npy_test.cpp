// .npy and .npz files: orders, dtypes, versions, and malformed headers.
#include "plated/npy.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "io/npy_header.hpp"
#include "plated/error.hpp"
#include "same_model.hpp"
#include "scratch.hpp"
#include "unit/graph/message_of.hpp"

namespace plated {
namespace {

using test::expect_same_numbers;
using test::message_of;
using test::Scratch;

std::string bytes_of(const std::vector<double>& values) {
  std::string bytes(values.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  for (int k = 0; k < (version == 1 ? 2 : 4); ++k) text += static_cast<char>(dictionary.size() >> (8 * k) & 0xFFU);
  return text + dictionary + data;
}

TEST(Npy, WritesAndReadsBack) {
  const Scratch scratch;
  const auto path = scratch.folder() / "a.npy";
  const Tensor tensors[] = {Tensor::of<double>({2, 3}, {1, -2, 3, 1e-300, 5, 6}), Tensor::of<float>({4}, {1, 2, 3, 4}),
                            Tensor::scalar(2.5), Tensor(Dtype::float32, {3, 0, 2})};
  for (const Tensor& tensor : tensors) {
    write_npy(path, tensor);
    expect_same_numbers(read_npy(path), tensor);
  }
  EXPECT_EQ(scratch.files(), 1);
}

TEST(Npy, WritesViewsInOrder) {
  const Scratch scratch;
  const Tensor tensor = Tensor::of<double>({2, 3}, {1, 2, 3, 4, 5, 6}).permuted(std::vector<std::size_t>{1, 0});
  write_npy(scratch.folder() / "a.npy", tensor);
  const Tensor again = read_npy(scratch.folder() / "a.npy");
  EXPECT_EQ(again.strides(), (Tensor::Shape{2, 1}));
  EXPECT_EQ(again.values(), (std::vector<double>{1, 4, 2, 5, 3, 6}));
}

TEST(Npy, DataAreAligned) {
  for (std::size_t rank = 0; rank < 40; ++rank) {
    EXPECT_EQ(io::npy_header(Dtype::float32, Tensor::Shape(rank, 1)).size() % 64, 0U);
  }
  EXPECT_EQ(io::npy_header(Dtype::float64, Tensor::Shape(40000, 1)).size() % 64, 0U);  // too long for version 1
}

TEST(Npy, ReadsFortranOrderOtherVersionsAndUnalignedData) {
  const Scratch scratch;
  const std::string data = bytes_of({1, 2, 3, 4, 5, 6});
  for (int version : {1, 2, 3}) {
    for (const char* pad : {"", " ", "   \n"}) {
      const auto path = scratch.put(
          "f.npy",
          npy(std::string("{\"shape\": (2L, 3), 'fortran_order': True, 'descr': '<f8'}") + pad, data, version));
      EXPECT_EQ(read_npy(path).values(), (std::vector<double>{1, 3, 5, 2, 4, 6}));
    }
  }
}

TEST(Npy, TensorsOutliveTheFilesName) {
  const Scratch scratch;
  write_npy(scratch.folder() / "a.npy", Tensor::of<double>({3}, {1, 2, 3}));
  const Tensor slice = read_npy(scratch.folder() / "a.npy").select(0, 2);
  std::filesystem::remove(scratch.folder() / "a.npy");
  EXPECT_EQ(slice.item(), 3);
  EXPECT_FALSE(slice.writable());
}

TEST(Npy, LyingHeadersAreRefused) {
  const struct {
    std::string text;
    const char* reason;
  } cases[] = {
      {"", "does not begin with"},
      {"\x93NUMPY", "ends in the header"},
      {std::string("\x93NUMPY\x01\0", 8), "ends in the header"},
      {npy("{}", ""), "lacks 'descr'"},
      {npy("", "", 9), "unknown .npy version 9"},
      {std::string("\x93NUMPY\x01\0\xff\xff{", 11), "ends in the header"},
      {std::string("\x93NUMPY\x02\0\xff\xff\xff\xff{", 13), "ends in the header"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000000,), }", bytes_of({1})), "promises"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000, 4000000000,), }", ""),
       "promises more than 2^63"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", bytes_of({1})),
       "promises 24 bytes, and 8 follow"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", bytes_of({1, 2})),
       "promises 8 bytes, and 16 follow"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", bytes_of({1})), "the extent '-1"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }", ""), "the extent '9999"},
      {npy("{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }", bytes_of({1})), "big-endian"},
      {npy("{'descr': '|u1', 'fortran_order': False, 'shape': (8,), }", bytes_of({1})), "dtype is '|u1'"},
      {npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", bytes_of({1})), "dtype is '|O'"},
      {npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", bytes_of({1})), "holds records"},
      {npy("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", bytes_of({1})),
       "'descr' twice"},
      {npy("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,), }", bytes_of({1})), "no True or False"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), } x", bytes_of({1})), "after its end"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,", bytes_of({1})), "extent"},
      {npy("((((((((", ""), "no dictionary"},
      {"PK\x03\x04", "name one of its arrays"},
  };
  const Scratch scratch;
  for (const auto& hostile : cases) {
    SCOPED_TRACE(hostile.reason);
    const auto path = scratch.put("bad.npy", hostile.text);
    const std::string message = message_of<FormatError>([&] { (void)read_npy(path); });
    EXPECT_SAYS(message, hostile.reason);
    EXPECT_TRUE(message.starts_with(path.string() + ": ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(Npy, AFailedWriteLeavesNothingBehind) {
  const Scratch scratch;
  const Tensor tensor = Tensor::scalar(1.0);
  EXPECT_THROW(write_npy(scratch.folder() / "no" / "a.npy", tensor), FileError);
  std::filesystem::create_directory(scratch.folder() / "a.npy");
  EXPECT_THROW(write_npy(scratch.folder() / "a.npy", tensor), FileError);
  EXPECT_EQ(scratch.files(), 1);
}

TEST(Npy, LinksStayLinks) {
  const Scratch scratch;
  scratch.put("real.npy", "old");
  std::filesystem::create_symlink("real.npy", scratch.folder() / "link.npy");
  write_npy(scratch.folder() / "link.npy", Tensor::scalar(1.0));
  EXPECT_TRUE(std::filesystem::is_symlink(scratch.folder() / "link.npy"));
  EXPECT_EQ(read_npy(scratch.folder() / "real.npy").item(), 1);
  EXPECT_EQ(scratch.files(), 2);
}

TEST(Npz, ReadsWhatNumpyWrote) {
  const std::filesystem::path folder = PLATED_TEST_FILES;
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(npz_names(folder / name), (std::vector<std::string>{"weights", "single"}));
    const Tensor weights = read_npz(folder / name, "weights");
    EXPECT_EQ(weights.shape(), (Tensor::Shape{3, 40}));
    EXPECT_EQ(weights.at({2, 39}), 119 * 0.5);
    EXPECT_EQ(read_npz(folder / name, "single").dtype(), Dtype::float32);
    EXPECT_SAYS(message_of<UnknownNameError>([&] { (void)read_npz(folder / name, "none"); }),
                "only 'weights', 'single'");
  }
}

TEST(Npz, EveryTruncationAndFlippedByteIsRefusedOrRead) {
  const Scratch scratch;
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    std::ifstream file(std::filesystem::path(PLATED_TEST_FILES) / name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    ASSERT_GT(text.size(), 300U);
    for (std::size_t k = 0; k < text.size(); k += 3) {
      std::string flipped = text;
      flipped[k] = static_cast<char>(~flipped[k]);
      for (const std::string& bad : {text.substr(0, k), flipped}) {
        const auto path = scratch.put("bad.npz", bad);
        try {
          (void)read_npz(path, "weights");
        } catch (const FormatError& error) {
          EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        } catch (const UnknownNameError&) {
        }
      }
    }
  }
}

}  // namespace
}  // namespace plated
