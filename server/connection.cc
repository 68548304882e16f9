// connection.cc — Receiving and parsing.
// SPDX-License-Identifier: MIT
#include "server/connection.h"

#include <sys/socket.h>

#include <cerrno>
#include <string_view>

namespace convoy {

long Connection::receive() {
  char* room = input.room();
  if (input.room_bytes() == 0) return -1;  // The parser refuses long before; errno does not matter.
  for (;;) {
    const ssize_t n = ::recv(fd, room, input.room_bytes(), MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n > 0) input.received(static_cast<std::size_t>(n));
    return n;
  }
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
