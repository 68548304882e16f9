// control_client.cc — Single requests to the server outside of the load: its locks, its settings.
// SPDX-License-Identifier: MIT
#include "loadgen/control_client.h"

#include <llhttp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "loadgen/clock.h"
#include "loadgen/fd.h"
#include "loadgen/stop_signal.h"

namespace convoy {
namespace {

constexpr std::size_t kLargestBody = std::size_t{64} << 20;
constexpr std::int64_t kRetryPause = 20 * kNanosPerMilli;

// How long the steps of one request may take.
struct Limit {
  std::int64_t deadline;
  int cancel_fd = -1;  // ppoll skips a descriptor below 0.
};

// Waits until the socket can do `events` or the limit is reached; returns 0 or an errno.
int wait_for(int fd, short events, const Limit& limit) {
  for (;;) {
    const auto left = limit.deadline - now_ns();
    if (left <= 0) return ETIMEDOUT;
    const timespec most{left / kNanosPerSecond, static_cast<long>(left % kNanosPerSecond)};
    std::array<pollfd, 2> waits{{{fd, events, 0}, {limit.cancel_fd, POLLIN, 0}}};
    const int ready = ::ppoll(waits.data(), waits.size(), &most, nullptr);
    if (ready > 0 && waits[1].revents != 0) return ECANCELED;
    if (ready > 0) return 0;
    if (ready < 0 && errno != EINTR) return errno;
  }
}

// Connects within the limit; returns 0 or an errno.
int connect_by(Fd& fd, const Address& address, const Limit& limit) {
  fd.reset(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return errno;
  if (::connect(fd.get(), address.get(), address.size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (const int error = wait_for(fd.get(), POLLOUT, limit); error != 0) return error;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

int send_by(int fd, std::string_view bytes, const Limit& limit) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      return errno;
    } else if (const int error = wait_for(fd, POLLOUT, limit); error != 0) {
      return error;
    }
  }
  return 0;
}

// Collects one answer.
struct Collector {
  Collector() {
    llhttp_settings_init(&settings);
    settings.on_body = [](llhttp_t* p, const char* bytes, std::size_t size) {
      auto& self = *static_cast<Collector*>(p->data);
      if (self.answer.body.size() + size > kLargestBody) return -1;
      self.answer.body.append(bytes, size);
      return 0;
    };
    settings.on_message_complete = [](llhttp_t* p) {
      if (llhttp_get_status_code(p) / 100 == 1) return 0;
      static_cast<Collector*>(p->data)->complete = true;
      return static_cast<int>(HPE_PAUSED);
    };
    llhttp_init(&parser, HTTP_RESPONSE, &settings);
    parser.data = this;
  }

  llhttp_settings_t settings;
  llhttp_t parser;
  bool complete = false;
  ControlAnswer answer;
};

// Reads one answer; an errno says what prevented it (EPROTO: it is none).
int receive_by(int fd, Collector& collector, const Limit& limit) {
  std::array<char, 16384> buffer;
  while (!collector.complete) {
    if (const int error = wait_for(fd, POLLIN, limit); error != 0) return error;
    const auto size = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (size < 0) return errno;
    const auto error = size == 0 ? llhttp_finish(&collector.parser)
                                 : llhttp_execute(&collector.parser, buffer.data(), static_cast<std::size_t>(size));
    if (!collector.complete && (size == 0 || error != HPE_OK)) return EPROTO;
  }
  collector.answer.status = llhttp_get_status_code(&collector.parser);
  return 0;
}

}  // namespace

Result<void> wait_until_reachable(const Url& origin, const Address& address, std::int64_t patience_ns) {
  const auto start = now_ns();
  for (;;) {
    Fd fd;
    const int error = connect_by(fd, address, {now_ns() + kNanosPerSecond});
    if (error == 0) return {};
    if (error != ECONNREFUSED || now_ns() - start >= patience_ns || stop_signal::received() != 0) {
      return fail("cannot connect to {}:{}: {}", origin.host, origin.port, std::strerror(error));
    }
    stop_signal::wait_ns(kRetryPause);
  }
}

Result<ControlAnswer> control_request(const Url& origin, const Address& address, std::string_view method,
                                      std::string_view path, std::string_view body, std::int64_t timeout_ns,
                                      int cancel_fd) {
  const Limit limit{now_ns() + timeout_ns, cancel_fd};
  std::string request =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", method, path, host_header(origin));
  if (method != "GET") request += fmt::format("Content-Length: {}\r\n", body.size());
  request += "\r\n";
  request += body;
  Fd fd;
  Collector collector;
  int error = connect_by(fd, address, limit);
  if (error == 0) error = send_by(fd.get(), request, limit);
  if (error == 0) error = receive_by(fd.get(), collector, limit);
  if (error != 0)
    return fail("{} {} of {}:{} failed: {}", method, path, origin.host, origin.port, std::strerror(error));
  return std::move(collector.answer);
}

}  // namespace convoy
