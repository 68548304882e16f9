// result_schema.h — The result file convoy.result/1: every field once, with its sentence.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/json.h"
#include "common/result.h"

namespace convoy {

// Each struct describes its fields by v(key, field, sentence), in the order in which they are written; the unit ends
// the key. A std::optional that is empty is written as null: absent, unknown or not applicable. A number that is not
// finite is written as null, too. The reader wants every key, and no other.

inline constexpr std::string_view kResultSchema = "convoy.result/1";

using Counts = std::map<std::string, std::uint64_t>;

struct ToolInfo {
  std::string version;
  std::string commit;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("version", c.version, "Version of the program that wrote this.");
    v("commit", c.commit, "Its commit, short, with -dirty when it was built from changed files.");
  }
};

struct HostInfo {
  std::string kernel;
  std::string cpu;
  std::uint64_t cores = 0;
  bool virtualised = false;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("kernel", c.kernel, "Name, release and architecture of the running kernel.");
    v("cpu", c.cpu, "Model name of the first processor.");
    v("cores", c.cores, "Processors that this process may use.");
    v("virtualised", c.virtualised, "Whether the processor says that it runs under a hypervisor.");
  }
};

struct ServerInfo {
  std::optional<std::string> name;
  std::optional<std::string> version;
  std::optional<std::map<std::string, std::string>> config;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("name", c.name, "Name of the server, null when it does not say.");
    v("version", c.version, "Version of the server.");
    v("config", c.config, "Every setting of a Convoy server with its value as text.");
  }
};

struct SweepInfo {
  std::string name;
  bool interleaved = true;
  std::optional<std::string> baseline = std::nullopt;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("name", c.name, "Name of the sweep.");
    v("interleaved", c.interleaved, "Whether the policies took turns, repeat by repeat.");
    v("baseline", c.baseline, "Label that the others are compared to; null = the first one.");
  }
};

struct LatencyBucket {
  double low = 0, high = 0;
  std::uint64_t count = 0;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("low", c.low, "Lower end of the bucket in microseconds.");
    v("high", c.high, "Upper end, included.");
    v("count", c.count, "Values between the two.");
  }
};

// All in microseconds; all null when nothing was measured.
struct Latency {
  std::optional<double> min, mean, p50, p90, p99, p999, max;
  std::vector<LatencyBucket> histogram;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("min", c.min, "The shortest, exactly.");
    v("mean", c.mean, "The mean, exactly.");
    v("p50", c.p50, "The median, to three digits, within [min, max], as the other percentiles.");
    v("p90", c.p90, "90 of 100 are at most this.");
    v("p99", c.p99, "99 of 100 are at most this.");
    v("p999", c.p999, "999 of 1000 are at most this.");
    v("max", c.max, "The longest, exactly.");
    v("histogram", c.histogram, "Buckets that are not empty, in order; their counts add up to the number of values.");
  }
};

struct PerUser {
  std::optional<double> min, mean, max, jain;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("min", c.min, "Transactions of the user who got fewest.");
    v("mean", c.mean, "Transactions of a user, on average.");
    v("max", c.max, "Transactions of the user who got most.");
    v("jain", c.jain, "Jain's index of fairness: 1 = all alike, 1/users = one got all.");
  }
};

struct Connections {
  std::uint64_t requested = 0, opened = 0, served = 0;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("requested", c.requested, "Connections that the users were to hold at once.");
    v("opened", c.opened, "Connections that were established, reconnects included.");
    v("served", c.served, "Users who had at least one request answered.");
  }
};

struct TimelineBin {
  double t_s = 0;
  std::uint64_t transactions = 0, errors = 0;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("t_s", c.t_s, "End of the bin, from the end of the warm-up.");
    v("transactions", c.transactions, "Transactions that ended in the bin.");
    v("errors", c.errors, "Failures that ended in the bin.");
  }
};

struct Mark {
  std::string name, from, to;
  double asked_s = 0;
  std::optional<double> drained_s, done_s;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("name", c.name, "The setting that was changed.");
    v("from", c.from, "Its value before.");
    v("to", c.to, "Its value after.");
    v("asked_s", c.asked_s, "When the change was asked for, from the end of the warm-up.");
    v("drained_s", c.drained_s, "When nobody was in a region any more; null when the server does not say.");
    v("done_s", c.done_s, "When the change was in effect.");
  }
};

