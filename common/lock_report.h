// lock_report.h — The document of GET /locks, which the server writes and the generator reads.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "common/result.h"
#include "common/result_schema.h"

namespace convoy {

// All numbers count from the start of the server; the generator takes differences.

struct ReportServer {
  std::string name = "convoy-server";
  std::string version;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("name", c.name, "Name of the server.");
    v("version", c.version, "Its version and commit.");
  }
};

struct ReportCpu {
  double user_s = 0, sys_s = 0;
  std::uint64_t context_switches = 0;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("user_s", c.user_s, "Time that the process spent in user mode.");
    v("sys_s", c.sys_s, "Time that the process spent in the kernel.");
    v("context_switches", c.context_switches, "Its context switches, voluntary and not.");
  }
};

// One lock class, under the name of its role.
struct LockClassReport {
  std::string policy;
  Counts knobs;
  std::optional<std::uint64_t> acquisitions;
  Counts events;
  std::vector<Contention> contention;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("policy", c.policy, "Policy of the class.");
    v("knobs", c.knobs, "Knobs by their short name.");
    v("acquisitions", c.acquisitions, "Acquisitions, fast and slow; null when the policy does not count them.");
    v("events", c.events, "Lock events by name.");
    v("contention", c.contention, "Profile by call site.");
  }
};

// Slices of 100 ms in which page-lock acquisitions took the slow path, and those of them that were convoys.
struct ConvoySlices {
  std::uint64_t slices = 0, stood = 0;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("slices", c.slices, "Slices since the start.");
    v("stood", c.stood, "Of these, those in which more than half of the slow acquisitions were hand-offs.");
  }
};

// The page cache. A folio is the unit that is locked, filled and reclaimed.
struct CacheReport {
  std::uint64_t hits = 0, misses = 0, fills = 0, failed_fills = 0, reclaims = 0;
  std::uint64_t pins = 0, folios = 0, capacity = 0, folio_bytes = 0;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("hits", c.hits, "Pages that were there when they were asked for.");
    v("misses", c.misses, "Pages that came once their folio was filled.");
    v("fills", c.fills, "Folios that were read.");
    v("failed_fills", c.failed_fills, "Folios that could not be read, or whose file changed meanwhile.");
    v("reclaims", c.reclaims, "Folios that made room for others.");
    v("pins", c.pins, "Pages pinned now: exact while no request runs.");
    v("folios", c.folios, "Folios that exist now.");
    v("capacity", c.capacity, "Folios that there may be.");
    v("folio_bytes", c.folio_bytes, "Bytes of a folio.");
  }
};

struct LockReport {
  ReportServer server;
  double uptime_s = 0;
  std::uint64_t transactions = 0;
  ReportCpu cpu;
  std::map<std::string, std::string> config;
  std::map<std::string, LockClassReport> classes;
  std::optional<ConvoySlices> convoy;
  std::optional<CacheReport> cache;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("server", c.server, "Who answers.");
    v("uptime_s", c.uptime_s, "Time since the start.");
    v("transactions", c.transactions, "Requests counted in Total Accesses.");
    v("cpu", c.cpu, "Processor time of the process.");
    v("config", c.config, "Every setting with its value as text.");
    v("classes", c.classes, "Lock classes by role.");
    v("convoy", c.convoy, "How often a convoy stood on the page lock; null when it is not sampled.");
    v("cache", c.cache, "The page cache; null of a server that has none or does not say.");
  }
};

Json to_json(const LockReport& report);
std::string lock_report_text(const LockReport& report);  // JSON, indented, ending in a newline

// Reads the body of GET /locks. The error begins with the JSON path.
Result<LockReport> parse_lock_report(std::string_view text);

}  // namespace convoy
