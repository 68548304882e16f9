// command_line_test.cc — Command lines good and bad: what is set, what is printed, how the program is to end.
// SPDX-License-Identifier: MIT
#include "common/command_line.h"

#include <gmock/gmock.h>

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Config {
  std::vector<std::uint32_t> users{50};
  std::vector<std::string> headers;
  std::string label = "none";
  Duration duration = std::chrono::seconds(10);
  bool quiet = false;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("users", c.users, Range{1u, 10000u}, When::kStart, "Concurrent users.",
      Also{.alias = "clients", .short_name = "c"});
    v("duration", c.duration, nullptr, When::kStart, "Length of a run.", Also{.short_name = "t"});
    v("header", c.headers, Text{"NAME: VALUE"}, When::kStart, "A header.", Also{.short_name = "H"});
    v("label", c.label, nullptr, When::kLive, "A label.");
    v("quiet", c.quiet, nullptr, When::kStart, "Says nothing.", Also{.short_name = "q"});
  }
};

class CommandLineTest : public testing::Test {
 protected:
  Config config;
  Settings settings = Settings::of(config);
  std::vector<std::string> urls;
  std::string out, err;

  ParsedCommandLine parse(std::vector<const char*> arguments, bool subcommands = true) {
    Command http{
        subcommands ? "http" : "", "Drives a server.", &settings, {"URL", "what to ask for", 1, 2, &urls}, "More."};
    std::vector<Command> commands{http};
    if (subcommands) commands.push_back({"compare", "Compares.", &settings});
    arguments.insert(arguments.begin(), "tool");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    auto parsed = parse_command_line("tool", "1.2.3 (abc)", "A tool.", commands, static_cast<int>(arguments.size()),
                                     arguments.data());
    out = testing::internal::GetCapturedStdout();
    err = testing::internal::GetCapturedStderr();
    return parsed;
  }

  // Expects exit code 2, nothing on stdout, and on stderr exactly a sentence and a hint. Returns the sentence.
  std::string usage_error_of(std::vector<const char*> arguments) {
    const auto parsed = parse(std::move(arguments));
    EXPECT_EQ(parsed.exit_code, 2);
    EXPECT_THAT(out, IsEmpty());
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 2) << err;
    EXPECT_THAT(err, HasSubstr("Try 'tool"));
    return err.substr(0, err.find('\n'));
  }
};

TEST_F(CommandLineTest, every_way_to_give_a_value) {
  const auto parsed =
      parse({"http", "-c", "1,50", "--duration=300ms", "-HA: 1", "--header", "B: 2", "http://a/", "-q"});
  EXPECT_EQ(parsed.exit_code, std::nullopt) << err;
  EXPECT_EQ(parsed.command, "http");
  EXPECT_THAT(config.users, ElementsAre(1, 50));
  EXPECT_EQ(config.duration, std::chrono::milliseconds(300));
  EXPECT_THAT(config.headers, ElementsAre("A: 1", "B: 2"));
  EXPECT_TRUE(config.quiet);
  EXPECT_THAT(urls, ElementsAre("http://a/"));
  EXPECT_THAT(parsed.given, testing::UnorderedElementsAre("users", "duration", "header", "quiet"));
  EXPECT_THAT(out + err, IsEmpty());
}

TEST_F(CommandLineTest, program_without_subcommands) {
  const auto parsed = parse({"--clients", "7", "u"}, false);
  EXPECT_EQ(parsed.exit_code, std::nullopt) << err;
  EXPECT_EQ(parsed.command, "");
  EXPECT_THAT(config.users, ElementsAre(7));
}

TEST_F(CommandLineTest, errors_call_a_setting_as_it_was_typed) {
  EXPECT_THAT(usage_error_of({"http", "--clients", "0", "u"}), HasSubstr("--clients: '0' is not allowed"));
  EXPECT_THAT(usage_error_of({"http", "--clients=0", "u"}), HasSubstr("--clients: '0' is not allowed"));
  EXPECT_THAT(usage_error_of({"http", "--users", "0", "u"}), HasSubstr("--users: '0' is not allowed"));
}

TEST_F(CommandLineTest, odd_texts_are_values) {
  EXPECT_EQ(parse({"http", "--label", "{}", "u"}).exit_code, std::nullopt) << err;
  EXPECT_EQ(config.label, "{}");
  EXPECT_EQ(parse({"http", "--label=[a,b]", "u"}).exit_code, std::nullopt) << err;
  EXPECT_EQ(config.label, "[a,b]");
  EXPECT_EQ(parse({"http", "--label=a=b", "u"}).exit_code, std::nullopt) << err;
  EXPECT_EQ(config.label, "a=b");
  EXPECT_EQ(parse({"http", "--label=\"x\"", "u"}).exit_code, std::nullopt) << err;
  EXPECT_EQ(config.label, "\"x\"");
}

