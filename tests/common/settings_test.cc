// settings_test.cc — One config struct with a field of every kind: what its descriptions make of it.
// SPDX-License-Identifier: MIT
#include "common/settings.h"

#include <gmock/gmock.h>

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> policies() { return {"bounded", "barging", "handoff"}; }
std::vector<std::string> patterns() { return {"apache"}; }
std::vector<std::string> later_patterns() { return {"redis"}; }

struct Config {
  std::string page_lock = "bounded";
  std::string threading = "apache";
  std::string docroot = "/srv";
  std::string cpus;
  std::uint32_t workers = 256;
  std::uint64_t requests = 0;
  std::optional<std::uint32_t> awake;
  std::vector<std::uint32_t> users{50};
  std::vector<std::string> headers;
  double share = 0.5;
  bool quiet = false;
  Duration timeout = std::chrono::seconds(2);
  Size capacity = kGiB;
  Endpoint http{"127.0.0.1", 8080, false};

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    using std::chrono::hours;
    using std::chrono::milliseconds;
    v("page-lock", c.page_lock, OneOf{policies}, When::kLive, "Policy of the page lock.");
    v("threading", c.threading, OneOf{patterns, later_patterns}, When::kStart, "Who runs a request.");
    v("docroot", c.docroot, Text{"a folder"}, When::kStart, "Where the files are.");
    v("cpus", c.cpus, Checked{"a list of cores", check_cpus}, When::kStart, "Pins.", Also{.default_text = "all"});
    v("workers", c.workers, Range{1u, 4096u}, When::kStart, "Threads that run requests.");
    v("requests", c.requests, nullptr, When::kStart, "Requests in all.", Also{.short_name = "n"});
    v("awake", c.awake, Range{0u, 4096u}, When::kStart, "Workers awake at once.", Also{.default_text = "cores"});
    v("users", c.users, Range{1u, 10000u}, When::kStart, "Concurrent users.",
      Also{.alias = "concurrent", .short_name = "c"});
    v("header", c.headers, Text{"NAME: VALUE"}, When::kStart, "A header.", Also{.short_name = "H"});
    v("share", c.share, Range{0.0, 1.0}, When::kStart, "A share.");
    v("quiet", c.quiet, nullptr, When::kStart, "Says nothing.", Also{.short_name = "q"});
    v("timeout", c.timeout, Range<Duration>{milliseconds(1), hours(1)}, When::kLive, "Longest wait.");
    v("capacity", c.capacity, Range{kMiB, kTiB}, When::kStart, "Room for pages.");
    v("http", c.http, nullptr, When::kStart, "Where to listen.");
  }

  static Result<void> check_cpus(std::string_view text) {
    if (text.find_first_not_of("0123456789,-") == std::string_view::npos && !text.empty()) return {};
    return fail("{} is not allowed; a list of cores such as 0-3,5", quote(text));
  }
};

class SettingsTest : public testing::Test {
 protected:
  Config config;
  Settings settings = Settings::of(config);

  std::string error_of(std::string_view name, std::string_view text) {
    auto done = settings.set(name, text);
    return done ? "" : done.error().message;
  }
};

TEST_F(SettingsTest, set_reads_every_kind) {
  const std::map<std::string, std::string> texts{
      {"page-lock", "handoff"}, {"threading", "apache"}, {"docroot", "/tmp"},   {"cpus", "0-1"},    {"workers", "8"},
      {"requests", "5"},        {"awake", "0"},          {"users", "1,50"},     {"header", "A: b"}, {"share", "0.25"},
      {"quiet", "true"},        {"timeout", "300ms"},    {"capacity", "64MiB"}, {"http", "[::1]:0"}};
  ASSERT_EQ(texts.size(), settings.size());
  for (const auto& [name, text] : texts) {
    ASSERT_EQ(error_of(name, text), "") << name;
    EXPECT_EQ(settings.get(name).value(), text);
  }
  EXPECT_EQ(config.workers, 8u);
  EXPECT_EQ(config.awake, 0u);
  EXPECT_THAT(config.users, ElementsAre(1, 50));
  EXPECT_TRUE(config.quiet);
  EXPECT_EQ(config.timeout, std::chrono::milliseconds(300));
  EXPECT_EQ(config.http.host, "::1");
}

