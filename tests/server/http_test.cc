// http_test.cc — Goal: what clients see over a socket: persistence, order, refusals, and a server that lives on.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/server/test_server.h"

namespace convoy {
namespace {

TEST(Http, file_with_its_headers) {
  const TestServer server;
  const Answer answer = server.get("/hot.bin?query=1");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, std::string(12288, 'h'));
  EXPECT_EQ(answer.field("content-length"), "12288");
  EXPECT_EQ(answer.field("content-type"), "application/octet-stream");
  EXPECT_EQ(answer.field("server"), "Convoy/0.1.0");
  EXPECT_EQ(answer.field("date").size(), 29u);
  EXPECT_EQ(answer.field("last-modified").size(), 29u);
  EXPECT_EQ(answer.field("connection"), "");
  EXPECT_EQ(server.get("/empty").status, 200);
  EXPECT_EQ(server.get("/empty").field("content-length"), "0");
  EXPECT_EQ(server.get("http://a/a").body, "A");
  EXPECT_EQ(server.get("/").body, "<p>index");
}

// H1: HTTP/1.0 with keep-alive is told so, and the socket stays open.
TEST(Http, keep_alive_of_http_1_0) {
  const TestServer server;
  for (const std::string line : {"Connection: Keep-Alive", "connection:keep-alive", "CONNECTION:\tKEEP-ALIVE\t",
                                 "Connection: x, keep-alive", "Connection: keep-alive\r\nKeep-Alive: timeout=5"}) {
    Client client(server.port());
    for (int i = 0; i < 3; ++i) {
      const Answer answer = client.ask("GET / HTTP/1.0\r\nHost: a\r\n" + line + "\r\n\r\n");
      EXPECT_EQ(answer.status, 200) << line;
      EXPECT_EQ(answer.field("connection"), "keep-alive") << line;
      EXPECT_EQ(answer.field("content-length"), "8") << line;
    }
    EXPECT_FALSE(client.is_closed()) << line;
  }
  // Refusals of the handler keep it open, too; the last request of the connection says so.
  Client client(server.port());
  EXPECT_EQ(client.ask("GET /none HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").field("connection"), "keep-alive");
  EXPECT_EQ(client.ask("GET /a HTTP/1.0\r\n\r\n").field("connection"), "close");
  EXPECT_EQ(client.read_to_end(), "");
}

TEST(Http, pair_of_http_1_0_at_every_split) {
  const TestServer server;
  const std::string one = "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
  for (std::size_t cut = 0; cut <= 2 * one.size(); ++cut) {
    Client client(server.port());
    client.send((one + one).substr(0, cut));
    const bool first_is_complete = cut >= one.size();
    if (first_is_complete) {
      EXPECT_EQ(client.read().field("connection"), "keep-alive");
    }
    client.send((one + one).substr(cut));
    for (int left = first_is_complete ? 1 : 2; left > 0; --left) EXPECT_EQ(client.read().body, "A") << cut;
  }
}

// H2: HTTP/1.0 without it closes at once.
TEST(Http, http_1_0_closes) {
  const TestServer server;
  for (const std::string lines : {"", "Host: a\r\n", "Connection: close\r\n", "Connection: keep-alive, close\r\n",
                                  "Keep-Alive: timeout=5\r\n", "Connection: upgrade\r\nUpgrade: h2c\r\n"}) {
    Client client(server.port());
    const auto start = std::chrono::steady_clock::now();
    const Answer answer = client.ask("GET /a HTTP/1.0\r\n" + lines + "\r\n");
    EXPECT_EQ(answer.field("connection"), "close") << lines;
    EXPECT_EQ(answer.body, "A") << lines;
    EXPECT_EQ(client.read_to_end(), "") << lines;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1)) << lines;
  }
}

