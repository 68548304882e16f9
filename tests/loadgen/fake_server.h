// fake_server.h — A small HTTP server of threads that behaves, or misbehaves, as a test says.
// SPDX-License-Identifier: MIT
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace convoy::testing {

// One request as the server has read it.
struct FakeRequest {
  int fd = -1;
  std::string method;
  std::string path;
  std::string head;  // With the body behind it, if there is one.
  std::string body;
  int connection = 0;  // Number of the connection, from 1, those of control requests apart.
  int number = 0;      // Number of the request on its connection, from 1.
};

inline void send_text(int fd, const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const auto n = ::send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

inline std::string answer_text(int status, const std::string& body, const std::string& more = "") {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\nServer: fake\r\n" + more +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Serves each connection with a thread of its own. Requests to /locks and /config are control requests: not counted,
// and answered by `control` (404 without one).
class FakeServer {
 public:
  using Handler = std::function<bool(const FakeRequest&)>;  // Sends the answer; false closes the connection.

  explicit FakeServer(Handler handler, Handler control = nullptr)
      : handler_(std::move(handler)), control_(std::move(control)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 1024) != 0)
      std::abort();
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;
  ~FakeServer() { stop(); }

  // Closes the port and all connections, at once; the threads end.
  void stop() {
    if (stopped_.exchange(true)) return;
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    {
      const std::lock_guard lock(mutex_);
      for (auto& client : clients_) ::shutdown(client.fd, SHUT_RDWR);
    }
    for (auto& client : clients_) client.thread.join();
    for (auto& client : clients_) ::close(client.fd);
  }

  std::uint16_t port() const { return port_; }
  std::string url(const std::string& path = "/") const { return "http://127.0.0.1:" + std::to_string(port_) + path; }
  std::uint64_t requests() const { return requests_.load(); }
  std::vector<std::string> paths() const {
    const std::lock_guard lock(mutex_);
    return paths_;
  }

 private:
  struct Client {
    int fd = -1;
    std::thread thread;
  };

  void accept_all() {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) {
        if (stopped_) return;
        continue;
      }
      const std::lock_guard lock(mutex_);
      clients_.push_back({fd, {}});
      clients_.back().thread = std::thread([this, fd] { serve(fd); });
    }
  }

  void serve(int fd) {
    FakeRequest request;
    request.fd = fd;
    std::string input;
    char buffer[4096];
    for (;;) {
      std::size_t end = input.find("\r\n\r\n");
      while (end == std::string::npos) {
        const auto size = ::recv(fd, buffer, sizeof buffer, 0);
        if (size <= 0) return hang_up(fd);
        input.append(buffer, static_cast<std::size_t>(size));
        end = input.find("\r\n\r\n");
      }
      request.head = input.substr(0, end + 4);
      input.erase(0, end + 4);
      const auto space = request.head.find(' ');
      request.method = request.head.substr(0, space);
      request.path = request.head.substr(space + 1, request.head.find(' ', space + 1) - space - 1);
      const auto length = request.head.find("Content-Length: ");
      const std::size_t body_size = length == std::string::npos ? 0 : std::stoul(request.head.substr(length + 16));
      while (input.size() < body_size) {
        const auto size = ::recv(fd, buffer, sizeof buffer, 0);
        if (size <= 0) return hang_up(fd);
        input.append(buffer, static_cast<std::size_t>(size));
      }
      request.body = input.substr(0, body_size);
      input.erase(0, body_size);
      if (!handle(request)) return hang_up(fd);
    }
  }

  bool handle(FakeRequest& request) {
    if (request.path == "/locks" || request.path.rfind("/config", 0) == 0) {
      if (control_) return control_(request);
      send_text(request.fd, answer_text(404, "no"));
      return true;
    }
    if (request.number == 0) request.connection = ++connections_;
    ++request.number;
    ++requests_;
    {
      const std::lock_guard lock(mutex_);
      if (paths_.size() < 10'000) paths_.push_back(request.path);
    }
    return handler_(request);
  }

  // The descriptor stays open, so that stop() cannot hit another one; the peer sees the end.
  static void hang_up(int fd) { ::shutdown(fd, SHUT_RDWR); }

  Handler handler_;
  Handler control_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopped_{false};
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<int> connections_{0};
  mutable std::mutex mutex_;
  std::list<Client> clients_;       // mutex_ protects.
  std::vector<std::string> paths_;  // mutex_ protects.
  std::thread acceptor_;
};

// Answers every request with a body of `size` bytes.
inline FakeServer::Handler well_behaved(std::size_t size = 100) {
  const std::string text = answer_text(200, std::string(size, 'x'));
  return [text](const FakeRequest& request) {
    send_text(request.fd, text);
    return true;
  };
}

}  // namespace convoy::testing
