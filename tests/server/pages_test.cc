// pages_test.cc — Goal: what a response is made of while files change and the cache is small: one version, or an error.
// Method: docroot, page source and answers as objects; over sockets where the whole matters.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <time.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/lock_report.h"
#include "server/docroot.h"
#include "server/page_source.h"
#include "server/request_handler.h"
#include "tests/resident_bytes.h"
#include "tests/server/test_server.h"

namespace convoy {
namespace {

class PagesTest : public testing::Test {
 protected:
  PagesTest() {
    auto opened = Docroot::open(folder_.path(), [this](std::uint64_t version, std::uint64_t size) {
      retired_.push_back(version);
      pages_.drop(version, size);
    });
    if (!opened) std::abort();
    docroot_ = std::move(*opened);
  }
  std::shared_ptr<const OpenFile> find(const std::string& name) { return docroot_->find(name, memo_).file; }
  std::shared_ptr<const OpenFile> find_again(const std::string& name) { return docroot_->find_again(name, memo_).file; }

  // The bytes of one page; "" when it cannot be mapped, `error_` then says why.
  std::string page(const OpenFile& file, std::uint64_t index) {
    std::vector<PinnedPage> list;
    const auto mapped = pages_.map(file, index, list);
    if (!mapped) {
      error_ = mapped.error();
      return "";
    }
    std::string bytes(reinterpret_cast<const char*>(list[0].data), list[0].size);
    pages_.unpin(list);
    return bytes;
  }
  // Overwrites a file in place, its length as it was.
  void overwrite(const std::string& name, char byte, std::size_t size) const {
    std::fstream file(folder_ / name, std::ios::binary | std::ios::in | std::ios::out);
    file << std::string(size, byte);
  }

