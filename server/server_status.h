// server_status.h — The numbers of a running server, and the page that shows them in Apache's words.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "common/lock_report.h"
#include "common/process_cpu.h"
#include "server/worker_pool.h"

namespace convoy {

struct ServerNumbers {
  std::uint64_t requests = 0;       // answered or being answered, control pages apart
  std::uint64_t bytes = 0;          // of their bodies
  std::uint64_t connections = 0;    // open now
  std::uint64_t accept_errors = 0;  // accepts that failed or had to wait for descriptors
  std::string address;              // HOST:PORT that is listened on
  WorkerPool::Snapshot workers;
  CacheReport cache;
};

// The page /server-status?auto: Apache's keys in Apache's order, "Key: value" lines. As httpd does, ratios are left out
// while their divisor is 0. A busy worker is one that runs a request or sleeps in a lock.
std::string server_status_text(const ServerNumbers& numbers, double uptime_s, const ProcessCpu& cpu);

}  // namespace convoy
