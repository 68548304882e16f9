// live_switch.cc — GET and PUT of /config/NAME.
// SPDX-License-Identifier: MIT
#include "loadgen/live_switch.h"

#include <nlohmann/json.hpp>

#include "loadgen/clock.h"
#include "loadgen/control_client.h"

namespace convoy {
namespace {

// Longer than the server's own swap-timeout in any reasonable sweep.
constexpr std::int64_t kAnswerTimeout = 30 * kNanosPerSecond;

Result<std::string> ask(const Target& target, std::string_view method, const std::string& name, std::string_view body) {
  auto answer = control_request(target.origin, target.address, method, "/config/" + name, body, kAnswerTimeout);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->status < 300) return std::move(answer->body);
  return fail("the server answered {}: {}", answer->status, quote(answer->body.substr(0, answer->body.find('\n'))));
}

}  // namespace

Result<LiveSwitch> LiveSwitch::begin(const Target& target, const std::vector<SweepPolicy>& policies) {
  LiveSwitch self(target);
  for (const auto& policy : policies) {
    for (const auto& [name, value] : policy.settings) {
      if (self.at_first_.count(name) > 0) continue;
      const auto text = ask(target, "GET", name, "");
      if (!text) return fail("{}: {}", name, text.error().message);
      const auto json = nlohmann::json::parse(*text, nullptr, false);
      const bool understood = json.is_object() && json.contains("value") && json["value"].is_string();
      if (!understood) return fail("{}: the server's answer is not understood", name);
      if (!json.value("live", false)) return fail("{}: can be chosen at the start only, and switch is \"live\"", name);
      self.at_first_[name] = json["value"].get<std::string>();
    }
  }
  self.now_ = self.at_first_;
  return self;
}

Result<void> LiveSwitch::apply(const SweepPolicy& policy) {
  for (const auto& [name, first] : at_first_) {
    const auto named = policy.settings.find(name);
    const std::string& wanted = named == policy.settings.end() ? first : named->second;
    if (now_[name] == wanted) continue;
    if (const auto done = ask(*target_, "PUT", name, wanted); !done) {
      return fail("{} = {}: {}", name, wanted, done.error().message);
    }
    now_[name] = wanted;
  }
  return {};
}

}  // namespace convoy
