// http_parser_test.cc — Goal: requests are read the same however their bytes are split, and nothing ambiguous passes.
// Method: each text is given at once, byte by byte, and in two parts split at every offset.
// SPDX-License-Identifier: MIT
#include "server/http_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace convoy {
namespace {

struct Seen {
  std::vector<std::string> targets;
  std::vector<std::string> bodies;
  int error = 0;
  bool last_keeps_alive = false;
};

// Feeds `text` in pieces that end at `cuts`, as a connection does: unconsumed bytes come again with the next piece.
Seen feed(const std::string& text, const std::vector<std::size_t>& cuts) {
  HttpParser parser;
  Seen seen;
  std::string input;
  std::size_t from = 0;
  for (std::size_t cut : cuts) {
    input += text.substr(from, cut - from);
    from = cut;
    for (;;) {
      const auto step = parser.parse(input);
      input.erase(0, step.consumed);
      if (step.outcome == HttpParser::Outcome::kError) {
        seen.error = parser.error().status;
        return seen;
      }
      if (step.outcome == HttpParser::Outcome::kNeedMore) break;
      seen.targets.push_back(parser.request().target);
      seen.bodies.push_back(parser.request().body);
      seen.last_keeps_alive = parser.request().keep_alive;
      if (input.empty()) break;
    }
  }
  return seen;
}

std::vector<std::size_t> every_byte(const std::string& text) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i <= text.size(); ++i) cuts.push_back(i);
  return cuts;
}

int error_of(const std::string& text) {
  const int at_once = feed(text, {text.size()}).error;
  EXPECT_EQ(feed(text, every_byte(text)).error, at_once) << text.substr(0, 200);
  return at_once;
}

TEST(HttpParser, pipelined_pair_at_every_split) {
  const std::string text = "GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::vector<std::string> both{"/a", "/b"};
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const Seen seen = feed(text, {cut, text.size()});
    EXPECT_EQ(seen.targets, both) << "split at " << cut;
    EXPECT_EQ(seen.error, 0);
  }
  EXPECT_EQ(feed(text, every_byte(text)).targets, both);
}

TEST(HttpParser, bodies_at_every_split) {
  const std::string text =
      "PUT /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
      "PUT /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
      "GET /3 HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::vector<std::string> targets{"/1", "/2", "/3"};
  const std::vector<std::string> bodies{"hello", "abcde", ""};
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const Seen seen = feed(text, {cut, text.size()});
    EXPECT_EQ(seen.targets, targets) << "split at " << cut;
    EXPECT_EQ(seen.bodies, bodies) << "split at " << cut;
  }
  EXPECT_EQ(feed(text, every_byte(text)).bodies, bodies);
}

TEST(HttpParser, keep_alive_by_version_and_header) {
  const auto keeps = [](const std::string& text) { return feed(text, {text.size()}).last_keeps_alive; };
  EXPECT_TRUE(keeps("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\nHost: a\r\n\r\n"));
  EXPECT_TRUE(keeps("GET / HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n"));
  EXPECT_TRUE(keeps("GET / HTTP/1.0\r\nHost: a\r\nConnection: x ,\tKEEP-alive\t\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive, close\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1\r\nHost: a\r\nCONNECTION:\tcLoSe\t\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nConnection: keep-alive\r\n\r\n"));
  EXPECT_TRUE(keeps("GET / HTTP/1.1\r\nHost: a\r\nConnection: closed\r\nConnection:\r\n\r\n"));
  EXPECT_TRUE(keeps("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"));
}