TEST_F(CommandLineTest, arguments_after_two_dashes_are_no_options) {
  EXPECT_EQ(parse({"http", "-q", "--", "-x", "--label"}).exit_code, std::nullopt) << err;
  EXPECT_THAT(urls, ElementsAre("-x", "--label"));
  EXPECT_EQ(config.label, "none");
}

TEST_F(CommandLineTest, bad_numbers_name_the_option_and_the_value) {
  for (const char* value : {"-1", "0", "4294967296", "1e3", "0x10", "", "-", "\xf0\x9f\x98\x80"})
    EXPECT_THAT(usage_error_of({"http", "--users", value, "u"}),
                HasSubstr(fmt::format("--users: '{}' is not allowed; whole numbers from 1 to 10000", value)));
  const std::string long_value(4096, 'x');
  EXPECT_THAT(usage_error_of({"http", "--users", long_value.c_str(), "u"}), HasSubstr("--users: 'xxx"));
  EXPECT_LT(err.size(), 300u);
  EXPECT_THAT(usage_error_of({"http", "-c-1", "u"}), HasSubstr("--users: '-1' is not allowed"));
  EXPECT_THAT(usage_error_of({"http", "--users=", "u"}), HasSubstr("--users"));
  EXPECT_THAT(config.users, ElementsAre(50));
}

TEST_F(CommandLineTest, usage_errors) {
  EXPECT_EQ(usage_error_of({"http", "--user", "1", "u"}), "tool http: unknown option '--user'; did you mean --users?");
  EXPECT_EQ(usage_error_of({"http", "--zzzzzzzz=4", "u"}), "tool http: unknown option '--zzzzzzzz'");
  EXPECT_THAT(usage_error_of({"http", "-Z", "u"}), HasSubstr("unknown option '-Z'"));
  EXPECT_THAT(usage_error_of({"http"}), HasSubstr("URL is missing: what to ask for"));
  EXPECT_THAT(usage_error_of({"http", ""}), HasSubstr("'' is not allowed; URL"));
  EXPECT_THAT(usage_error_of({"http", "a", "b", "t1M"}), HasSubstr("unexpected argument 't1M'; at most 2 URL allowed"));
  EXPECT_THAT(usage_error_of({"compare", "x"}), HasSubstr("unexpected argument 'x'"));
  EXPECT_THAT(usage_error_of({"http", "u", "--users"}), HasSubstr("--users needs a value; allowed: whole numbers"));
  EXPECT_THAT(usage_error_of({"http", "u", "-c"}), HasSubstr("--users needs a value"));
  EXPECT_THAT(usage_error_of({"http", "u", "--label", "--quiet"}), HasSubstr("--label needs a value"));
  EXPECT_THAT(usage_error_of({"http", "u", "--users", "1", "--users", "2"}), HasSubstr("--users is given 2 times"));
  EXPECT_THAT(usage_error_of({"http", "u", "--quiet=maybe"}),
              HasSubstr("--quiet: 'maybe' is not allowed; true or false"));
  EXPECT_THAT(usage_error_of({"http", "u", "--help=maybe"}), HasSubstr("--help"));
  EXPECT_THAT(usage_error_of({"htpp", "u"}),
              HasSubstr("'htpp' is no command; one of http, compare; did you mean http?"));
  EXPECT_THAT(usage_error_of({}), HasSubstr("a command is missing; one of http, compare"));
  EXPECT_THAT(usage_error_of({"--users", "1"}), HasSubstr("'--users' is no command"));
}

TEST_F(CommandLineTest, help_goes_to_stdout_and_names_every_option) {
  EXPECT_EQ(parse({"http", "--help"}).exit_code, 0);
  EXPECT_THAT(err, IsEmpty());
  EXPECT_THAT(out, HasSubstr("usage: tool http [OPTION...] URL..."));
  for (const auto& setting : settings) {
    EXPECT_THAT(out, HasSubstr("--" + setting.key));
    EXPECT_THAT(out, HasSubstr(setting.sentence));
  }
  EXPECT_THAT(out, HasSubstr("-c, --users, --clients N,N,..."));
  EXPECT_THAT(out, HasSubstr("default 50"));
  EXPECT_THAT(out, HasSubstr("can change while it runs"));
  EXPECT_THAT(out, HasSubstr("More."));
  for (std::size_t begin = 0; begin < out.size(); begin = out.find('\n', begin) + 1)
    EXPECT_LE(out.find('\n', begin) - begin, 100u);

  EXPECT_EQ(parse({"--help"}).exit_code, 0);
  EXPECT_THAT(out, HasSubstr("commands:\n  http"));
  EXPECT_EQ(parse({"http", "--users", "1", "-h"}).exit_code, 0);  // help wins over a missing argument
}

TEST_F(CommandLineTest, version_goes_to_stdout) {
  EXPECT_EQ(parse({"--version"}).exit_code, 0);
  EXPECT_EQ(out, "tool 1.2.3 (abc)\n");
  EXPECT_EQ(parse({"--version"}, false).exit_code, 0);
  EXPECT_EQ(out, "tool 1.2.3 (abc)\n");
}

}  // namespace
}  // namespace convoy