struct Contention {
  std::string lock, site;
  std::uint64_t acquisitions = 0, contended = 0;
  double wait_us = 0, wait_max_us = 0, hold_us = 0;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("lock", c.lock, "Role of the lock.");
    v("site", c.site, "Call site that acquired it.");
    v("acquisitions", c.acquisitions, "Acquisitions at the site.");
    v("contended", c.contended, "Of these, those whose first try failed.");
    v("wait_us", c.wait_us, "Time waited, in all.");
    v("wait_max_us", c.wait_max_us, "The longest wait.");
    v("hold_us", c.hold_us, "Time held, in all.");
  }
};

struct ConvoyShare {
  std::optional<double> stood_share;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("stood_share", c.stood_share,
      "Share of the run's 100 ms slices in which more than half of the slow acquisitions were hand-offs.");
  }
};

struct Cpu {
  std::optional<double> server_user_s, server_sys_s, client_user_s, client_sys_s;
  std::optional<std::uint64_t> context_switches;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("server_user_s", c.server_user_s, "Time that the server spent in user mode.");
    v("server_sys_s", c.server_sys_s, "Time that the server spent in the kernel.");
    v("client_user_s", c.client_user_s, "Time that the generator spent in user mode.");
    v("client_sys_s", c.client_sys_s, "Time that the generator spent in the kernel.");
    v("context_switches", c.context_switches, "Context switches of the server.");
  }
};

// The classes of `errors`; a failed request belongs to exactly one.
inline constexpr std::array<std::string_view, 11> kErrorClasses{
    "connect_refused", "connect_timeout", "address_exhausted", "reset",       "timeout",      "short_body",
    "bad_response",    "http_4xx",        "http_5xx",          "redis_error", "reused_closed"};

// One level of users, once. started = transactions + the sum of errors + in_flight_at_end. A 4xx or 5xx answer is a
// failure of class http_4xx or http_5xx: it is in `status` and in `errors`, not in `transactions` nor in `latency_us`.
struct Run {
  std::string label, workload, target;
  std::string world = "real";
  std::optional<std::string> machine;
  std::optional<std::string> case_label;
  std::optional<std::string> connection;
  std::uint64_t seed = 1;
  std::optional<std::string> trace_hash;
  std::optional<std::map<std::string, std::string>> policy;
  std::optional<Counts> knobs;
  std::uint64_t users = 0, repeat = 1;
  std::string started_at;
  double warmup_s = 0, duration_s = 0;
  std::uint64_t started = 0, transactions = 0, in_flight_at_end = 0;
  std::optional<double> transactions_per_second;
  std::uint64_t bytes = 0;
  Counts errors, status;
  Latency latency_us, failed_latency_us;
  PerUser per_user;
  Connections connections;
  std::optional<std::uint64_t> server_requests;
  std::optional<double> acquisitions_per_transaction;
  std::vector<TimelineBin> timeline;
  std::vector<Mark> marks;
  std::optional<std::map<std::string, Counts>> lock_events;
  std::vector<Contention> contention;
  ConvoyShare convoy;
  Cpu cpu;
  bool generator_bound = false;
  bool interrupted = false;

