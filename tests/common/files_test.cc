// files_test.cc — Files appear whole or not at all, and a failure says why.
// SPDX-License-Identifier: MIT
#include "common/files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace convoy {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
namespace fs = std::filesystem;

class FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "convoy_files_test_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  fs::path folder;
};

TEST_F(FilesTest, written_and_read_back) {
  const auto path = (folder / "a.json").string();
  ASSERT_TRUE(write_text_file(path, "one"));
  const std::string text(300'000, 'x');
  ASSERT_TRUE(write_text_file(path, text));
  EXPECT_EQ(read_text_file(path).value(), text);
  EXPECT_EQ(entries(), 1u);  // no temporary file remains
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

TEST_F(FilesTest, a_file_keeps_its_mode) {
  const auto path = (folder / "a").string();
  ASSERT_TRUE(write_text_file(path, "one"));
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  ASSERT_TRUE(write_text_file(path, "two"));
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(FilesTest, a_link_stays_and_its_target_is_written) {
  for (const bool exists : {true, false}) {
    const auto target = (folder / (exists ? "target" : "to_come")).string();
    if (exists) {
      ASSERT_TRUE(write_text_file(target, "old"));
    }
    const auto link = target + ".link";
    fs::create_symlink(fs::path(target).filename(), link);
    EXPECT_TRUE(check_writable(link));
    ASSERT_TRUE(write_text_file(link, "new"));
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(read_text_file(target).value_or(""), "new");
  }
}

TEST_F(FilesTest, what_cannot_be_written_is_known_before) {
  EXPECT_TRUE(check_writable("-"));
  EXPECT_TRUE(check_writable("/dev/null"));
  EXPECT_TRUE(check_writable((folder / "new").string()));
  EXPECT_FALSE(fs::exists(folder / "new"));
  for (const auto& bad : {(folder / "no/such/folder").string(), folder.string(), std::string("/proc/version/x")}) {
    const auto checked = check_writable(bad);
    ASSERT_FALSE(checked) << bad;
    EXPECT_THAT(checked.error().message, testing::StartsWith(bad + ": cannot be written: "));
  }
}

TEST_F(FilesTest, failures_name_path_and_reason) {
  EXPECT_THAT(write_text_file((folder / "no" / "a").string(), "x").error().message,
              EndsWith("/no/a: cannot be written: No such file or directory"));
  EXPECT_THAT(write_text_file(folder.string(), "x").error().message, EndsWith("cannot be written: Is a directory"));
  EXPECT_THAT(read_text_file((folder / "a").string()).error().message, HasSubstr("cannot be read: No such file"));
  ASSERT_TRUE(write_text_file((folder / "a").string(), "12345"));
  EXPECT_THAT(read_text_file((folder / "a").string(), 4).error().message, EndsWith("longer than 4 bytes"));
}

// /dev/full answers every write with ENOSPC; a device is written in place, never renamed over.
TEST_F(FilesTest, devices_are_written_in_place_and_a_full_one_is_reported) {
  EXPECT_EQ(write_text_file("/dev/full", "x").error().message, "/dev/full: cannot be written: No space left on device");
  EXPECT_TRUE(write_text_file("/dev/null", "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FilesTest, dash_is_stdout) {
  testing::internal::CaptureStdout();
  const auto done = write_text_file("-", "text\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "text\n");
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace convoy
