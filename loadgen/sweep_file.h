// sweep_file.h — A sweep file: which policies, users and cases to run.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/json.h"
#include "common/result.h"
#include "common/settings.h"

namespace convoy {

// Settings by name, as text: of convoy-server, or of locktest.
using ServerSettings = std::map<std::string, std::string>;

// The keys that a sweep file and each of its cases may have, besides `policy`, `case`, `server`, `urls` and `header`.
struct SweepKeys {
  std::string workload = "http";
  std::string url;
  std::string url_file;
  std::vector<std::uint32_t> users{50};
  Duration duration = std::chrono::seconds(10);
  Duration warmup = std::chrono::seconds(1);
  Duration timeout = std::chrono::seconds(10);
  std::uint32_t repeat = 5;
  std::uint32_t threads = 1;
  std::uint64_t seed = 1;
  std::string connection = "keep-alive";
  std::string switching = "restart";
  std::string baseline;

  template <class Self, class V>
  static void describe(Self& c, V& v);
};

// One setting of everything but the policy.
struct SweepCase {
  std::string label;  // Empty if the file has no cases.
  SweepKeys keys;
  std::vector<std::string> urls;
  std::vector<std::string> headers;
  ServerSettings server;
};

inline constexpr std::string_view kLocktest = "locktest";

struct SweepPolicy {
  std::string label;
  ServerSettings settings;
};

struct SweepFile {
  std::string path;
  std::string name;              // The file's name without its folder and ending.
  std::vector<SweepCase> cases;  // At least one.
  std::vector<SweepPolicy> policies;

  // All cases have the same workload.
  bool is_locktest() const { return cases.front().keys.workload == kLocktest; }
};

// Reads and checks a sweep file. Errors name the file and the key. What the server accepts is not known here.
Result<SweepFile> read_sweep_file(const std::string& path);

// As read_sweep_file, for what stands in the file already read.
Result<SweepFile> parse_sweep(const Json& json, const std::string& path);

// What the server is started with, or locktest runs with, for a policy in a case: the policy's settings win over the
// case's, and those over the file's. With switch = "live" it is started with the case's alone.
ServerSettings server_settings(const SweepCase& one, const SweepPolicy& policy);

// The policies' places in the order in which repeat `repeat` (from 1) runs them: shuffled by the seed, and turned by
// one from repeat to repeat, so that none always runs first.
std::vector<std::size_t> policy_order(std::size_t policies, std::uint64_t seed, std::uint32_t repeat);

}  // namespace convoy
