// test_server.h — A server on a free port and clients with plain sockets.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "server/server.h"
#include "tests/server/temp_folder.h"

namespace convoy {

// One answer as it came.
struct Answer {
  int status = 0;  // 0: the connection ended before a whole head came
  std::string head;
  std::string body;

  // The value of a header line, "" when there is none. `name` in small letters.
  std::string field(std::string_view name) const;
};

// A blocking client. Waits at most 20 s for anything.
class Client {
 public:
  explicit Client(std::uint16_t port);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::string_view bytes);
  // Reads one answer; a `head_only` one has no body whatever its Content-Length says.
  Answer read(bool head_only = false);
  // Sends and reads.
  Answer ask(std::string_view bytes, bool head_only = false);
  Answer get(std::string_view target, std::string_view more = {});
  // Reads what comes until the server closes; "<reset>" at the end when it does so with a reset.
  std::string read_to_end();
  // Reads one answer; what came of it when the server closes before its end, by a reset too.
  std::string read_answer_or_end();
  // True once the server has closed or reset; bytes that came before count as not closed. Does not wait.
  bool is_closed() const;
  // Says that no more will be sent.
  void finish_sending();
  // Closes with a reset.
  void reset();
  int fd() const { return fd_; }

 private:
  bool receive_more();
  int fd_ = -1;
  std::string input_;
};

// Serves `folder()`: hot.bin (12,288 bytes), a ("A"), b ("BB"), empty, big (4 MiB), index.html.
class TestServer {
 public:
  // `settings`: "NAME=VALUE NAME=VALUE", over 16 workers and this folder.
  explicit TestServer(const std::string& settings = "");

  Server& server() { return *server_; }
  std::uint16_t port() const { return server_->port(); }
  const TempFolder& folder() const { return folder_; }
  // A fresh connection and one GET.
  Answer get(std::string_view target) const;
  // A number of /server-status?auto.
  std::uint64_t status(const std::string& key) const;
  std::uint64_t accesses() const { return status("Total Accesses"); }
  // Pages that are pinned; the answer that says so pins none.
  std::uint64_t pins() const;
  // Waits until no connection but the one that asks is open, and no page is pinned; false after 10 s.
  bool becomes_idle() const;

  static std::string big_file();

 private:
  TempFolder folder_;
  std::unique_ptr<Server> server_;
};

}  // namespace convoy