TEST_F(SettingsTest, bad_value_names_the_setting_the_value_and_what_is_allowed_and_changes_nothing) {
  const auto before = settings.values();
  EXPECT_EQ(error_of("workers", "4097"), "workers: '4097' is not allowed; a whole number from 1 to 4096");
  EXPECT_EQ(error_of("page-lock", "barginn"),
            "page-lock: 'barginn' is not allowed; one of bounded, barging, handoff; did you mean barging?");
  EXPECT_EQ(error_of("threading", "redis"), "threading: 'redis' is not built yet; allowed: apache");
  EXPECT_EQ(error_of("docroot", ""), "docroot: '' is not allowed; a folder");
  // Values that no setting but a free text takes (row O3).
  for (const auto& setting : settings)
    for (const std::string& text : {std::string(), std::string("-1"), std::string("0x10"), std::string("1e3"),
                                    std::string(4096, 'z'), std::string("\xf0\x9f\x98\x80")}) {
      if (setting.key == "docroot" || setting.key == "header" || (setting.key == "cpus" && text == "-1")) continue;
      EXPECT_THAT(error_of(setting.key, text), StartsWith(setting.key + ": '")) << text;
    }
  EXPECT_EQ(settings.values(), before);
}

TEST_F(SettingsTest, alias_finds_the_setting_and_an_unknown_name_lists_them) {
  EXPECT_EQ(settings.find("concurrent"), settings.find("users"));
  EXPECT_EQ(settings.find(""), nullptr);
  EXPECT_EQ(settings.find("c"), nullptr);  // a short name is for the command line only
  const auto message = error_of("worker", "1");
  EXPECT_THAT(message, HasSubstr("no setting 'worker'; did you mean workers? allowed: page-lock, threading"));
  EXPECT_THAT(error_of("zzzzzzzz", "1"), testing::Not(HasSubstr("did you mean")));
  EXPECT_FALSE(settings.get("worker"));
}

TEST_F(SettingsTest, set_live_refuses_what_is_chosen_at_the_start) {
  EXPECT_TRUE(settings.set_live("page-lock", "handoff"));
  EXPECT_EQ(settings.set_live("workers", "8").error().message,
            "workers: can be chosen at the start only; live settings: page-lock, timeout");
  EXPECT_EQ(config.workers, 256u);
}

TEST_F(SettingsTest, descriptions_carry_defaults_and_what_is_allowed) {
  EXPECT_EQ(settings.find("workers")->default_text, "256");
  EXPECT_EQ(settings.find("awake")->default_text, "cores");
  EXPECT_EQ(settings.find("capacity")->allowed_text, "a size from 1MiB to 1TiB");
  EXPECT_TRUE(settings.find("quiet")->is_flag);
  EXPECT_TRUE(settings.find("header")->repeats);
  EXPECT_EQ(settings.values().at("cpus"), "all");
}

TEST_F(SettingsTest, texts_repeat) {
  ASSERT_EQ(error_of("header", "A: 1"), "");
  ASSERT_EQ(error_of("header", "B: 2"), "");
  EXPECT_THAT(config.headers, ElementsAre("A: 1", "B: 2"));
}

TEST_F(SettingsTest, settings_can_be_added_at_run_time) {
  std::uint64_t unfairness = 5;
  Setting knob;
  knob.key = "page-lock-unfairness";
  knob.alias = "unfairness";
  knob.when = When::kLive;
  knob.set = [&](std::string_view text) -> Result<void> {
    auto value = parse_unsigned(text, 0, 1000);
    if (!value) return tl::unexpected(value.error());
    unfairness = *value;
    return {};
  };
  knob.get = [&] { return fmt::format("{}", unfairness); };
  settings.add(knob);
  EXPECT_TRUE(settings.set_live("unfairness", "0"));
  EXPECT_EQ(unfairness, 0u);
  EXPECT_EQ(error_of("unfairness", "1001"),
            "page-lock-unfairness: '1001' is not allowed; a whole number from 0 to 1000");
  EXPECT_DEATH(settings.add(knob), "panic: settings: the name page-lock-unfairness is taken");
}

}  // namespace
}  // namespace convoy