  // Returns the number of failed requests: the sum of `errors`.
  std::uint64_t failed() const;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("label", c.label, "What the run is called in a comparison; \"\" = after the policy and knobs that differ.");
    v("workload", c.workload, "http, kv, locktest, aim7, hackbench or pagefault.");
    v("target", c.target, "What was asked for: the path of the URL, or the list of URLs.");
    v("world", c.world, "real or machine.");
    v("machine", c.machine, "Name of the simulated machine.");
    v("case", c.case_label, "Label of the sweep's case; runs of different cases are never compared.");
    v("connection", c.connection, "keep-alive or close.");
    v("seed", c.seed, "Seed of the random choices.");
    v("trace_hash", c.trace_hash, "Hash of a simulated run's trace.");
    v("policy", c.policy, "Policy by role; null when the server does not say.");
    v("knobs", c.knobs, "Lock knobs by setting name.");
    v("users", c.users, "Concurrent users; threads in locktest.");
    v("repeat", c.repeat, "Which repeat of its cell this is, from 1.");
    v("started_at", c.started_at, "UTC time at the end of the warm-up, as 2026-01-31T12:00:00Z.");
    v("warmup_s", c.warmup_s, "Time before anything was counted.");
    v("duration_s", c.duration_s, "Time in which everything was counted, as it really was.");
    v("started", c.started, "Requests begun: transactions, failures and what was in flight at the end.");
    v("transactions", c.transactions, "Requests answered without failure.");
    v("in_flight_at_end", c.in_flight_at_end, "Requests begun but not answered when the time was up.");
    v("transactions_per_second", c.transactions_per_second, "transactions / duration_s.");
    v("bytes", c.bytes, "Bytes of the bodies of all transactions.");
    v("errors", c.errors, "Failures by class.");
    v("status", c.status, "Complete answers by HTTP status, failures among them.");
    v("latency_us", c.latency_us, "Latency of transactions, uncorrected for coordinated omission (closed loop).");
    v("failed_latency_us", c.failed_latency_us, "Latency of failures.");
    v("per_user", c.per_user, "How transactions were shared among users.");
    v("connections", c.connections, "Connections asked for and got.");
    v("server_requests", c.server_requests,
      "Requests answered between two looks at the server at rest: warm-up, window and what was in flight at its end.");
    v("acquisitions_per_transaction", c.acquisitions_per_transaction,
      "Page-lock acquisitions per request, over server_requests.");
    v("timeline", c.timeline, "Bins of one second; the last may be shorter.");
    v("marks", c.marks, "Settings that were changed during the run.");
    v("lock_events", c.lock_events, "Lock events by role, over server_requests.");
    v("contention", c.contention, "Profile by lock and call site, over server_requests.");
    v("convoy", c.convoy, "Whether a lock convoy stood.");
    v("cpu", c.cpu, "Processor time: the client's in the window, the server's over server_requests.");
    v("interrupted", c.interrupted, "Whether a signal cut the run short: it is no repeat of the others.");
    v("generator_bound", c.generator_bound, "Whether the generator's busiest thread used over 95 % of a core.");
  }
};

struct ResultFile {
  std::string schema{kResultSchema};
  ToolInfo tool;
  std::vector<std::string> command;
  HostInfo host;
  std::optional<ServerInfo> server;
  std::optional<SweepInfo> sweep;
  std::vector<Run> runs;
  std::vector<Run> variants = {};

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("schema", c.schema, "Name and version of this format.");
    v("tool", c.tool, "The program that wrote the file.");
    v("command", c.command, "Its command line.");
    v("host", c.host, "The machine that it ran on.");
    v("server", c.server, "The server that it drove.");
    v("sweep", c.sweep, "The sweep that the runs belong to; null outside of one.");
    v("runs", c.runs, "The runs, in the order in which they were made.");
    v("variants", c.variants, "Runs of a story beside the claimed setting; nothing compares them.");
  }
};

Json to_json(const ResultFile& file);

// Reads and checks a result: every key present and of its type, none unknown, and the sums that check_result knows.
// The error begins with the JSON path: "runs[3].latency_us.p99: ...".
Result<ResultFile> from_json(const Json& json);

// As from_json; the path of the file stands in front of the error.
Result<ResultFile> read_result_file(const std::string& path);

// Returns the file's text: JSON, indented, ending in a newline.
std::string result_text(const ResultFile& file);

// Checks what must hold whatever was measured: requests add up, statuses match failures, percentiles rise, buckets and
// bins add up, fairness lies in its range. The error begins with the JSON path.
Result<void> check_result(const ResultFile& file);

// Returns one row a run after a row of dotted names: the scalars of the run and of its file, counts by name included;
// variants have none.
// A name that a run lacks, or whose value is null, leaves its field empty.
std::string result_csv(const std::vector<ResultFile>& files);

// Returns the fields as one line of CSV, as RFC 4180 wants them.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace convoy
