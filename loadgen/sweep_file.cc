// sweep_file.cc — A sweep file: which policies, users and cases to run.
// SPDX-License-Identifier: MIT
#include "loadgen/sweep_file.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <utility>

#include "common/parse.h"
#include "common/toml_file.h"
#include "loadgen/http_options.h"
#include "loadgen/locktest_options.h"
#include "loadgen/random.h"

namespace convoy {
namespace {

std::vector<std::string> workloads() { return {"http", std::string(kLocktest)}; }
std::vector<std::string> workloads_to_come() { return {"kv", "aim7", "hackbench", "pagefault"}; }

// Takes `key` out of `object`; null when it is not there.
Json take(Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return nullptr;
  Json value = std::move(*found);
  object.erase(found);
  return value;
}

Result<void> read_texts(const Json& value, const std::string& path, const char* key, std::vector<std::string>& texts) {
  if (value.is_null()) return {};
  texts.clear();
  for (const auto& text : value.is_array() ? value : Json::array({value})) {
    if (!text.is_string()) return fail("{}: {}: {} is not allowed; a text or a list of texts", path, key, text.dump());
    texts.push_back(text.get<std::string>());
  }
  if (texts.empty()) return fail("{}: {}: an empty list is not allowed; a text or a list of texts", path, key);
  return {};
}

Result<void> read_server_settings(const Json& object, const std::string& where, ServerSettings& settings) {
  if (object.is_null()) return {};
  if (!object.is_object()) return fail("{}: is not a table of server settings", where);
  for (const auto& [key, value] : object.items()) {
    if (key == "http") return fail("{}.http: is chosen by the sweep, which starts the server on any free port", where);
    const bool is_name = !key.empty() && key.front() != '-' && std::all_of(key.begin(), key.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
    if (!is_name) return fail("{}.{}: is no name of a server setting", where, key);
    auto text = setting_text(value, key);
    if (!text) return fail("{}: {}", where, text.error().message);
    settings[key] = std::move(*text);
  }
  return {};
}

Result<std::string> take_label(Json& object, const std::string& where) {
  const Json label = take(object, "label");
  if (!label.is_string() || label.get<std::string>().empty()) return fail("{}.label: is missing; a text", where);
  return label.get<std::string>();
}

// Moves "server.KEY" = VALUE, written as one quoted key, to where server.KEY = VALUE would be.
void gather_dotted(Json& object) {
  constexpr std::string_view kPrefix = "server.";
  std::vector<std::string> dotted;
  for (const auto& [key, value] : object.items()) {
    if (key.compare(0, kPrefix.size(), kPrefix) == 0) dotted.push_back(key);
  }
  for (const auto& key : dotted) object["server"][key.substr(kPrefix.size())] = take(object, key.c_str());
}

// What a sweep of locktest says in other words than one of a server: its own options are settings as a server's are.
Result<void> take_locktest_keys(Json& object, const std::string& path, SweepCase& one) {
  one.keys.warmup = Duration::zero();
  for (const char* key : {"url", "urls", "url-file", "header", "timeout", "connection", "switch", "warmup", "server"}) {
    if (object.contains(key)) return fail("{}: {}: is of a sweep that drives a server, not of locktest", path, key);
  }
  if (Json threads = take(object, "threads"); !threads.is_null()) object["users"] = std::move(threads);
  for (const auto& key : locktest_sweep_keys()) {
    const Json value = take(object, key.c_str());
    if (value.is_null()) continue;
    auto text = setting_text(value, key);
    if (!text) return fail("{}: {}", path, text.error().message);
    one.server[key] = std::move(*text);
  }
  return {};
}

// Puts what `object` says over what `one` has.
Result<void> read_case(Json object, const std::string& path, const std::string& where, SweepCase& one) {
  gather_dotted(object);
  const auto workload = object.value("workload", Json(one.keys.workload));
  if (workload == kLocktest) {
    if (auto ok = take_locktest_keys(object, path, one); !ok) return ok;
  }
  if (auto ok = read_server_settings(take(object, "server"), where + "server", one.server); !ok) return ok;
  // What to ask for is one thing: a case that says url does not keep the list of the file.
  const bool names_target = object.contains("url") || object.contains("urls") || object.contains("url-file");
  if (names_target) {
    one.urls.clear();
    one.keys.url.clear();
    one.keys.url_file.clear();
  }
  if (auto ok = read_texts(take(object, "urls"), path, "urls", one.urls); !ok) return ok;
  if (auto ok = read_texts(take(object, "header"), path, "header", one.headers); !ok) return ok;
  auto settings = Settings::of(one.keys);
  if (auto ok = apply_flat(settings, object, path); !ok) return ok;
  const auto named = (one.keys.url.empty() ? 0 : 1) + (one.keys.url_file.empty() ? 0 : 1) + (one.urls.empty() ? 0 : 1);
  if (named > 1) return fail("{}: url, urls and url-file exclude each other", path);
  return {};
}

Result<std::vector<SweepPolicy>> read_policies(const Json& list, const std::string& path) {
  std::vector<SweepPolicy> policies;
  if (!list.is_array() || list.empty()) return fail("{}: policy: at least one [[policy]] is needed", path);
  std::set<std::string> labels;
  for (Json object : list) {
    const auto where = fmt::format("{}: policy[{}]", path, policies.size());
    if (!object.is_object()) return fail("{}: is not a table", where);
    auto label = take_label(object, where);
    if (!label) return tl::unexpected(label.error());
    if (!labels.insert(*label).second) return fail("{}.label: {} is taken already", where, quote(*label));
    SweepPolicy policy{std::move(*label), {}};
    if (auto ok = read_server_settings(object, where, policy.settings); !ok) return tl::unexpected(ok.error());
    policies.push_back(std::move(policy));
  }
  return policies;
}

Result<void> check_cases(const SweepFile& file) {
  for (const auto& one : file.cases) {
    const auto where = one.label.empty() ? file.path : fmt::format("{}: case {}", file.path, quote(one.label));
    if (one.keys.workload != file.cases.front().keys.workload) {
      return fail("{}: workload: is one for all cases", where);
    }
    if (one.keys.workload == "http" && one.keys.url.empty() && one.keys.url_file.empty() && one.urls.empty()) {
      return fail("{}: url: is missing; a path such as \"/hot.bin\"", where);
    }
    if (!one.keys.url.empty() && one.keys.url.front() != '/') {
      return fail("{}: url: {} is not allowed; a path, since the sweep starts the server itself", where,
                  quote(one.keys.url));
    }
    const auto is_baseline = [&](const SweepPolicy& policy) { return policy.label == one.keys.baseline; };
    if (!one.keys.baseline.empty() && std::none_of(file.policies.begin(), file.policies.end(), is_baseline)) {
      return fail("{}: baseline: {} is the label of no policy", where, quote(one.keys.baseline));
    }
  }
  return {};
}

std::vector<std::string> switch_kinds() { return {"restart", "live"}; }

}  // namespace

template <class Self, class V>
void SweepKeys::describe(Self& c, V& v) {
  using std::chrono::hours, std::chrono::milliseconds;
  const When start = When::kStart;
  v("workload", c.workload, OneOf{workloads, workloads_to_come}, start, "What is run.");
  v("url", c.url, Text{"a path or a pattern of paths such as /many/{1..1024}"}, start, "What is asked for.");
  v("url-file", c.url_file, Text{"the path of a file, from the sweep file's folder"}, start,
    "A file of what is asked for.");
  v("users", c.users, Range<std::uint32_t>{1, kMostUsers}, start, "Levels of concurrent users.");
  v("duration", c.duration, Range<Duration>{milliseconds(1), hours(24)}, start, "Measured window of a run.");
  v("warmup", c.warmup, Range<Duration>{Duration::zero(), hours(1)}, start, "Load before the window.");
  v("timeout", c.timeout, Range<Duration>{milliseconds(1), hours(1)}, start, "When a request has failed.");
  v("repeat", c.repeat, Range<std::uint32_t>{1, kMostRepeats}, start, "Runs of each cell.");
  v("threads", c.threads, Range<std::uint32_t>{1, kMostThreads}, start, "Generator threads.");
  v("seed", c.seed, Range<std::uint64_t>{1, 1'000'000'000'000}, start, "Sets the order of the policies.");
  v("connection", c.connection, OneOf{HttpOptions::connection_kinds}, start, "One a user, or one a request.");
  v("switch", c.switching, OneOf{switch_kinds}, start,
    "How policies take turns: restart, a server each; live, one server that changes.");
  v("baseline", c.baseline, Text{"the label of a policy"}, start, "What the others are compared with.");
}

Result<SweepFile> read_sweep_file(const std::string& path) {
  auto json = read_toml_file(path);
  if (!json) return tl::unexpected(json.error());
  return parse_sweep(*json, path);
}

Result<SweepFile> parse_sweep(const Json& json, const std::string& path) {
  SweepFile file;
  file.path = path;
  file.name = std::filesystem::path(path).stem().string();
  Json object = json;
  auto policies = read_policies(take(object, "policy"), path);
  if (!policies) return tl::unexpected(policies.error());
  file.policies = std::move(*policies);
  const Json cases = take(object, "case");
  SweepCase common;
  if (auto ok = read_case(std::move(object), path, path + ": ", common); !ok) return tl::unexpected(ok.error());
  if (cases.is_null()) file.cases.push_back(common);
  if (!cases.is_null() && !cases.is_array()) return fail("{}: case: is not a list; write [[case]]", path);
  std::set<std::string> labels;
  for (Json one : cases.is_array() ? cases : Json::array()) {
    const auto where = fmt::format("{}: case[{}]", path, file.cases.size());
    if (!one.is_object()) return fail("{}: is not a table", where);
    auto label = take_label(one, where);
    if (!label) return tl::unexpected(label.error());
    if (!labels.insert(*label).second) return fail("{}.label: {} is taken already", where, quote(*label));
    file.cases.push_back(common);
    file.cases.back().label = *label;
    if (auto ok = read_case(std::move(one), where, where + ".", file.cases.back()); !ok)
      return tl::unexpected(ok.error());
  }
  if (auto ok = check_cases(file); !ok) return tl::unexpected(ok.error());
  return file;
}

ServerSettings server_settings(const SweepCase& one, const SweepPolicy& policy) {
  if (one.keys.switching == "live") return one.server;
  ServerSettings settings = policy.settings;
  settings.insert(one.server.begin(), one.server.end());
  return settings;
}

std::vector<std::size_t> policy_order(std::size_t policies, std::uint64_t seed, std::uint32_t repeat) {
  std::vector<std::size_t> order(policies);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(seed);
  for (std::size_t left = policies; left > 1; --left) std::swap(order[left - 1], order[random.next() % left]);
  std::rotate(order.begin(),
              order.begin() + static_cast<std::ptrdiff_t>((repeat - 1) % std::max<std::size_t>(policies, 1)),
              order.end());
  return order;
}

}  // namespace convoy
