// settings.cc — Looking settings up by name, and the readers of their non-numeric kinds.
// SPDX-License-Identifier: MIT
#include "common/settings.h"

#include <algorithm>
#include <numeric>

#include "common/panic.h"

namespace convoy {
namespace {

// Edits (insertion, removal, replacement of one character) that turn one name into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row[b.size()];
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestName = 64;  // longer text is no misspelt name, and the distance is quadratic
  if (name.size() > kLongestName) return "";
  std::string nearest;
  std::size_t least = std::max<std::size_t>(name.size() / 3, 1) + 1;
  for (const auto& candidate : candidates) {
    const auto distance = edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string SettingKind<std::string>::allowed_text(const OneOf& allowed) {
  return fmt::format("one of {}", fmt::join(allowed.list(), ", "));
}

Result<void> SettingKind<std::string>::read(std::string_view text, std::nullptr_t, std::string& field) {
  field = text;
  return {};
}

Result<void> SettingKind<std::string>::read(std::string_view text, const Text& allowed, std::string& field) {
  if (text.empty()) return fail("'' is not allowed; {}", allowed.what);
  field = text;
  return {};
}

Result<void> SettingKind<std::string>::read(std::string_view text, const Checked& allowed, std::string& field) {
  if (auto done = allowed.check(text); !done) return done;
  field = text;
  return {};
}

Result<void> SettingKind<std::string>::read(std::string_view text, const OneOf& allowed, std::string& field) {
  const auto names = allowed.list();
  if (contains(names, text)) {
    field = text;
    return {};
  }
  if (allowed.not_built != nullptr && contains(allowed.not_built(), text))
    return fail("{} is not built yet; allowed: {}", quote(text), fmt::join(names, ", "));
  const auto nearest = nearest_name(text, names);
  if (!nearest.empty())
    return fail("{} is not allowed; one of {}; did you mean {}?", quote(text), fmt::join(names, ", "), nearest);
  return fail("{} is not allowed; one of {}", quote(text), fmt::join(names, ", "));
}

Result<void> SettingKind<bool>::read(std::string_view text, std::nullptr_t, bool& field) {
  if (text != "true" && text != "false") return fail("{} is not allowed; true or false", quote(text));
  field = text == "true";
  return {};
}

void Settings::add(Setting setting) {
  for (const std::string& name : {setting.key, setting.alias})
    if (!name.empty() && find(name) != nullptr) panic("settings: the name {} is taken", name);
  settings_.push_back(std::move(setting));
}

const Setting* Settings::find(std::string_view name) const {
  if (name.empty()) return nullptr;
  const auto found = std::find_if(settings_.begin(), settings_.end(),
                                  [&](const Setting& s) { return s.key == name || s.alias == name; });
  return found == settings_.end() ? nullptr : &*found;
}

Setting* Settings::find(std::string_view name) {
  return const_cast<Setting*>(static_cast<const Settings&>(*this).find(name));
}

tl::unexpected<Error> Settings::unknown(std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& setting : settings_) names.push_back(setting.key);
  const auto nearest = nearest_name(name, names);
  const auto list = fmt::format("{}", fmt::join(names, ", "));
  if (!nearest.empty()) return fail("no setting {}; did you mean {}? allowed: {}", quote(name), nearest, list);
  return fail("no setting {}; allowed: {}", quote(name), list);
}

Result<void> Settings::set(std::string_view name, std::string_view text) {
  auto* setting = find(name);
  if (setting == nullptr) return unknown(name);
  auto done = setting->set(text);
  if (!done) return fail("{}: {}", setting->key, done.error().message);
  return {};
}

Result<void> Settings::set_live(std::string_view name, std::string_view text) {
  auto* setting = find(name);
  if (setting == nullptr) return unknown(name);
  if (setting->when != When::kLive) {
    std::vector<std::string> live;
    for (const auto& one : settings_)
      if (one.when == When::kLive) live.push_back(one.key);
    return fail("{}: can be chosen at the start only; live settings: {}", setting->key, fmt::join(live, ", "));
  }
  return set(name, text);
}

Result<std::string> Settings::get(std::string_view name) const {
  const auto* setting = find(name);
  if (setting == nullptr) return unknown(name);
  return setting->get();
}

std::map<std::string, std::string> Settings::values() const {
  std::map<std::string, std::string> values;
  for (const auto& setting : settings_) {
    auto text = setting.get();
    values.emplace(setting.key, text.empty() ? setting.default_text : std::move(text));
  }
  return values;
}

}  // namespace convoy
