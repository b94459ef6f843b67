// Files on disk: what is read, what is refused before it is opened, and what a write keeps.
#include "io/disk.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <sstream>

#include "plated/error.hpp"
#include "plated/file.hpp"
#include "plated/model_file.hpp"
#include "plated/npy.hpp"
#include "scratch.hpp"
#include "unit/graph/message_of.hpp"

namespace plated {
namespace {

using test::message_of;
using test::Scratch;

constexpr const char* coin = "MARKOV 1 2 1 1 0 2 1 3";

void make_socket(const std::filesystem::path& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.string().copy(address.sun_path, sizeof address.sun_path - 1);
  const int made = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(made);
}

TEST(ReadFiles, PipesSocketsAndDevicesAreRefusedBeforeTheyAreOpened) {
  const Scratch scratch;
  const auto pipe = scratch.folder() / "pipe";
  const auto socket = scratch.folder() / "socket";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  make_socket(socket);
  Model model = parse_model(coin, "coin.uai");
  const struct {
    std::filesystem::path path;
    const char* reason;
  } cases[] = {{pipe, "is a pipe, not a regular file"},
               {socket, "is a socket, not a regular file"},
               {"/dev/zero", "is a device, not a regular file"},
               {scratch.folder(), "is a folder, not a file"}};
  for (const auto& each : cases) {
    SCOPED_TRACE(each.path);
    // Nobody writes to the pipe: opening it would wait forever.
    EXPECT_SAYS(message_of<FileError>([&] { (void)read_model(each.path); }), each.reason);
    EXPECT_SAYS(message_of<FileError>([&] { read_evidence(model, each.path); }), each.reason);
    EXPECT_SAYS(message_of<FileError>([&] { (void)read_npy(each.path); }), each.reason);
    EXPECT_SAYS(message_of<FileError>([&] { (void)npz_names(each.path); }), each.reason);
    EXPECT_SAYS(message_of<FileError>([&] { (void)read_npz(each.path, "f"); }), each.reason);
  }
}

TEST(ReadFiles, OpenDescriptorsAreReadByTheirNames) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_GT(::write(ends[1], coin, std::string_view(coin).size()), 0);
  ::close(ends[1]);
  const std::string name = "/dev/fd/" + std::to_string(ends[0]);
  EXPECT_EQ(variables(read_model(name)).size(), 1U);
  EXPECT_SAYS(message_of<FileError>([&] { (void)read_npy(name); }), "is a pipe, and arrays are mapped");
  ::close(ends[0]);
  EXPECT_SAYS(message_of<FileError>([&] { (void)read_model(name); }), "cannot be opened");
}

TEST(ReadFiles, StreamsAreReadToTheirEnd) {
  std::istringstream model_stream(coin);
  Model model = read_model(model_stream, "standard input");
  std::istringstream evidence_stream("1 0 1");
  read_evidence(model, evidence_stream, "standard input");
  EXPECT_EQ(model.evidence.at("v0").values(), std::vector<std::int64_t>{1});
  std::istringstream bad("MARKOV 1 x");
  EXPECT_SAYS(message_of<FormatError>([&] { (void)read_model(bad, "standard input"); }), "standard input:1: 'x'");
}

TEST(ReadFiles, ByteOrderMarksAreSkipped) {
  const std::string mark = "\xEF\xBB\xBF";
  for (const std::string text :
       {coin, "network n {} variable v0 { type discrete [2] { no yes }; } probability (v0) { table 0.5 0.5; }",
        R"({"format": "plated", "version": 1, "space": "real", "variables": {"v0": 2}, "factors": []})"}) {
    Model model = parse_model(mark + text, "m");
    for (const char* evidence : {"1 0 1", R"({"v0": 1})", "1\n1 0 1"}) {
      parse_evidence(model, mark + evidence, "e");
      EXPECT_EQ(model.evidence.at("v0").values(), std::vector<std::int64_t>{1});
    }
  }
}

TEST(WriteFile, ReplacesAtOnceAndKeepsDevices) {
  const Scratch scratch;
  write_file(scratch.folder() / "a", "one");
  write_file(scratch.folder() / "a", "two");
  EXPECT_EQ(scratch.get("a"), "two");
  EXPECT_EQ(scratch.files(), 1);
  write_file("/dev/null", "nothing");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(WriteFile, KeepsTheModeOfWhatItReplaces) {
  const Scratch scratch;
  const auto path = scratch.put("a", "old");
  for (const mode_t mode : {0600U, 0640U, 0755U, 0666U}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    write_file(path, "new");
    EXPECT_EQ(static_cast<mode_t>(std::filesystem::status(path).permissions()), mode);
  }
}

TEST(WriteFile, FollowsLinksAlsoToFilesThatDoNotExistYet) {
  const Scratch scratch;
  const auto link = scratch.folder() / "link";
  std::filesystem::create_directory(scratch.folder() / "in");
  std::filesystem::create_symlink("in/other", link);
  std::filesystem::create_symlink("file", scratch.folder() / "in" / "other");
  for (const char* text : {"created", "replaced"}) {
    write_file(link, text);
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(scratch.get("in/file"), text);
  }
  std::filesystem::create_symlink("circle", scratch.folder() / "circle");
  EXPECT_THROW(write_file(scratch.folder() / "circle", ""), FileError);
  EXPECT_EQ(scratch.files(), 3);
}

TEST(WriteFile, LeavesReadOnlyFilesAlone) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
  const Scratch scratch;
  const auto path = scratch.put("a", "old");
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  EXPECT_SAYS(message_of<FileError>([&] { write_file(path, "new"); }), "Permission denied");
  EXPECT_EQ(scratch.get("a"), "old");
}

}  // namespace
}  // namespace plated
