// settings.h — Named settings, each described once for the command line, TOML, CONFIG, PUT and help.
// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "common/setting_kinds.h"

namespace convoy {

// When a setting may change: on the command line only, before the start only, or also while the program runs.
enum class When { kCommandLine, kStart, kLive };

// What a setting may have besides its name.
struct Also {
  std::string_view alias = {};         // a second long name, without the dashes
  std::string_view short_name = {};    // one letter
  std::string_view value_name = {};    // how help calls the value: "HOST:PORT"
  std::string_view default_text = {};  // what help prints for a value that is unset or worked out at the start
  bool repeats = false;                // may be given more than once
};

// One setting without its type.
struct Setting {
  std::string key;
  std::string alias;
  std::string short_name;
  std::string value_name;
  std::string default_text;
  std::string allowed_text;
  When when = When::kStart;
  std::string sentence;
  bool is_flag = false;
  bool repeats = false;
  // Reads and stores a value. The error does not name the setting; a failed set changes nothing.
  std::function<Result<void>(std::string_view)> set;
  // Returns the value as the text that `set` reads; "" when it is unset.
  std::function<std::string()> get;
};

// The settings of one program or subcommand, in the order of their description. Not thread-safe: a server that changes
// settings while it runs guards the calls with its control lock.
class Settings {
 public:
  // Returns the settings that Config::describe names, bound to the fields of `config`, which must outlive them.
  // Config has: template <class Self, class V> static void describe(Self& c, V& v), which calls
  // v(key, c.field, allowed, When, sentence) or v(key, c.field, allowed, When, sentence, Also{...}) for each setting;
  // `allowed` is what SettingKind of the field's type takes (setting_kinds.h).
  template <class Config>
  static Settings of(Config& config) {
    Settings settings;
    settings.describe_into(config);
    return settings;
  }

  // Adds the settings of a further config struct.
  template <class Config>
  void describe_into(Config& config) {
    Binder binder{*this};
    Config::describe(config, binder);
  }

  // Adds a setting that is known at run time only, such as a lock's knob. Panics when a name is taken.
  void add(Setting setting);

  // Returns the setting of this key or alias, or null.
  Setting* find(std::string_view name);
  const Setting* find(std::string_view name) const;

  // Sets `name` (key or alias). The error names the setting; for an unknown name it lists the allowed ones.
  Result<void> set(std::string_view name, std::string_view text);

  // As set(), for a program that already runs: also refuses what can be chosen at the start only.
  Result<void> set_live(std::string_view name, std::string_view text);

  // Returns the value as text. The error lists the allowed names.
  Result<std::string> get(std::string_view name) const;

  // Returns every key with its value as text; an unset one has its default text.
  std::map<std::string, std::string> values() const;

  auto begin() const { return settings_.begin(); }
  auto end() const { return settings_.end(); }
  std::size_t size() const { return settings_.size(); }

 private:
  struct Binder {
    Settings& settings;

    template <class Field, class Allowed>
    void operator()(std::string_view key, Field& field, Allowed allowed, When when, std::string_view sentence,
                    Also also = {}) {
      using Kind = SettingKind<Field>;
      Setting setting;
      setting.key = key;
      setting.alias = also.alias;
      setting.short_name = also.short_name;
      setting.value_name = also.value_name.empty() ? std::string(Kind::kValueName) : std::string(also.value_name);
      setting.allowed_text = Kind::allowed_text(allowed);
      setting.when = when;
      setting.sentence = sentence;
      setting.is_flag = Kind::kIsFlag;
      setting.repeats = also.repeats || Kind::kAppends;
      setting.set = [&field, allowed](std::string_view text) { return Kind::read(text, allowed, field); };
      setting.get = [&field] { return Kind::write(field); };
      setting.default_text = setting.get();
      if (setting.default_text.empty()) setting.default_text = also.default_text;
      settings.add(std::move(setting));
    }
  };

  tl::unexpected<Error> unknown(std::string_view name) const;

  std::deque<Setting> settings_;  // a deque, so that a found setting stays where it is when more are added
};

// Returns that of `candidates` which `name` most resembles, or "" when none is near: for "did you mean".
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace convoy
