// lock_control.cc — Knobs of the page lock.
// SPDX-License-Identifier: MIT
#include "server/lock_control.h"

#include <fmt/format.h>

#include <utility>

namespace convoy {
namespace {
constexpr Range<std::uint32_t> kUnfairness{0, 1000};
}  // namespace

void LockControl::add_settings(Settings& settings) {
  Setting knob;
  knob.key = "page-lock-unfairness";
  knob.alias = "unfairness";
  knob.value_name = "N";
  knob.default_text = fmt::format("{}", unfairness_);
  knob.allowed_text = SettingKind<std::uint32_t>::allowed_text(kUnfairness);
  knob.when = When::kLive;
  knob.sentence = "Thefts of the page lock that a waiter accepts before it asks for a hand-off.";
  knob.set = [this](std::string_view text) { return SettingKind<std::uint32_t>::read(text, kUnfairness, unfairness_); };
  knob.get = [this] { return fmt::format("{}", unfairness_); };
  settings.add(std::move(knob));
}

Result<void> LockControl::apply(const ServerConfig& config) {
  page_policy_ = config.page_lock;
  return {};
}

void LockControl::worker_started(const WorkerHooks&) {}

std::map<std::string, LockClassReport> LockControl::report() const {
  LockClassReport page;
  page.policy = page_policy_;
  page.knobs["unfairness"] = unfairness_;
  return {{"page", page}};
}

std::string LockControl::list_policies() {
  std::string text;
  for (const auto& name : page_policies()) text += fmt::format("{:<18} page lock\n", name);
  return text;
}

}  // namespace convoy