  static constexpr std::size_t kSize = 1 << 20;
  TempFolder folder_;
  LockClasses classes_;
  PageSource pages_{classes_, {.folio_order = 2, .capacity = 1 << 20, .access = Access::kMmap}};  // 64 folios
  std::vector<std::uint64_t> retired_;
  std::unique_ptr<Docroot> docroot_;
  Docroot::Memo memo_;
  PageError error_{};
};

TEST_F(PagesTest, file_rewritten_in_place_is_not_mixed) {
  folder_.write("f", std::string(kSize, 'a'));
  const auto file = find("f");
  EXPECT_EQ(page(*file, 0), std::string(4096, 'a'));
  overwrite("f", 'b', kSize);
  EXPECT_EQ(page(*file, 1), std::string(4096, 'a')) << "what was read stays what it was";
  EXPECT_EQ(page(*file, 100), "") << "what was not is refused: the file on disk is another version";
  EXPECT_EQ(error_.kind, PageError::Kind::kChanged) << error_.message;
  const auto after = find_again("f");
  ASSERT_NE(after, nullptr);
  EXPECT_NE(after->version(), file->version());
  EXPECT_EQ(retired_, std::vector<std::uint64_t>{file->version()});
  EXPECT_EQ(page(*after, 0), std::string(4096, 'b'));
  EXPECT_EQ(page(*after, 100), std::string(4096, 'b'));
}

TEST_F(PagesTest, file_cut_short_is_refused_where_it_was_not_read) {
  folder_.write("f", std::string(kSize, 'a'));
  const auto file = find("f");
  EXPECT_EQ(page(*file, 0), std::string(4096, 'a'));
  std::filesystem::resize_file(folder_ / "f", 4096 * 50);
  EXPECT_EQ(page(*file, 60), "");
  EXPECT_EQ(error_.kind, PageError::Kind::kChanged);
  EXPECT_EQ(page(*file, 10), "") << "nor where the disk still has the old bytes: they are of another version";
  EXPECT_EQ(page(*file, 2), std::string(4096, 'a'));
}

// A response that began with a file that is now removed, or replaced by another, goes on with it.
TEST_F(PagesTest, file_without_a_name_keeps_its_bytes) {
  folder_.write("f", std::string(kSize, 'a'));
  folder_.write("g", std::string(kSize, 'b'));
  folder_.write("new", std::string(kSize, 'c'));
  const auto f = find("f");
  const auto g = find("g");
  EXPECT_EQ(page(*f, 0), std::string(4096, 'a'));
  std::filesystem::remove(folder_ / "f");
  std::filesystem::rename(folder_ / "new", folder_ / "g");
  EXPECT_EQ(page(*f, 100), std::string(4096, 'a'));
  EXPECT_EQ(page(*g, 100), std::string(4096, 'b'));
  EXPECT_EQ(find_again("f"), nullptr);
  EXPECT_EQ(page(*find_again("g"), 100), std::string(4096, 'c'));
  EXPECT_EQ(retired_.size(), 2u);
}

// Times move in ticks: a stamp taken right after a change could stand for two contents.
TEST_F(PagesTest, stamp_is_old_enough_to_be_its_own) {
  for (int i = 0; i < 5; ++i) {
    folder_.write("f", std::string(100 + static_cast<std::size_t>(i), 'a'));
    const auto file = find_again("f");
    ASSERT_NE(file, nullptr);
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const timespec changed = file->stamp().changed;
    const std::int64_t age = (now.tv_sec - changed.tv_sec) * 1'000'000'000 + now.tv_nsec - changed.tv_nsec;
    EXPECT_GE(age, Docroot::kSettledNs);
  }
}

TEST_F(PagesTest, file_that_was_closed_meanwhile_has_its_version_again) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{400, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  auto docroot = std::move(*Docroot::open(folder_.path()));
  ::setrlimit(RLIMIT_NOFILE, &before);
  for (int i = 0; i < 500; ++i) folder_.write(std::to_string(i), "x");
  const std::uint64_t version = docroot->find("0", memo_).file->version();
  for (int i = 1; i < 500; ++i) ASSERT_EQ(docroot->find(std::to_string(i), memo_).status, 200) << i;
  EXPECT_EQ(docroot->find("0", memo_).file->version(), version) << "so what is cached of it is found";
  folder_.write("0", "yy");
  EXPECT_NE(docroot->find_again("0", memo_).file->version(), version);
}

TEST_F(PagesTest, full_cache_is_waited_for_or_503_and_a_window_takes_what_there_is) {
  folder_.write("f", std::string(kSize, 'f'));
  folder_.write("g", std::string(kSize, 'g'));
  const auto file = find("f");
  std::vector<PinnedPage> pinned;
  for (std::uint64_t index = 0; index < 256; ++index) ASSERT_TRUE(pages_.map(*file, index, pinned)) << index;
  EXPECT_EQ(pages_.report().pins, 256u);
  EXPECT_EQ(pages_.report().folios, 64u);

  const RequestHandler handler(*docroot_, {});
  WorkerState state;
  Outgoing out(pages_);
  Request request;
  request.method = Method::kGet;
  request.target = "/g";
  EXPECT_EQ(handler.answer(request, {.may_wait = true}, state, out), RequestHandler::Then::kAskAgain);
  EXPECT_FALSE(out.active()) << out.head();
  EXPECT_EQ(state.requests.value(), 0u);
  EXPECT_NE(handler.answer(request, {}, state, out), RequestHandler::Then::kAskAgain);
  EXPECT_EQ(out.head().rfind("HTTP/1.1 503 ", 0), 0u) << out.head();
  EXPECT_NE(out.head().find("\r\nRetry-After: 1\r\n"), std::string::npos) << out.head();
  EXPECT_NE(out.head().find("capacity"), std::string::npos) << out.head();

  std::vector<PinnedPage> first(pinned.begin(), pinned.begin() + 8);
  pages_.unpin(first);
  EXPECT_NE(handler.answer(request, {.may_wait = true}, state, out), RequestHandler::Then::kAskAgain);
  EXPECT_EQ(out.head().rfind("HTTP/1.1 200 ", 0), 0u) << out.head();
  EXPECT_TRUE(out.wants_window());
  EXPECT_EQ(pages_.report().pins, 256u) << "8 pages of two folios are mapped, of the 64 that a window has";
  out.reset();
  pinned.erase(pinned.begin(), pinned.begin() + 8);
  pages_.unpin(pinned);
  EXPECT_EQ(pages_.report().pins, 0u);
}

// A file that is asked for all the time, and replaced by another of the same size.
TEST(Pages, what_is_served_is_a_second_behind_the_disk_at_most) {
  const TestServer server;
  Client client(server.port());
  server.folder().write("f", "old");
  ASSERT_EQ(client.get("/f").body, "old");
  server.folder().write("g", "new");
  std::filesystem::rename(server.folder() / "g", server.folder() / "f");
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [start] { return std::chrono::steady_clock::now() - start; };
  std::string body = client.get("/f").body;
  while (body == "old" && passed() < std::chrono::seconds(10)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    body = client.get("/f").body;
  }
  EXPECT_EQ(body, "new");
  EXPECT_LT(passed(), std::chrono::milliseconds(2000));
}

TEST(Pages, largest_capacity_starts_small) {
  const std::uint64_t before = resident_bytes();
  LockClasses classes;
  const PageSource pages(classes, {.folio_order = 0, .capacity = std::uint64_t{1} << 40, .access = Access::kMmap});
  EXPECT_LT(resident_bytes() - before, 8u << 20);
}

TEST(Pages, working_set_larger_than_the_cache) {
  const TestServer server("capacity=1MiB");
  Client client(server.port());
  std::vector<std::string> bodies;
  for (int i = 0; i < 50; ++i) {
    bodies.push_back(std::string(static_cast<std::size_t>(1000 + 3001 * i), static_cast<char>('A' + i)));
    server.folder().write("set/" + std::to_string(i), bodies.back());
  }
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      ASSERT_TRUE(client.get("/set/" + std::to_string(i)).body == bodies[i]) << i;
    }
    ASSERT_TRUE(client.get("/big").body == TestServer::big_file()) << "4 MiB through 1 MiB";
  }
  const auto report = parse_lock_report(client.get("/locks").body);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(report->cache);
  EXPECT_EQ(report->cache->capacity, 64u);
  EXPECT_EQ(report->cache->folio_bytes, 16384u);
  EXPECT_EQ(report->cache->folios, 64u);
  EXPECT_EQ(report->cache->pins, 0u);
  EXPECT_GE(report->cache->reclaims, 4 * 256u);
  EXPECT_LE(report->cache->fills - report->cache->reclaims, 64u);
  EXPECT_EQ(report->cache->failed_fills, 0u);
}

// Opened by a HEAD, then rewritten in place: nothing of the first bytes is in the answer.
TEST(Pages, answer_for_a_file_that_was_rewritten_in_place_since_it_was_opened) {
  const TestServer server;
  Client client(server.port());
  constexpr std::size_t kSize = 600'000;
  for (int i = 0; i < 10; ++i) {
    const std::string name = "f" + std::to_string(i);
    server.folder().write(name, std::string(kSize, 'a'));
    ASSERT_EQ(client.ask("HEAD /" + name + " HTTP/1.1\r\nHost: a\r\n\r\n", true).status, 200);
    {
      std::fstream file(server.folder() / name, std::ios::binary | std::ios::in | std::ios::out);
      file << std::string(kSize, 'b');
    }
    const Answer answer = client.get("/" + name);
    ASSERT_EQ(answer.status, 200);
    ASSERT_TRUE(answer.body == std::string(kSize, 'b')) << i;
  }
}

}  // namespace
}  // namespace convoy