TEST(HttpParser, ambiguous_requests_are_refused) {
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n";
  // H7: HTTP/0.9 and bare LF.
  EXPECT_EQ(error_of("GET /x\nHost: a\r\nContent-Length: 5\r\n\r\nhello"), 400);
  EXPECT_EQ(error_of("GET /x HTTP/1.1\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(error_of("GET /x\r\n\r\n"), 400);
  EXPECT_EQ(error_of("GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n"), 400);
  EXPECT_EQ(error_of("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n"), 400);
  // H8: two framings, unknown codings.
  EXPECT_EQ(error_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            400);
  EXPECT_EQ(error_of(get + "Transfer-Encoding: gzip\r\n\r\n"), 501);
  EXPECT_EQ(error_of(get + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 501);
  EXPECT_EQ(error_of(get + "Transfer-Encoding: chunked, gzip\r\n\r\n"), 400);
  EXPECT_EQ(error_of(get + "Transfer-Encoding: chunked, chunked\r\n\r\n"), 400);
  EXPECT_EQ(error_of(get + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(error_of("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
  EXPECT_EQ(error_of(get + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx"), 400);
  for (const std::string value : {"", "+1", "-1", "0x1", "1, 1", "1e3", "18446744073709551616"}) {
    EXPECT_EQ(error_of(get + "Content-Length: " + value + "\r\n\r\n"), 400) << value;
  }
  EXPECT_EQ(error_of(get + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"), 400);
  // Host.
  EXPECT_EQ(error_of("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(error_of("GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"), 400);
  // Header lines.
  EXPECT_EQ(error_of(get + " folded\r\n\r\n"), 400);
  EXPECT_EQ(error_of(get + "Name : value\r\n\r\n"), 400);
  EXPECT_EQ(error_of(get + "no colon\r\n\r\n"), 400);
  EXPECT_EQ(error_of(get + ": empty\r\n\r\n"), 400);
  EXPECT_EQ(error_of(get + std::string("A: b\0c\r\n\r\n", 10)), 400);
  EXPECT_EQ(error_of(get + "A: b\x01\r\n\r\n"), 400);
  EXPECT_EQ(error_of(std::string("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 29)), 400);
  EXPECT_EQ(error_of("\x16\x03\x01"), 400);
}

// What llhttp lets pass in a chunked body, and a proxy in front of us may not.
TEST(HttpParser, chunked_bodies_are_framed_strictly) {
  const std::string put = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string good : {"0\r\n\r\n", "3\r\nabc\r\n0\r\n\r\n", "003\r\nabc\r\n000\r\n\r\n",
                                 "a\r\n0123456789\r\n0\r\n\r\n", "A;name=value\r\n0123456789\r\n0;last\r\n\r\n",
                                 "2\r\n\r\n\r\n0\r\n\r\n", "1\r\nx\r\n0\r\nX-Sum: 1\r\nY:\r\n\r\n"}) {
    const Seen seen = feed(put + good, every_byte(put + good));
    EXPECT_EQ(seen.error, 0) << good;
    EXPECT_EQ(seen.targets.size(), 1u) << good;
  }
  for (const std::string bad :
       {// Where a chunk ends.
        "3\r\nabcde0\r\n\r\n", "3\r\nabc\n0\r\n\r\n", "3\r\nabc\r0\r\n\r\n", "3\r\nabc0\r\n\r\n",
        "3\r\nab\r\n0\r\n\r\n", "3\r\nabc\n\n0\r\n\r\n",
        // Sizes.
        "3\nabc\r\n0\r\n\r\n", "\r\n0\r\n\r\n", "0x3\r\nabc\r\n0\r\n\r\n", "+3\r\nabc\r\n0\r\n\r\n", "-1\r\n",
        " 3\r\nabc\r\n", "3 \r\nabc\r\n", "3\t\r\nabc\r\n", "3,3\r\nabc\r\n", "g\r\n",
        "00000000000000003\r\nabc\r\n0\r\n\r\n",
        // Extensions.
        "3;a\nb\r\nabc\r\n0\r\n\r\n", "3;a\rb\r\nabc\r\n0\r\n\r\n", "3;a\x01\r\nabc\r\n0\r\n\r\n",
        "3;a\n\r\nabc\r\n0\r\n\r\n",
        // The end and what may stand before it.
        "0\r\n\n", "0\n\r\n", "0\r\n\rx", "0\r\nA: b\n\r\n", "0\r\nA: b\r\n c\r\n\r\n", "0\r\nA b\r\n\r\n",
        "0\r\n: b\r\n\r\n", "0\r\nA : b\r\n\r\n", "0\r\nA: b\x01\r\n\r\n", "0\r\nContent-Length: 4\r\n\r\n",
        "0\r\ncontent-length: 4\r\n\r\n", "0\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\nHOST: b\r\n\r\n"}) {
    EXPECT_EQ(error_of(put + bad), 400) << bad;
  }
  // Refused at the size, before a byte of the chunk has come.
  for (const std::string size : {"10001", "fffffff", "7fffffffffffffff", "ffffffffffffffff"}) {
    EXPECT_EQ(error_of(put + size + "\r\n"), 413) << size;
  }
  EXPECT_EQ(error_of(put + "8000\r\n" + std::string(32768, 'x') + "\r\n8001\r\n"), 413);
  EXPECT_EQ(error_of(put + "1;" + std::string(300, 'x')), 431);
  EXPECT_EQ(error_of(put + "0\r\nA: " + std::string(9000, 'x')), 431);
  std::string trailers = put + "0\r\n";
  for (int i = 0; i < 101; ++i) trailers += "A: b\r\n";
  EXPECT_EQ(error_of(trailers), 431);
}

// H8: what stands behind a refused request is never served, however it is split.
TEST(HttpParser, nothing_is_smuggled_behind_a_refused_request) {
  const std::string evil = "GET /evil HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";
  for (const std::string front :
       {"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Content-Length: 0\r\nContent-Length: 34\r\n\r\n", "Content-Length: 0, 34\r\n\r\n",
        "Content-Length: 0\r\n\t34\r\n\r\n", "Content-Length : 34\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n", "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: identity\r\n\r\n", "Transfer-Encoding:\r\n\r\n",
        "Transfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding: chunked,\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding: chunked\x0b\r\n\r\n0\r\n\r\n",
        "X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\n", "Transfer-Encoding: chunked\r\n\r\n1\r\nxyz0\r\n\r\n"}) {
    const std::string text = post + front + evil;
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      const Seen seen = feed(text, {cut, text.size()});
      ASSERT_TRUE(seen.targets.empty()) << front << "split at " << cut;
      ASSERT_TRUE(seen.error == 400 || seen.error == 501) << front << "split at " << cut;
    }
    EXPECT_TRUE(feed(text, every_byte(text)).targets.empty()) << front;
  }
}

TEST(HttpParser, hosts) {
  for (const std::string host : {"", "a", "a:80", "127.0.0.1:8080", "[::1]:80", "a-b.example", "a%20b"}) {
    EXPECT_EQ(error_of("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n"), 0) << host;
  }
  for (const std::string host : {"a b", "a/b", "a@b", "a?b", "a#b", "\"a\"", "a\\b", "<a>", "a\tb", "\xC3\xA9"}) {
    EXPECT_EQ(error_of("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n"), 400) << host;
  }
  EXPECT_EQ(error_of("GET http://a/ HTTP/1.1\r\n\r\n"), 400) << "an absolute target is no Host line";
  EXPECT_EQ(error_of("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
  EXPECT_EQ(error_of("GET / HTTP/1.0\r\n\r\n"), 0);
}

TEST(HttpParser, few_empty_lines_ahead_of_a_request) {
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const auto lines = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "\r\n";
    return text;
  };
  EXPECT_EQ(error_of(lines(16) + get + lines(16) + get), 0);
  EXPECT_EQ(error_of(lines(17) + get), 400);
  EXPECT_EQ(error_of(get + lines(17)), 400);
  EXPECT_EQ(error_of("\n" + get), 400);
  EXPECT_EQ(error_of("\r\r\n" + get), 400);
}

TEST(HttpParser, request_lines_that_are_refused) {
  const std::string end = "\r\nHost: a\r\n\r\n";
  EXPECT_EQ(error_of("GET / HTTP/2.0" + end), 505);
  EXPECT_EQ(error_of("GET / HTTP/1.2" + end), 505);
  EXPECT_EQ(error_of("GET / HTTP/0.9" + end), 505);
  EXPECT_EQ(error_of("GET / HTTP/1.10" + end), 400);
  EXPECT_EQ(error_of("GET / HTTP/1.1 " + end), 400);
  EXPECT_EQ(error_of("GET / HTTP/01.1" + end), 400);
  EXPECT_EQ(error_of("GET / RTSP/1.0" + end), 400);
  EXPECT_EQ(error_of("GET /a b HTTP/1.1" + end), 400);
  EXPECT_EQ(error_of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
  EXPECT_EQ(error_of("GET / HTTP/1" + end), 400);
  EXPECT_EQ(error_of("GET / http/1.1" + end), 400);
  EXPECT_EQ(error_of("GET / HTTP/1.1 x" + end), 400);
  EXPECT_EQ(error_of("GET  / HTTP/1.1" + end), 400);
  EXPECT_EQ(error_of(" GET / HTTP/1.1" + end), 400);
  EXPECT_EQ(error_of("GET\t/\tHTTP/1.1" + end), 400);
  EXPECT_EQ(error_of("G(T / HTTP/1.1" + end), 400);
  EXPECT_EQ(error_of("FOO / HTTP/1.1" + end), 501);
  EXPECT_EQ(error_of("get / HTTP/1.1" + end), 501);
  EXPECT_EQ(error_of("CONNECT a:1 HTTP/1.1" + end), 405);
}

TEST(HttpParser, limits) {
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n";
  EXPECT_EQ(error_of("GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 414);
  EXPECT_EQ(error_of("GET /" + std::string(9000, 'a')), 414) << "before the line is complete";
  EXPECT_EQ(error_of("GET /" + std::string(8000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
  EXPECT_EQ(error_of(get + "A: " + std::string(17000, 'a') + "\r\n\r\n"), 431);
  EXPECT_EQ(error_of(get + "A: " + std::string(17000, 'a')), 431);
  EXPECT_EQ(error_of(get + "A: " + std::string(15000, 'a') + "\r\n\r\n"), 0);
  std::string many = get;
  for (int i = 0; i < 99; ++i) many += "A: b\r\n";
  EXPECT_EQ(error_of(many + "\r\n"), 0);
  EXPECT_EQ(error_of(many + "A: b\r\n\r\n"), 431);
  EXPECT_EQ(error_of(get + "Content-Length: 65537\r\n\r\n"), 413);
  EXPECT_EQ(error_of(get + "Content-Length: 65536\r\n\r\n" + std::string(65536, 'x')), 0);
  EXPECT_EQ(error_of(get + "Transfer-Encoding: chunked\r\n\r\n10001\r\n" + std::string(65537, 'x')), 413);
  std::string dribble = get + "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 30000; ++i) dribble += "1\r\nx\r\n";
  EXPECT_EQ(error_of(dribble), 413) << "many small chunks";
}

TEST(HttpParser, memory_of_a_long_request_is_given_back) {
  HttpParser parser;
  const std::string put = "PUT /" + std::string(4000, 'a') + " HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n" +
                          std::string(60000, 'x');
  ASSERT_EQ(parser.parse(put).outcome, HttpParser::Outcome::kRequest);
  ASSERT_EQ(parser.request().body.size(), 60000u);
  parser.release_memory();
  EXPECT_LE(parser.request().body.capacity(), HttpParser::kKeptBytes);
  EXPECT_LE(parser.request().target.capacity(), HttpParser::kKeptBytes);
  EXPECT_EQ(parser.parse("GET /b HTTP/1.1\r\nHost: a\r\n\r\n").outcome, HttpParser::Outcome::kRequest);
  EXPECT_EQ(parser.request().target, "/b");
}

TEST(HttpParser, continue_is_asked_for_once) {
  HttpParser parser;
  const std::string head = "PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n";
  EXPECT_EQ(parser.parse(head).outcome, HttpParser::Outcome::kNeedMore);
  EXPECT_TRUE(parser.take_continue());
  EXPECT_FALSE(parser.take_continue());
  EXPECT_EQ(parser.parse("x").outcome, HttpParser::Outcome::kRequest);
}

}  // namespace
}  // namespace convoy
