// server_status.cc — Apache's keys.
// SPDX-License-Identifier: MIT
#include "server/server_status.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <iterator>

#include "server/http_text.h"

namespace convoy {

std::string server_status_text(const ServerNumbers& numbers, double uptime_s, const ProcessCpu& cpu) {
  std::string text;
  auto end = std::back_inserter(text);
  const double uptime = std::floor(uptime_s);
  const auto requests = static_cast<double>(numbers.requests);
  const auto bytes = static_cast<double>(numbers.bytes);
  fmt::format_to(end, "{}\nServerVersion: {} (Unix)\nServerMPM: event\nCurrentTime: {}\n", numbers.address, kServerName,
                 http_date(std::time(nullptr)));
  fmt::format_to(end, "ServerUptimeSeconds: {:.0f}\nTotal Accesses: {}\nTotal kBytes: {}\n", uptime, numbers.requests,
                 numbers.bytes / 1024);
  fmt::format_to(end, "CPUUser: {:.2f}\nCPUSystem: {:.2f}\n", cpu.user_s, cpu.sys_s);
  if (uptime > 0) {
    fmt::format_to(end, "CPULoad: {:.6g}\nUptime: {:.0f}\nReqPerSec: {:.6g}\nBytesPerSec: {:.6g}\n",
                   (cpu.user_s + cpu.sys_s) / uptime * 100, uptime, requests / uptime, bytes / uptime);
  }
  if (numbers.requests > 0) fmt::format_to(end, "BytesPerReq: {:.6g}\n", bytes / requests);
  std::size_t idle = 0;
  std::string scoreboard;
  for (const bool asleep : numbers.workers.idle) {
    idle += asleep ? 1 : 0;
    scoreboard += asleep ? '_' : 'W';
  }
  fmt::format_to(end, "BusyWorkers: {}\nIdleWorkers: {}\nConnsTotal: {}\nAcceptErrors: {}\nScoreboard: {}\n",
                 scoreboard.size() - idle, idle, numbers.connections, numbers.accept_errors, scoreboard);
  return text;
}

}  // namespace convoy
