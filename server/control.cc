// control.cc — Control pages as JSON and text.
// SPDX-License-Identifier: MIT
#include "server/control.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "common/lock_report.h"
#include "common/log.h"
#include "common/parse.h"
#include "common/process_cpu.h"
#include "common/version.h"

namespace convoy {
namespace {

TextAnswer json_answer(const Json& json, int status = 200) {
  TextAnswer answer;
  answer.status = status;
  answer.content_type = "application/json";
  // Bytes that are no UTF-8 (in a path) are replaced: a control page always answers.
  answer.body = json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
  return answer;
}

Json describe_setting(const Setting& setting) {
  return Json{{"value", setting.get()},
              {"default", setting.default_text},
              {"allowed", setting.allowed_text},
              {"live", setting.when == When::kLive},
              {"sentence", setting.sentence}};
}

TextAnswer method_not_allowed(std::string_view allow) {
  TextAnswer answer = plain_answer(405, fmt::format("this page takes {}", allow));
  answer.allow = allow;
  return answer;
}

struct Times {
  double asked_s, drained_s, done_s;
};

Json mark(const std::string& name, const std::string& from, const std::string& to, const Times& times) {
  return Json{
      {"name", name},          {"from", from}, {"to", to}, {"asked_s", times.asked_s}, {"drained_s", times.drained_s},
      {"done_s", times.done_s}};
}

}  // namespace

Control::Control(ServerSetup& setup, std::function<ServerNumbers()> numbers)
    : setup_(setup), numbers_(std::move(numbers)) {}

std::optional<TextAnswer> Control::answer(const Request& request, std::string_view path, std::uint32_t worker) {
  static constexpr std::string_view kPrefix = "config/";
  const bool reads = request.method == Method::kGet || request.method == Method::kHead;
  const bool one_setting = path.substr(0, kPrefix.size()) == kPrefix;
  if (one_setting) {
    const auto name = path.substr(kPrefix.size());
    if (request.method == Method::kPut) return change_setting(name, request.body, worker);
    return reads ? show_setting(name) : method_not_allowed("GET, HEAD, PUT");
  }
  if (path != "locks" && path != "server-status" && path != "config") return std::nullopt;
  if (!reads) return method_not_allowed("GET, HEAD");
  if (path == "locks") return show_locks();
  return path == "config" ? show_config() : show_status(request);
}

double Control::now_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

TextAnswer Control::show_locks() {
  LockReport report;
  report.server.version = version_text();
  report.uptime_s = now_s();
  const ServerNumbers numbers = numbers_();
  report.transactions = numbers.requests;
  report.cache = numbers.cache;
  const ProcessCpu cpu = own_cpu();
  report.cpu = {cpu.user_s, cpu.sys_s, cpu.context_switches};
  {
    const std::lock_guard guard(mutex_);
    report.config = setup_.settings.values();
    report.classes = setup_.locks.report();
    report.convoy = setup_.locks.convoy();
  }
  return json_answer(to_json(report));
}

TextAnswer Control::show_status(const Request& request) {
  const auto query = request.target.find('?');
  const bool automatic = query != std::string::npos && request.target.compare(query, 5, "?auto") == 0;
  TextAnswer answer;
  answer.body = server_status_text(numbers_(), now_s(), own_cpu());
  if (!automatic) {
    answer.content_type = "text/html; charset=utf-8";
    answer.body = fmt::format("<!doctype html>\n<title>Convoy status</title>\n<pre>\n{}</pre>\n", answer.body);
  }
  return answer;
}

TextAnswer Control::show_config() {
  const std::lock_guard guard(mutex_);
  Json all = Json::object();
  for (const Setting& setting : setup_.settings) all[setting.key] = describe_setting(setting);
  return json_answer(all);
}

TextAnswer Control::show_setting(std::string_view name) {
  const std::lock_guard guard(mutex_);
  const Setting* const setting = setup_.settings.find(name);
  if (setting == nullptr) return plain_answer(404, setup_.settings.get(name).error().message);
  Json json{{"name", setting->key}};
  json.update(describe_setting(*setting));
  return json_answer(json);
}

TextAnswer Control::change_setting(std::string_view name, std::string_view body, std::uint32_t worker) {
  const double asked_s = now_s();
  if (!body.empty() && body.back() == '\n') body.remove_suffix(1);
  if (!body.empty() && body.back() == '\r') body.remove_suffix(1);
  std::unique_lock guard(mutex_);
  Settings& settings = setup_.settings;
  Setting* const setting = settings.find(name);
  if (setting == nullptr) return plain_answer(404, settings.get(name).error().message);
  const auto idle = setup_.locks.idle_knob(setting->key);
  if (idle && idle->for_good) {
    return plain_answer(409, fmt::format("{}: {} has no effect: {}", setting->key, quote(body), idle->sentence));
  }
  const std::string from = setting->get();
  if (const auto done = settings.set_live(name, body); !done) {
    return plain_answer(setting->when != When::kLive ? 409 : 400, done.error().message);
  }
  const std::string to = setting->get();
  if (setting->key == "page-lock" && to != from) {
    (void)setting->set(from);  // stays so until the policy has changed
    guard.unlock();
    return swap_page_lock(from, to, asked_s, worker);
  }
  setup_.locks.apply(setup_.config);
  // A knob is in force as soon as it is stored: nothing has to drain.
  const double done_s = now_s();
  Json answer = mark(setting->key, from, to, {asked_s, done_s, done_s});
  if (idle) {
    // Not refused: who goes from policy to policy may turn the knob first.
    answer["note"] = fmt::format("no effect yet: {}", idle->sentence);
    log_warning("{}: {} has no effect yet: {}", setting->key, to, idle->sentence);
  }
  return json_answer(answer);
}

TextAnswer Control::swap_page_lock(const std::string& from, const std::string& to, double asked_s,
                                   std::uint32_t worker) {
  Duration patience;
  {
    const std::lock_guard guard(mutex_);
    patience = setup_.config.swap_timeout;
  }
  double drained_s = 0;
  std::string before = from;
  const auto swapped = setup_.locks.swap_page(to, worker, patience, [&] {
    drained_s = now_s();
    const std::lock_guard guard(mutex_);  // free: who takes it is in a region
    before = std::exchange(setup_.config.page_lock, to);
  });
  if (!swapped) return plain_answer(503, fmt::format("page-lock stays {}: {}", from, swapped.error().message));
  return json_answer(mark("page-lock", before, to, {asked_s, drained_s, now_s()}));
}

}  // namespace convoy
