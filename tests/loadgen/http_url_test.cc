// http_url_test.cc — URLs, patterns, URL files, and the requests made of them.
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "loadgen/target.h"
#include "loadgen/url.h"

namespace convoy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST(HttpUrl, parts) {
  const auto url = parse_url("http://example.org:8080/a/b?c=d#e");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "example.org");
  EXPECT_EQ(url->port, 8080);
  EXPECT_EQ(url->path, "/a/b?c=d");
  EXPECT_EQ(host_header(*url), "example.org:8080");
}

TEST(HttpUrl, defaults) {
  EXPECT_EQ(parse_url("http://h")->path, "/");
  EXPECT_EQ(parse_url("http://h")->port, 80);
  EXPECT_EQ(parse_url("http://h?x")->path, "/?x");
  EXPECT_EQ(host_header(*parse_url("http://[::1]:81/")), "[::1]:81");
  EXPECT_EQ(host_header(*parse_url("http://h/")), "h");
}

TEST(HttpUrl, refused) {
  for (const char* text : {"", "h", "/x", "https://h/", "ftp://h/", "http://", "http:///x", "http://h:0/",
                           "http://h:65536/", "http://h:x/", "http://h:/", "http://u@h/", "http://h/a b",
                           "http://h/a\nb", "http://[::1/", "http://h:80:80/", "http://h:0x50/"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_THAT(url.error().message, HasSubstr("url: ")) << text;
  }
}

TEST(HttpUrl, pattern) {
  EXPECT_THAT(*expand_pattern("/many/{1..3}"), ElementsAre("/many/1", "/many/2", "/many/3"));
  EXPECT_THAT(*expand_pattern("/m{08..10}.bin"), ElementsAre("/m08.bin", "/m09.bin", "/m10.bin"));
  EXPECT_THAT(*expand_pattern("/plain"), ElementsAre("/plain"));
  EXPECT_THAT(*expand_pattern("/many/{1..1024}"), SizeIs(1024));
  for (const char* text : {"/{", "/}", "/}{", "/{1}", "/{1..}", "/{2..1}", "/{a..b}", "/{1..2}{3..4}",
                           "/{1..9999999999}", "/{-1..2}", "/{1..99999999999999999999}"}) {
    EXPECT_FALSE(expand_pattern(text)) << text;
  }
}

class UrlFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }
  void TearDown() override { ::unlink(path_.c_str()); }
  std::string path_ = ::testing::TempDir() + "urls_" + std::to_string(::getpid());
};

TEST_F(UrlFile, lines_comments_and_blanks) {
  const auto urls = read_url_file(write("# what to ask for\n\n/a\r\n  /b  \nhttp://h/c\n/d{1..2}"));
  ASSERT_TRUE(urls);
  EXPECT_THAT(*urls, ElementsAre("/a", "/b", "http://h/c", "/d1", "/d2"));
}

TEST_F(UrlFile, refused) {
  EXPECT_FALSE(read_url_file("/nowhere/at/all"));
  EXPECT_FALSE(read_url_file(write("# nothing\n\n")));
  EXPECT_FALSE(make_target({.url = "http://h/", .url_file = write("/a\nhttp://other/\n")}));
  EXPECT_FALSE(make_target({.url = "http://h/", .url_file = write("no path\n")}));
}

TEST_F(UrlFile, full_urls_name_the_server) {
  const auto target = make_target({.url_file = write("http://h:81/a\n/b\n")});
  ASSERT_TRUE(target);
  EXPECT_EQ(target->origin.port, 81);
  EXPECT_THAT(target->requests, ElementsAre(HasSubstr("GET /a HTTP/1.1\r\nHost: h:81\r\n"), HasSubstr("GET /b ")));
  EXPECT_EQ(target->name, path_);
}

TEST(HttpTarget, headers) {
  const auto target = make_target({.url = "http://h/x", .headers = {"Accept: a", "host: other"}, .keep_alive = false});
  ASSERT_TRUE(target);
  EXPECT_EQ(target->name, "/x");
  EXPECT_THAT(target->requests,
              ElementsAre("GET /x HTTP/1.1\r\nConnection: close\r\nAccept: a\r\nhost: other\r\n\r\n"));
  for (const char* line :
       {"", "x", ": y", "a b: c", "A: b\r\nC: d", "Content-Length: 1", "transfer-encoding: chunked"}) {
    EXPECT_FALSE(make_target({.url = "http://h/", .headers = {line}})) << line;
  }
}

TEST(HttpTarget, pattern_keeps_its_name) {
  const auto target = make_target({.url = "http://h:1/many/{1..3}"});
  ASSERT_TRUE(target);
  EXPECT_EQ(target->name, "/many/{1..3}");
  EXPECT_THAT(target->requests, SizeIs(3));
  EXPECT_FALSE(make_target({.url = "/no/server"}));
  EXPECT_FALSE(make_target({}));
}

}  // namespace
}  // namespace convoy
