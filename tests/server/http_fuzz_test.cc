// http_fuzz_test.cc — Goal: however a request is mutilated, the parser accepts nothing that a strict reading refuses.
// Method: 100,000 seeded mutations of valid requests in random splits, each held against StrictReader.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "server/http_parser.h"
#include "tests/server/strict_http.h"

namespace convoy {
namespace {

using testing::StrictReader;
using testing::StrictRequest;

constexpr std::uint64_t kSeed = 20261130;
constexpr int kTrials = 100'000;

const std::vector<std::string> kValid = {
    "GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
    "GET /b?x=1 HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n",
    "HEAD /c HTTP/1.1\r\nHOST:\tlocalhost:8080 \r\nConnection: x , close\r\nAccept: */*\r\n\r\n",
    "\r\nGET http://a/d HTTP/1.1\r\nHost: [::1]:80\r\nUser-Agent: a b (c; d)\r\nCookie: \xC3\xA9=1\r\n\r\n",
    "PUT /e HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    "POST /f HTTP/1.1\r\ncontent-length: 0\r\nHost: a\r\n\r\n",
    "PUT /g HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "PUT /h HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\nA;n=v\r\n0123456789\r\n1\r\n\n\r\n000\r\n\r\n",
    "PUT /i HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n\r\n\r\n0\r\nX-Sum: 1\r\nY:\r\n\r\n",
    "PUT /j HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n\r\n",
};

// What mutations insert: the pieces that framing is made of.
const std::vector<std::string> kPieces = {
    "\r\n",
    "\n",
    "\r",
    std::string(1, '\0'),
    " ",
    "\t",
    ":",
    ",",
    ";",
    "0",
    "5",
    "-1",
    "+",
    "0x5",
    "ffffffffffffffff",
    "\r\n\r\n",
    "\n\n",
    "\x7f",
    "\x80",
    "\xff",
    "Content-Length: 5\r\n",
    "Content-Length:\t3\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: gzip, chunked\r\n",
    "chunked",
    ", chunked",
    "identity",
    "Connection: close\r\n",
    "Connection: keep-alive\r\n",
    "Host: b\r\n",
    "Host\r\n",
    " folded\r\n",
    "HTTP/1.1",
    "HTTP/1.0",
    "HTTP/0.9",
    "HTTP/2.0",
    "GET /evil HTTP/1.1\r\nHost: a\r\n\r\n",
    "0\r\n\r\n",
    "5\r\nhello\r\n",
    "X: y\r\n",
    "Upgrade: h2c\r\nConnection: upgrade\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
};

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return random_() % bound; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[below(all.size())];
  }

  // One to three valid requests in a row.
  std::string valid() {
    std::string text;
    for (std::size_t i = 0, count = 1 + below(3); i < count; ++i) text += one_of(kValid);
    return text;
  }

  void mutate(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min(below(12), text.size() - at);
    switch (below(7)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random_());
        break;
      case 1:
        text.insert(at, one_of(kPieces));
        break;
      case 2:
        text.replace(at, length, one_of(kPieces));
        break;
      case 3:
        text.erase(at, length);
        break;
      case 4:
        text.insert(at, text.substr(below(text.size() + 1), below(40)));
        break;
      case 5:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ 0x20);
        break;
      case 6:
        text.resize(at);
        break;
    }
  }

  // The ends of the pieces that `size` bytes come in.
  std::vector<std::size_t> cuts(std::size_t size) {
    std::vector<std::size_t> ends;
    if (below(8) == 0) {
      for (std::size_t end = 1; end < size; ++end) ends.push_back(end);
    } else {
      for (std::size_t i = below(5); i > 0; --i) ends.push_back(below(size + 1));
      std::sort(ends.begin(), ends.end());
    }
    ends.push_back(size);
    return ends;
  }

 private:
  std::mt19937_64 random_;
};

