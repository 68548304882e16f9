// docroot_test.cc — Goal: only regular files below the folder are opened, and a changed file becomes another version.
// SPDX-License-Identifier: MIT
#include "server/docroot.h"

#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/server/temp_folder.h"

namespace convoy {
namespace {

class DocrootTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("secret", "not for anyone");
    folder_.write("root/a.html", "<p>a");
    folder_.write("root/sub/index.html", "<p>index");
    folder_.write("root/bare/file", "x");
    auto opened = Docroot::open(folder_ / "root");
    ASSERT_TRUE(opened) << opened.error().message;
    docroot_ = std::move(*opened);
  }
  int status(const std::string& path) { return docroot_->find(path, memo_).status; }

  TempFolder folder_;
  std::unique_ptr<Docroot> docroot_;
  Docroot::Memo memo_;
};

TEST_F(DocrootTest, files_and_folders) {
  const auto found = docroot_->find("a.html", memo_);
  ASSERT_NE(found.file, nullptr);
  EXPECT_EQ(found.file->size(), 4u);
  EXPECT_NE(found.file->headers().find("Content-Type: text/html"), std::string::npos);
  EXPECT_EQ(docroot_->find("a.html", memo_).file, found.file) << "stays open";
  EXPECT_EQ(status("sub"), 200);
  EXPECT_EQ(status("sub/"), 200);
  EXPECT_EQ(status(""), 403) << "a folder without an index";
  EXPECT_EQ(status("bare"), 403);
  EXPECT_EQ(status("bare/"), 403);
  EXPECT_EQ(status("none"), 404);
  EXPECT_EQ(status("none/"), 404);
  EXPECT_EQ(status("a.html/"), 404);
  EXPECT_EQ(status("a.html/b"), 404);
  EXPECT_EQ(status(std::string(300, 'a')), 404);
}

TEST_F(DocrootTest, links_lead_nowhere_outside) {
  std::filesystem::create_symlink("../secret", folder_ / "root/out");
  std::filesystem::create_symlink(folder_ / "secret", folder_ / "root/absolute");
  std::filesystem::create_symlink("..", folder_ / "root/up");
  std::filesystem::create_symlink("/proc/self/root", folder_ / "root/proc");
  std::filesystem::create_symlink("loop", folder_ / "root/loop");
  std::filesystem::create_symlink("../a.html", folder_ / "root/sub/inside");
  EXPECT_EQ(status("out"), 403);
  EXPECT_EQ(status("absolute"), 403);
  EXPECT_EQ(status("up/secret"), 403);
  EXPECT_EQ(status("proc/etc/passwd"), 403);
  EXPECT_EQ(status("loop"), 403);
  EXPECT_EQ(status("../secret"), 403) << "even if a path with dots came this far";
  EXPECT_EQ(status("sub/inside"), 200);
}

TEST_F(DocrootTest, only_regular_files) {
  ASSERT_EQ(::mkfifo((folder_ / "root/fifo").c_str(), 0644), 0);
  EXPECT_EQ(status("fifo"), 403) << "and does not wait for a writer";
}

TEST_F(DocrootTest, unreadable_files_and_folders) {
  std::filesystem::permissions(folder_ / "root/a.html", std::filesystem::perms::none);
  std::filesystem::permissions(folder_ / "root/sub", std::filesystem::perms::none);
  // Root reads everything; a thread whose file system user is another one does not.
  const bool root = ::geteuid() == 0;
  if (root) ::setfsuid(65534);
  EXPECT_EQ(status("a.html"), 403);
  EXPECT_EQ(status("sub/"), 403);
  EXPECT_EQ(status("sub/index.html"), 403);
  if (root) ::setfsuid(0);
  std::filesystem::permissions(folder_ / "root/sub", std::filesystem::perms::owner_all);
}

TEST_F(DocrootTest, changed_file_is_another_version) {
  const auto before = docroot_->find("a.html", memo_).file;
  folder_.write("root/a.html", "<p>longer");
  const auto after = docroot_->find_again("a.html", memo_).file;
  ASSERT_NE(after, nullptr);
  EXPECT_NE(after->version(), before->version());
  EXPECT_EQ(after->size(), 9u);
  EXPECT_EQ(before->size(), 4u) << "the old one is what it was";
  EXPECT_EQ(docroot_->find("a.html", memo_).file, after);
  EXPECT_EQ(docroot_->find_again("a.html", memo_).file, after) << "unchanged: the same version";
  std::filesystem::remove(folder_ / "root/a.html");
  EXPECT_EQ(docroot_->find_again("a.html", memo_).status, 404);
}

TEST(Docroot, open_files_are_bounded) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{400, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const TempFolder folder;
  for (int i = 0; i < 500; ++i) folder.write(std::to_string(i), "x");
  auto docroot = Docroot::open(folder.path());
  ASSERT_TRUE(docroot);
  Docroot::Memo memo;
  const auto open_now = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto open_before = open_now();
  for (int i = 0; i < 500; ++i) EXPECT_EQ((*docroot)->find(std::to_string(i), memo).status, 200) << i;
  EXPECT_LE(open_now() - open_before, 100) << "a quarter of the descriptors";
  EXPECT_GE(open_now() - open_before, 80) << "and most of that quarter is used";
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST(Docroot, must_be_a_readable_folder) {
  const TempFolder folder;
  folder.write("file", "x");
  const auto missing = Docroot::open(folder / "none");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("docroot: '" + folder.path() + "/none'"), std::string::npos);
  EXPECT_FALSE(Docroot::open(folder / "file"));
}

}  // namespace
}  // namespace convoy
