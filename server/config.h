// config.h — The settings of convoy-server, each described once.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/settings.h"

namespace convoy {

// What the settings allow that is more than a range.
std::vector<std::string> threading_patterns();
std::vector<std::string> threading_patterns_to_come();
// Names of the policies that fit each role (lock_control.cc).
std::vector<std::string> page_policies();
std::vector<std::string> mapping_policies();
std::vector<std::string> lru_policies();
std::vector<std::string> access_kinds();
Result<void> check_resp(std::string_view text);
Result<void> check_cpus(std::string_view text);

struct ServerConfig {
  Endpoint http{"127.0.0.1", 8080, false};
  std::string resp = "off";
  std::string docroot;
  std::string threading = "apache";
  std::uint32_t workers = 256;
  std::optional<std::uint32_t> awake;
  std::uint32_t io_threads = 1;
  std::string cpus = "all";
  std::string page_lock = "bounded";
  std::string mapping_lock = "std-shared-mutex";
  std::string lru_lock = "std-mutex";
  std::uint32_t folio_order = 2;
  std::string access = "mmap";
  Size capacity = kGiB;
  Duration swap_timeout = std::chrono::seconds(2);
  Duration idle_timeout = std::chrono::seconds(60);
  Duration send_timeout = std::chrono::seconds(60);
  std::uint32_t yield_after = 100;
  std::string config;
  bool list_policies = false;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    constexpr auto kStart = When::kStart;
    v("http", c.http, nullptr, kStart, "Where HTTP is served.");
    v("resp", c.resp, Checked{"off", check_resp}, kStart, "Where the Redis protocol is served: not built yet.",
      Also{.value_name = "off"});
    v("docroot", c.docroot, Text{"a folder"}, kStart, "Folder whose files are served.",
      Also{.value_name = "DIR",
           .default_text = "a private folder with hot.html (4 KiB), hot.bin and many/1 to many/1024 (12 KiB each)"});
    v("threading", c.threading, OneOf{threading_patterns, threading_patterns_to_come}, kStart,
      "Who runs a request: apache, a thread of a pool.", Also{.value_name = "PATTERN"});
    v("workers", c.workers, Range{1u, 4096u}, kStart, "Threads that run requests.");
    v("awake", c.awake, Range{0u, 4096u}, kStart,
      "Workers that are awake at most, those that sleep in a lock not counted; 0 = no limit.",
      Also{.default_text = "the cores of this process"});
    v("io-threads", c.io_threads, Range{1u, 64u}, kStart, "Event loops, each a thread.");
    v("cpus", c.cpus, Checked{"all, or processors such as 0 or 0,2-3", check_cpus}, kStart,
      "Processors that the server is pinned to.", Also{.value_name = "LIST"});
    v("page-lock", c.page_lock, OneOf{page_policies}, When::kLive, "Policy of the page lock; see --list-policies.",
      Also{.value_name = "POLICY"});
    v("mapping-lock", c.mapping_lock, OneOf{mapping_policies}, kStart, "Policy of the lock of the page index.",
      Also{.value_name = "POLICY"});
    v("lru-lock", c.lru_lock, OneOf{lru_policies}, kStart, "Policy of the lock of the page lists.",
      Also{.value_name = "POLICY"});
    v("folio-order", c.folio_order, Range{0u, 9u}, kStart, "A folio, the unit of locking, is 2^N pages of 4 KiB.");
    v("access", c.access, OneOf{access_kinds}, kStart,
      "How a request takes pages: mmap, by faults under the page lock, or read, without it.",
      Also{.value_name = "KIND"});
    v("capacity", c.capacity, Range{kMiB, kTiB}, kStart, "Memory of the page cache.");
    v("swap-timeout", c.swap_timeout, Range<Duration>{std::chrono::milliseconds(1), std::chrono::hours(1)}, When::kLive,
      "How long a change of page-lock waits for the requests under way before it is given up.");
    constexpr Range<Duration> kTimeout{std::chrono::milliseconds(100), std::chrono::hours(24)};
    v("idle-timeout", c.idle_timeout, kTimeout, kStart,
      "A request must arrive whole within it, and a connection without one is closed after it.");
    v("send-timeout", c.send_timeout, kTimeout, kStart, "A client that takes nothing of an answer for it is dropped.");
    v("yield-after", c.yield_after, Range{0u, 1000000u}, When::kLive,
      "Polls of a spinning thread before it yields its core; 0 = at once.");
    v("config", c.config, Text{"a TOML file"}, When::kCommandLine,
      "File of NAME = VALUE lines; the command line wins over it.", Also{.value_name = "FILE"});
    v("list-policies", c.list_policies, nullptr, When::kCommandLine, "List the lock policies and end.");
  }
};

}  // namespace convoy
