// http_options.h — The options of `convoy-loadgen http`.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/settings.h"
#include "loadgen/cpu_list.h"
#include "loadgen/marks.h"

namespace convoy {

inline constexpr std::uint32_t kMostUsers = 100'000;
inline constexpr std::uint32_t kMostThreads = 64;
inline constexpr std::uint32_t kMostRepeats = 1000;

struct HttpOptions {
  std::vector<std::string> url;  // At most one.
  std::vector<std::uint32_t> users{50};
  std::optional<Duration> duration;
  std::optional<Duration> warmup;
  std::optional<std::uint64_t> requests;
  std::uint32_t repeat = 1;
  std::uint32_t threads = 1;
  std::string connection = "keep-alive";
  std::vector<std::string> header;
  std::string url_file;
  Duration timeout = std::chrono::seconds(10);
  std::vector<std::string> at;
  std::string cpus;
  std::uint64_t seed = 1;
  std::string label;
  std::optional<std::uint32_t> server_pid;
  std::string json;
  std::string csv;
  bool quiet = false;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    using std::chrono::hours, std::chrono::milliseconds, std::chrono::seconds;
    const When start = When::kStart;
    const Range<Duration> window{milliseconds(1), hours(24 * 7)};
    v("users", c.users, Range<std::uint32_t>{1, kMostUsers}, start, "Concurrent users; a list makes one run a level.",
      Also{.short_name = "c"});
    v("duration", c.duration, window, start, "Length of the measured window of a run; a bare number is seconds.",
      Also{.short_name = "t", .default_text = "10s, with --requests no limit"});
    v("warmup", c.warmup, Range<Duration>{Duration::zero(), hours(24)}, start,
      "Load before the window; what is answered in it is not in the result.",
      Also{.default_text = "1s, with --requests 0s"});
    v("requests", c.requests, Range<std::uint64_t>{1, 1'000'000'000'000}, start,
      "Start exactly so many requests in a run's window.", Also{.short_name = "n", .default_text = "no limit"});
    v("repeat", c.repeat, Range<std::uint32_t>{1, kMostRepeats}, start, "Runs of each level.");
    v("threads", c.threads, Range<std::uint32_t>{1, kMostThreads}, start,
      "Generator threads; the users are split over them.");
    v("connection", c.connection, OneOf{connection_kinds}, start,
      "One connection a user, or a new one for each request.");
    v("header", c.header, nullptr, start, "A header line of every request.",
      Also{.short_name = "H", .value_name = "'NAME: VALUE'"});
    v("url-file", c.url_file, Text{"the path of a file with one URL or path a line"}, start,
      "What to ask for; each user walks the list from a place of its own.",
      Also{.short_name = "f", .value_name = "FILE"});
    v("timeout", c.timeout, Range<Duration>{milliseconds(1), hours(1)}, start,
      "A request not answered by then has failed; its connection is included.");
    v("at", c.at, Checked{"TIME:NAME=VALUE", check_mark}, start,
      "Change a setting of a Convoy server at a time of the window, in every run.",
      Also{.value_name = "TIME:NAME=VALUE", .repeats = true});
    v("cpus", c.cpus, Checked{"processors such as 0 or 0,2-3", check_cpus}, start,
      "Pin the generator, as taskset does.", Also{.value_name = "LIST", .default_text = "all"});
    v("seed", c.seed, Range<std::uint64_t>{1, 1'000'000'000'000}, start,
      "Turns where in the list of URLs the users begin.");
    v("label", c.label, nullptr, start, "What compare calls these runs.",
      Also{.default_text = "the policy and its knobs"});
    v("server-pid", c.server_pid, Range<std::uint32_t>{1, 4'194'304}, start,
      "Take the CPU time of a server that is no Convoy from /proc, its children included.", Also{.value_name = "PID"});
    v("json", c.json, Text{"a path, or - for stdout"}, start, "Write the result as JSON.",
      Also{.value_name = "FILE|-"});
    v("csv", c.csv, Text{"a path, or - for stdout"}, start, "Write the result as CSV, one row a run.",
      Also{.value_name = "FILE|-"});
    v("quiet", c.quiet, nullptr, start, "No progress on stderr.", Also{.short_name = "q"});
  }

  static std::vector<std::string> connection_kinds() { return {"keep-alive", "close"}; }
  static Result<void> check_mark(std::string_view text) {
    auto mark = parse_mark(text);
    if (!mark) return tl::unexpected(mark.error());
    return {};
  }
  static Result<void> check_cpus(std::string_view text) {
    auto cpus = parse_cpu_list(text);
    if (!cpus) return tl::unexpected(cpus.error());
    return {};
  }
};

}  // namespace convoy
