// connection.cc — Receiving and parsing.
// SPDX-License-Identifier: MIT
#include "server/connection.h"

#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <string_view>

namespace convoy {
namespace {

// What one receive may bring to a connection that has no bytes yet; a body of 64 KiB then takes few of them.
constexpr std::size_t kReceiveBytes = 16 * 1024;
constexpr std::size_t kKeptHeadBytes = 512;  // the head of a file's answer has 200 to 300
static_assert(kReceiveBytes <= InputBuffer::kMaxBytes);

// Receives once. Returns as recv does, a signal apart.
long receive_into(int fd, char* room, std::size_t bytes) {
  for (;;) {
    const ssize_t n = ::recv(fd, room, bytes, MSG_DONTWAIT);
    if (n >= 0 || errno != EINTR) return n;
  }
}

}  // namespace

long Connection::receive() {
  if (input.empty()) {
    char bytes[kReceiveBytes];
    const long n = receive_into(fd, bytes, sizeof bytes);
    if (n > 0) input.assign({bytes, static_cast<std::size_t>(n)});
    return n;
  }
  char* room = input.room();
  if (input.room_bytes() == 0) return -1;  // The parser refuses long before; errno does not matter.
  const long n = receive_into(fd, room, input.room_bytes());
  if (n > 0) input.received(static_cast<std::size_t>(n));
  return n;
}

void Connection::release_memory() {
  input.release_memory();
  parser.release_memory();
  // A control page is sent from here, and may have been long.
  if (out.head().capacity() > kKeptHeadBytes) std::string().swap(out.head());
}

void Connection::parse() {
  if (input.empty()) {
    outcome = HttpParser::Outcome::kNeedMore;
    return;
  }
  const auto step = parser.parse(input.view());
  input.consume(step.consumed);
  outcome = step.outcome;
  if (outcome == HttpParser::Outcome::kNeedMore && parser.take_continue()) {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    // A socket that has no room for 25 bytes gets none: the client then sends its body without them.
    (void)!::send(fd, kContinue.data(), kContinue.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

void Connection::start_lingering() {
  ::shutdown(fd, SHUT_WR);
  out.reset();
  phase = Phase::kLingering;
}

}  // namespace convoy
