// tally.cc — What is counted in the measured window of a run.
// SPDX-License-Identifier: MIT
#include "loadgen/tally.h"

#include <algorithm>

#include "loadgen/clock.h"

namespace convoy {

void Tally::merge(const Tally& other) {
  started += other.started;
  transactions += other.transactions;
  failed += other.failed;
  in_flight_at_end += other.in_flight_at_end;
  bytes += other.bytes;
  reused_closed += other.reused_closed;
  for (std::size_t i = 0; i < failures.size(); ++i) failures[i] += other.failures[i];
  for (std::size_t i = 0; i < status.size(); ++i) status[i] += other.status[i];
  latency.merge(other.latency);
  failed_latency.merge(other.failed_latency);
  if (timeline.size() < other.timeline.size()) timeline.resize(other.timeline.size());
  for (std::size_t i = 0; i < other.timeline.size(); ++i) {
    timeline[i].transactions += other.timeline[i].transactions;
    timeline[i].errors += other.timeline[i].errors;
  }
  per_user.insert(per_user.end(), other.per_user.begin(), other.per_user.end());
  users_connected += other.users_connected;
  connections_opened += other.connections_opened;
  slow_connects += other.slow_connects;
  answered += other.answered;
  cpu_user_ns += other.cpu_user_ns;
  cpu_sys_ns += other.cpu_sys_ns;
  busiest_thread = std::max(busiest_thread, other.busiest_thread);
}

SecondTally& Tally::second(std::int64_t since_window_start_ns) {
  const auto index = static_cast<std::size_t>(std::max<std::int64_t>(since_window_start_ns, 0) / kNanosPerSecond);
  if (index >= timeline.size()) timeline.resize(index + 1);
  return timeline[index];
}

}  // namespace convoy
