// stop_signal.cc — SIGINT and SIGTERM as a flag and a descriptor to wait on.
// SPDX-License-Identifier: MIT
#include "loadgen/stop_signal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace convoy::stop_signal {
namespace {

std::atomic<int> g_signal{0};
std::atomic<int> g_descriptor{-1};

void handle(int signal) {
  const int saved = errno;
  if (g_signal.exchange(signal) != 0) ::_exit(128 + signal);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(g_descriptor.load(), &one, sizeof one);
  errno = saved;
}

}  // namespace

void install() {
  if (g_descriptor.load() >= 0) return;
  g_descriptor = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  struct sigaction action {};
  action.sa_handler = handle;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int received() { return g_signal.load(); }

int descriptor() { return g_descriptor.load(); }

int wait_ns(long long ns) {
  if (received() != 0 || ns <= 0) return received();
  const timespec limit{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  pollfd wait{descriptor(), POLLIN, 0};
  ::ppoll(&wait, descriptor() >= 0 ? 1 : 0, &limit, nullptr);
  return received();
}

const std::atomic<int>& flag() { return g_signal; }

void clear() {
  g_signal = 0;
  std::uint64_t drained = 0;
  if (descriptor() >= 0) {
    [[maybe_unused]] const auto bytes = ::read(descriptor(), &drained, sizeof drained);
  }
}

}  // namespace convoy::stop_signal
