// control.h — The control pages: /locks, /server-status, /config.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "common/settings.h"
#include "server/config.h"
#include "server/http_parser.h"
#include "server/lock_control.h"
#include "server/response.h"
#include "server/server_status.h"

namespace convoy {

// Everything that settings are bound to. Stays where it is: the settings point into it.
struct ServerSetup {
  ServerSetup() { locks.add_settings(settings); }
  ServerSetup(const ServerSetup&) = delete;
  ServerSetup& operator=(const ServerSetup&) = delete;

  ServerConfig config;
  LockControl locks;
  Settings settings = Settings::of(config);
};

// Thread-safe: one lock, the control lock, guards the settings. Their requests run on workers like any other.
class Control {
 public:
  Control(ServerSetup& setup, std::function<ServerNumbers()> numbers);

  // The answer to a request to a control page; nothing for other paths. `path` is the decoded path without the first
  // slash, `worker` the one that runs it, inside its region.
  std::optional<TextAnswer> answer(const Request& request, std::string_view path, std::uint32_t worker);

 private:
  TextAnswer show_locks();
  TextAnswer show_status(const Request& request);
  TextAnswer show_config();
  TextAnswer show_setting(std::string_view name);
  TextAnswer change_setting(std::string_view name, std::string_view body, std::uint32_t worker);
  TextAnswer swap_page_lock(const std::string& from, const std::string& to, double asked_s, std::uint32_t worker);
  double now_s() const;

  ServerSetup& setup_;
  const std::function<ServerNumbers()> numbers_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  // protects setup_; never held across a wait for regions
};

}  // namespace convoy