// H4: a pipelined pair, split at every offset.
TEST(Http, pipelined_pair_at_every_split) {
  const TestServer server;
  const std::string pair = "GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n";
  for (std::size_t cut = 0; cut <= pair.size(); ++cut) {
    Client client(server.port());
    client.send(pair.substr(0, cut));
    // What is complete before the cut is answered before the rest is sent, so the cut is one for the server too.
    const bool first_is_complete = cut >= pair.size() / 2;
    std::string first;
    if (first_is_complete) first = client.read().body;
    client.send(pair.substr(cut));
    if (!first_is_complete) first = client.read().body;
    EXPECT_EQ(first, "A") << "split at " << cut;
    EXPECT_EQ(client.read().body, "BB") << "split at " << cut;
  }
  EXPECT_EQ(server.accesses(), 2 * (pair.size() + 1));
}

// H6: what follows `Connection: close` is neither run nor counted, and no reset loses the answer.
TEST(Http, nothing_after_close) {
  const TestServer server;
  const std::vector<std::string> last = {
      "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
      "GET /a HTTP/1.1\r\nHost: x\r\ncONNECTION:\tCLOSE\t\r\n\r\n",
      "GET /a HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, close\r\n\r\n",
      "GET /a HTTP/1.1\r\nConnection: close\r\nConnection: keep-alive\r\nHost: x\r\n\r\n",
      "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
      "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
      "GET /a HTTP/1.0\r\n\r\n",
  };
  std::uint64_t asked = 0;
  for (const std::string& request : last) {
    Client client(server.port());
    std::string both = request;
    for (int i = 0; i < 100; ++i) both += "GET /b HTTP/1.1\r\nHost: x\r\n\r\n";
    const Answer answer = client.ask(both);
    EXPECT_EQ(answer.field("connection"), "close") << request;
    EXPECT_EQ(answer.body, "A") << request;
    client.send("GET /b HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(client.read_to_end(), "") << request;
    EXPECT_EQ(server.accesses(), ++asked) << request;
  }
}

// H11: HEAD has the headers of GET and no body; the next answer parses cleanly.
TEST(Http, head_then_get) {
  const TestServer server;
  Client client(server.port());
  for (const std::string target : {"/hot.bin", "/none", "/", "/../x", "/server-status?auto"}) {
    const Answer head = client.ask("HEAD " + target + " HTTP/1.1\r\nHost: a\r\n\r\n", true);
    const Answer get = client.get(target);
    EXPECT_EQ(head.status, get.status) << target;
    if (target == "/server-status?auto") continue;  // Its length moves.
    EXPECT_EQ(head.head, get.head) << target;
  }
  EXPECT_EQ(client.get("/a").body, "A");
}

TEST(Http, refusals_close_and_the_server_lives_on) {
  const TestServer server;
  struct Case {
    std::string text;
    int status;
  };
  const std::vector<Case> cases = {
      {"GET /x\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 400},
      {"GET /x HTTP/1.1\nHost: a\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
       "GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
       400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505},
      {"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
      {"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: br\r\n\r\n", 501},
      {"GET /" + std::string(20000, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(100000, 'x') + "\r\n\r\n", 431},
      {"PUT /config/workers HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n", 413},
      // H8 and its kin, each with a request behind it that must not be served.
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\nGET /a HTTP/1.1\r\nHost: "
       "a\r\n\r\n",
       400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxyz0\r\n\r\nGET /a HTTP/1.1\r\nHost: "
       "a\r\n\r\n",
       400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n",
       400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 3\r\n\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n",
       400},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n folded\r\n\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"\x16\x03\x01\x02", 400},
      {std::string("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 29), 400},
  };
  for (const Case& one : cases) {
    Client client(server.port());
    const Answer answer = client.ask(one.text);
    EXPECT_EQ(answer.status, one.status) << one.text.substr(0, 60);
    EXPECT_EQ(answer.field("connection"), "close");
    EXPECT_EQ(client.read_to_end(), "") << one.text.substr(0, 60);
    EXPECT_EQ(server.get("/a").body, "A");
  }
  EXPECT_EQ(server.accesses(), 2 * cases.size()) << "the refusal and our own request, nothing in between";
}

TEST(Http, paths_and_methods) {
  const TestServer server;
  EXPECT_EQ(server.get("/%2e%2e/secret").status, 400);
  EXPECT_EQ(server.get("/a%2fb").status, 400);
  EXPECT_EQ(server.get("/a%00").status, 400);
  EXPECT_EQ(server.get("/%zz").status, 400);
  EXPECT_EQ(server.get("/none").status, 404);
  EXPECT_EQ(server.get("/x/../a").body, "A");
  Client client(server.port());
  const Answer post = client.ask("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(post.field("allow"), "GET, HEAD");
  EXPECT_EQ(client.get("/a").body, "A") << "the body was read, the connection goes on";
}

// 24 MiB are more than the buffers of both sockets hold: the rest waits in the loop, in order.
TEST(Http, slow_reader_gets_all_in_order) {
  const TestServer server("workers=2");
  Client client(server.port());
  std::string requests;
  for (int i = 0; i < 6; ++i) requests += "GET /big HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n";
  client.send(requests);
  // Both workers are free for others although this client has read nothing yet.
  EXPECT_EQ(server.get("/a").body, "A");
  const std::string big = TestServer::big_file();
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(client.read().body == big) << "answer " << i;
    ASSERT_EQ(client.read().body, "BB");
  }
}

// Clients that leave in the middle of an answer leave nothing behind.
TEST(Http, clients_that_leave) {
  const TestServer server;
  for (int i = 0; i < 30; ++i) {
    Client client(server.port());
    client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\nGET /big HTTP/1.1\r\nHost: a\r\n\r\n");
    if (i % 2 == 0) client.read();
  }
  EXPECT_EQ(server.get("/a").body, "A");
}

// A file that is cut short between opening and reading is served as it is now.
TEST(Http, file_that_shrinks_before_its_answer) {
  const TestServer server;
  Client client(server.port());
  EXPECT_EQ(client.ask("HEAD /hot.bin HTTP/1.1\r\nHost: a\r\n\r\n", true).field("content-length"), "12288");
  server.folder().write("hot.bin", "short");
  const Answer answer = client.get("/hot.bin");
  EXPECT_EQ(answer.field("content-length"), "5");
  EXPECT_EQ(answer.body, "short");
}

// One that is cut short while it is sent cannot keep its promise: the connection ends early, which the client can tell.
TEST(Http, file_that_shrinks_during_its_answer) {
  const TestServer server;
  const std::string path = server.folder() / "huge";
  server.folder().write("huge", "");
  std::filesystem::resize_file(path, 256 << 20);
  Client client(server.port());
  client.send("GET /huge HTTP/1.1\r\nHost: a\r\n\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n");
  // Its head is here, so the answer has begun; the sockets hold a few MiB of 256.
  EXPECT_EQ(client.read(true).field("content-length"), std::to_string(256 << 20));
  std::filesystem::resize_file(path, 0);
  EXPECT_LT(client.read_to_end().size(), std::size_t{256} << 20);
  EXPECT_EQ(server.get("/a").body, "A");
}

TEST(Http, three_hundred_clients) {
  const TestServer server("workers=256 io-threads=2");
  constexpr int kClients = 300;
  constexpr int kRequests = 20;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < kClients; ++i) clients.push_back(std::make_unique<Client>(server.port()));
  int good = 0;
  for (int round = 0; round < kRequests; ++round) {
    for (auto& client : clients) client->send("GET /hot.bin HTTP/1.1\r\nHost: a\r\n\r\n");
    for (auto& client : clients) good += client->read().body.size() == 12288u ? 1 : 0;
  }
  EXPECT_EQ(good, kClients * kRequests);
  EXPECT_EQ(server.accesses(), static_cast<std::uint64_t>(kClients) * kRequests);
}

}  // namespace
}  // namespace convoy