struct Parsed {
  std::vector<StrictRequest> requests;
  int error = 0;
  bool operator==(const Parsed& other) const { return requests == other.requests && error == other.error; }
};

// What the parser makes of `text` when it comes in pieces that end at `cuts`.
Parsed parse(const std::string& text, const std::vector<std::size_t>& cuts) {
  HttpParser parser;
  Parsed parsed;
  std::string input;
  std::size_t from = 0, consumed = 0, begin = 0;
  for (const std::size_t cut : cuts) {
    input.append(text, from, cut - from);
    from = cut;
    while (!input.empty()) {
      const auto step = parser.parse(input);
      EXPECT_LE(step.consumed, input.size());
      input.erase(0, step.consumed);
      consumed += step.consumed;
      if (step.outcome == HttpParser::Outcome::kError) {
        parsed.error = parser.error().status;
        return parsed;
      }
      if (step.outcome == HttpParser::Outcome::kNeedMore) break;
      const Request& request = parser.request();
      parsed.requests.push_back({request.target, request.body, request.keep_alive, consumed - begin});
      begin = consumed;
      parser.release_memory();
    }
  }
  return parsed;
}

// A text on one line.
std::string shown(std::string_view text) {
  std::string line;
  for (const char c : text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 32 && byte < 127) {
      line += c;
    } else {
      (line += "\\x") += {kHex[byte / 16], kHex[byte % 16]};
    }
  }
  return line;
}

// Fails unless each accepted request is one for the strict reading too, of the same target, body and length.
void expect_strict(const std::string& text, const Parsed& parsed) {
  std::string_view rest = text;
  for (const StrictRequest& request : parsed.requests) {
    const auto strict = StrictReader::read(rest);
    ASSERT_TRUE(strict) << "accepted " << request.target << " of " << shown(text);
    ASSERT_EQ(strict->target, request.target) << shown(text);
    ASSERT_EQ(strict->body, request.body) << shown(text);
    ASSERT_EQ(strict->keep_alive, request.keep_alive) << shown(text);
    ASSERT_EQ(strict->size, request.size) << shown(text);
    rest.remove_prefix(strict->size);
  }
}

TEST(HttpFuzz, valid_requests_are_accepted_in_any_split) {
  Mutator mutator(kSeed);
  for (int trial = 0; trial < 5000; ++trial) {
    const std::string text = mutator.valid();
    const Parsed parsed = parse(text, mutator.cuts(text.size()));
    ASSERT_EQ(parsed.error, 0) << shown(text);
    std::size_t size = 0;
    for (const StrictRequest& request : parsed.requests) size += request.size;
    ASSERT_EQ(size, text.size()) << shown(text);
    ASSERT_NO_FATAL_FAILURE(expect_strict(text, parsed));
  }
}

TEST(HttpFuzz, mutations_are_read_strictly_and_alike_in_any_split) {
  RecordProperty("seed", std::to_string(kSeed));
  Mutator mutator(kSeed + 1);
  int accepted = 0, refused = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::string text = mutator.valid();
    for (std::size_t i = 1 + mutator.below(4); i > 0; --i) mutator.mutate(text);
    const Parsed at_once = parse(text, {text.size()});
    ASSERT_NO_FATAL_FAILURE(expect_strict(text, at_once)) << "seed " << kSeed << ", trial " << trial;
    const Parsed split = parse(text, mutator.cuts(text.size()));
    ASSERT_TRUE(split == at_once) << "seed " << kSeed << ", trial " << trial << ": errors " << at_once.error << " and "
                                  << split.error << " of " << shown(text);
    accepted += at_once.requests.empty() ? 0 : 1;
    refused += at_once.error != 0 ? 1 : 0;
  }
  // Mutations that all passed, or all failed, would say little.
  EXPECT_GT(accepted, kTrials / 10);
  EXPECT_GT(refused, kTrials / 10);
}

}  // namespace
}  // namespace convoy
