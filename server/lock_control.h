// lock_control.h — The seam between the server and its lock classes: their knobs, their report, their worker hooks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/lock_report.h"
#include "common/result.h"
#include "common/settings.h"
#include "server/config.h"
#include "server/worker_pool.h"

namespace convoy {

class LockControl {
 public:
  // Adds the knobs of the lock classes to the settings. `this` outlives them.
  void add_settings(Settings& settings);

  // Brings `config` into force: once before the threads start, and after each live change. Under the control lock.
  Result<void> apply(const ServerConfig& config);

  // Called first by each worker: tells the lock world whom to ask when the thread parks.
  void worker_started(const WorkerHooks& hooks);

  // The lock classes by role, as GET /locks shows them. Any thread.
  std::map<std::string, LockClassReport> report() const;

  // The table that --list-policies prints.
  static std::string list_policies();

 private:
  std::string page_policy_ = "bounded";
  std::uint32_t unfairness_ = 5;
};

}  // namespace convoy
