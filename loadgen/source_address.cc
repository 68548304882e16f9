// source_address.cc — Where connections to a server on this machine come from.
// SPDX-License-Identifier: MIT
#include "loadgen/source_address.h"

#include <netinet/in.h>
#include <sys/socket.h>

namespace convoy {
namespace {

constexpr std::uint32_t kAddresses = 254;

bool is_ipv4_loopback(const Address& address) {
  if (address.family() != AF_INET) return false;
  return ntohl(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr.s_addr) >> 24 == 127;
}

}  // namespace

SourceAddresses::SourceAddresses(const Address& server, std::uint32_t start)
    : spread_(is_ipv4_loopback(server)), next_(start % kAddresses) {}

void SourceAddresses::bind_next(int fd) {
  if (!spread_) return;
  sockaddr_in source{};
  source.sin_family = AF_INET;
  source.sin_addr.s_addr = htonl(INADDR_LOOPBACK + next_);
  next_ = (next_ + 1) % kAddresses;
  const int on = 1;
  if (::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on) != 0) return;
  (void)::bind(fd, reinterpret_cast<const sockaddr*>(&source), sizeof source);  // The system chooses, then.
}

}  // namespace convoy
