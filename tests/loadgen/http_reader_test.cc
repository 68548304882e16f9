// http_reader_test.cc — Where answers end, however their bytes are cut.
// Method: each answer is fed whole, byte by byte and in two pieces cut at every offset; all must agree.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "loadgen/response_reader.h"

namespace convoy {
namespace {

using State = ResponseReader::State;

// Feeds `pieces` until the reader has decided or nothing is left; then the end of the connection, if `eof`.
State read_all(ResponseReader& reader, const std::vector<std::string_view>& pieces, bool eof) {
  reader.reset();
  State state = State::kMore;
  for (const auto piece : pieces) {
    if (piece.empty()) continue;
    if (state == State::kBad) break;
    if (state == State::kComplete) return State::kBad;  // Bytes behind a complete answer.
    state = reader.feed(piece);
  }
  return state == State::kMore && eof ? reader.end_of_file() : state;
}

struct Expected {
  State state;
  int status = 0;
  std::uint64_t body = 0;
  bool keep_alive = false;
};

void expect_however_cut(const std::string& bytes, const Expected& expected, bool eof = false) {
  ResponseReader reader;
  const auto check = [&](const std::vector<std::string_view>& pieces, std::size_t cut) {
    ASSERT_EQ(read_all(reader, pieces, eof), expected.state) << "cut at " << cut << " of " << bytes;
    if (expected.state != State::kComplete) return;
    EXPECT_EQ(reader.status(), expected.status) << "cut at " << cut;
    EXPECT_EQ(reader.body_bytes(), expected.body) << "cut at " << cut;
    EXPECT_EQ(reader.keep_alive(), expected.keep_alive) << "cut at " << cut;
  };
  const std::string_view all = bytes;
  for (std::size_t cut = 0; cut <= all.size(); ++cut) check({all.substr(0, cut), all.substr(cut)}, cut);
  std::vector<std::string_view> single;
  for (std::size_t i = 0; i < all.size(); ++i) single.push_back(all.substr(i, 1));
  check(single, 0);
}

TEST(HttpReader, content_length) {
  expect_however_cut("HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n\r\nhello",
                     {State::kComplete, 200, 5, true});
  expect_however_cut("HTTP/1.1 404 Not Found\r\ncontent-length:0\r\n\r\n", {State::kComplete, 404, 0, true});
  expect_however_cut("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
                     {State::kComplete, 200, 5, false});
  expect_however_cut("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", {State::kComplete, 200, 5, false});
  expect_however_cut("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello",
                     {State::kComplete, 200, 5, true});
  expect_however_cut("HTTP/1.1 200 OK\r\nConnection: Keep-Alive, X\r\nContent-Length: 5\r\n\r\nhello",
                     {State::kComplete, 200, 5, true});
}

TEST(HttpReader, chunked) {
  expect_however_cut("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\nyou\r\n0\r\n\r\n",
                     {State::kComplete, 200, 8, true});
  expect_however_cut("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n",
                     {State::kComplete, 200, 0, true});
}

TEST(HttpReader, no_body_by_status) {
  expect_however_cut("HTTP/1.1 204 No Content\r\n\r\n", {State::kComplete, 204, 0, true});
  expect_however_cut("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", {State::kComplete, 304, 0, true});
}

TEST(HttpReader, informational_answers_are_passed) {
  expect_however_cut("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                     {State::kComplete, 200, 2, true});
}

TEST(HttpReader, the_end_of_the_connection_ends_a_body_without_length) {
  expect_however_cut("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nwhatever", {State::kComplete, 200, 8, false}, true);
  expect_however_cut("HTTP/1.0 200 OK\r\n\r\n", {State::kComplete, 200, 0, false}, true);
}

TEST(HttpReader, cut_short) {
  expect_however_cut("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", {State::kShort}, true);
  expect_however_cut("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", {State::kShort}, true);
  expect_however_cut("HTTP/1.1 200 OK\r\nContent-Le", {State::kShort}, true);
}

TEST(HttpReader, bytes_behind_the_answer) {
  expect_however_cut("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloo", {State::kBad});
  expect_however_cut("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nx", {State::kBad});
}

TEST(HttpReader, no_http) {
  expect_however_cut("SSH-2.0-OpenSSH_9.2\r\n\r\n", {State::kBad});
  expect_however_cut(std::string("\0\1\2\3garbage", 11), {State::kBad});
  expect_however_cut("HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\nhello", {State::kBad});
  expect_however_cut("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", {State::kBad});
  expect_however_cut("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n", {State::kBad});
}

}  // namespace
}  // namespace convoy
