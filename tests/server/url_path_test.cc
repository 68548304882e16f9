// url_path_test.cc — Goal: a target names a path below the root, or nothing.
// SPDX-License-Identifier: MIT
#include "server/url_path.h"

#include <gtest/gtest.h>

#include <string>

namespace convoy {
namespace {

std::string path_of(std::string_view target) {
  std::string path;
  return url_to_path(target, path) ? path : "refused";
}

TEST(UrlPath, plain_and_decoded) {
  EXPECT_EQ(path_of("/"), "");
  EXPECT_EQ(path_of("/hot.bin"), "hot.bin");
  EXPECT_EQ(path_of("/many/1?x=../.."), "many/1");
  EXPECT_EQ(path_of("/a%20b%2e"), "a b.");
  EXPECT_EQ(path_of("/%C3%A9"), "\xC3\xA9");
  EXPECT_EQ(path_of("//a///b/"), "a/b/");
  EXPECT_EQ(path_of("/a/./b/."), "a/b/");
  EXPECT_EQ(path_of("/a/../b"), "b");
  EXPECT_EQ(path_of("/a/b/../../c"), "c");
  EXPECT_EQ(path_of("/a/.."), "");
  EXPECT_EQ(path_of("/..a/b..c/..."), "..a/b..c/...");
  EXPECT_EQ(path_of("http://host:80/many/1"), "many/1");
  EXPECT_EQ(path_of("HTTP://host"), "");
}

TEST(UrlPath, refused) {
  for (const auto target :
       {"/..", "/../etc/passwd", "/a/../../b", "/%2e%2e/x", "/%2E./x", "/a/%2e%2e/..", "/a%", "/a%2", "/a%zz", "/a%00b",
        "/a%2fb", "/a%2Fb", "*", "a", "", "ftp://host/x", "https://host/x"}) {
    EXPECT_EQ(path_of(target), "refused") << target;
  }
}

}  // namespace
}  // namespace convoy
