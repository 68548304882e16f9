// toml_file_test.cc — TOML text as JSON, and as settings; errors carry file, line, column and key.
// SPDX-License-Identifier: MIT
#include "common/toml_file.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct Config {
  std::uint32_t workers = 256;
  double share = 0;
  Duration duration{};
  std::string label;
  bool quiet = false;
  std::vector<std::uint32_t> users;
  std::vector<std::string> headers;
  std::string config;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("workers", c.workers, Range{1u, 4096u}, When::kStart, "Workers.", Also{.alias = "threads"});
    v("share", c.share, Range{0.0, 1.0}, When::kStart, "Share.");
    v("duration", c.duration, nullptr, When::kStart, "Duration.");
    v("label", c.label, nullptr, When::kStart, "Label.");
    v("quiet", c.quiet, nullptr, When::kStart, "Quiet.");
    v("users", c.users, Range{1u, 1000u}, When::kStart, "Users.");
    v("header", c.headers, Text{"a header"}, When::kStart, "Header.");
    v("config", c.config, Text{"a file"}, When::kCommandLine, "File.");
  }
};

class TomlTest : public testing::Test {
 protected:
  Config config;
  Settings settings = Settings::of(config);

  std::string error_of(std::string_view toml, const std::vector<std::string>& given = {}) {
    const auto json = parse_toml(toml, "f.toml");
    if (!json) return json.error().message;
    const auto done = apply_flat(settings, *json, "f.toml", given);
    return done ? "" : done.error().message;
  }
};

TEST_F(TomlTest, nested_tables_become_json) {
  const auto json = parse_toml(
      "workload = \"http\"\nusers = [1, 50]\nrate = 0.5\n[server]\nquiet = true\n"
      "[[policy]]\nlabel = \"a\"\n[[policy]]\nlabel = \"b\"\n",
      "f.toml");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(
      json->dump(),
      R"({"policy":[{"label":"a"},{"label":"b"}],"rate":0.5,"server":{"quiet":true},"users":[1,50],"workload":"http"})");
}

TEST_F(TomlTest, syntax_errors_carry_line_and_column) {
  EXPECT_THAT(error_of("a = 1\nb = = 2\n"), StartsWith("f.toml:2:5: "));
  EXPECT_THAT(error_of("a = 1\na = 2\n"), StartsWith("f.toml:2:"));
  EXPECT_THAT(error_of("a = nan"), StartsWith("f.toml:1:5: not a finite number"));
  EXPECT_THAT(error_of("\xff = 1"), StartsWith("f.toml:"));
  EXPECT_THAT(read_toml_file("/does/not/exist.toml").error().message,
              HasSubstr("/does/not/exist.toml: cannot be read: No such file"));
  EXPECT_THAT(read_toml_file("/").error().message, HasSubstr("/: cannot be read: Is a directory"));
}

TEST_F(TomlTest, flat_file_sets_settings) {
  EXPECT_EQ(error_of("threads = 8\nshare = 0.25\nduration = \"300ms\"\nlabel = \"x\"\nquiet = true\nusers = [1, 50]\n"
                     "header = [\"A: 1,2\", \"B: 3\"]\n"),
            "");
  EXPECT_EQ(config.workers, 8u);
  EXPECT_EQ(config.share, 0.25);
  EXPECT_EQ(config.duration, std::chrono::milliseconds(300));
  EXPECT_EQ(config.label, "x");
  EXPECT_TRUE(config.quiet);
  EXPECT_THAT(config.users, ElementsAre(1, 50));
  EXPECT_THAT(config.headers, ElementsAre("A: 1,2", "B: 3"));
}

TEST_F(TomlTest, bare_duration_is_seconds) {
  EXPECT_EQ(error_of("duration = 2"), "");
  EXPECT_EQ(config.duration, std::chrono::seconds(2));
}

TEST_F(TomlTest, command_line_wins) {
  config.workers = 3;
  EXPECT_EQ(error_of("threads = 8\nlabel = \"x\"", {"workers"}), "");
  EXPECT_EQ(config.workers, 3u);
  EXPECT_EQ(config.label, "x");
}

TEST_F(TomlTest, errors_name_the_key) {
  EXPECT_EQ(error_of("workers = -1"), "f.toml: workers: '-1' is not allowed; a whole number from 1 to 4096");
  EXPECT_THAT(error_of("worker = 1"), HasSubstr("f.toml: no setting 'worker'; did you mean workers?"));
  EXPECT_THAT(error_of("[workers]\nx = 1"), HasSubstr("f.toml: workers: a table is not allowed"));
  EXPECT_THAT(error_of("users = [[1]]"), HasSubstr("users: a list inside a list is not allowed"));
  EXPECT_EQ(error_of("config = \"x\""), "f.toml: config is for the command line only");
  EXPECT_THAT(error_of("workers = 1.5"), HasSubstr("workers: '1.5' is not allowed"));
}

}  // namespace
}  // namespace convoy
