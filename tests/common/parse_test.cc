// parse_test.cc — Readers of values: each accepts what its writer writes and refuses everything else with a sentence.
// SPDX-License-Identifier: MIT
#include "common/parse.h"

#include <gmock/gmock.h>

namespace convoy {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

// Texts that are no number, whatever the kind (row O3 of the bad-input cases).
std::vector<std::string> no_numbers() {
  return {"",
          "-1",
          "+1",
          " 1",
          "1 ",
          "1\n",
          "0x10",
          "1e3",
          "1,000",
          "one",
          "1_0",
          ".5",
          "5.",
          "--1",
          "nan",
          "inf",
          "1..2",
          "\xff",
          std::string("1\0", 2),
          "\xf0\x9f\x98\x80",
          "18446744073709551616",
          std::string(4096, '9'),
          std::string(4096, 'x')};
}

TEST(Parse, whole_numbers) {
  EXPECT_EQ(parse_unsigned("0").value(), 0u);
  EXPECT_EQ(parse_unsigned("18446744073709551615").value(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_unsigned("007", 1, 10).value(), 7u);
  for (const auto& text : no_numbers()) EXPECT_FALSE(parse_unsigned(text)) << text;
  EXPECT_EQ(parse_unsigned("1001", 0, 1000).error().message, "'1001' is not allowed; a whole number from 0 to 1000");
  EXPECT_FALSE(parse_unsigned("0", 1, 1000));
  EXPECT_FALSE(parse_unsigned("4294967296", 1, 4294967295));
}

TEST(Parse, errors_quote_little_and_escape_the_rest) {
  const auto message = parse_unsigned(std::string(4096, 'x'), 0, 9).error().message;
  EXPECT_LT(message.size(), 160u);
  EXPECT_THAT(message, HasSubstr("(4096 bytes)"));
  EXPECT_EQ(quote("a\tb\x7f\xff"), "'a\\x09b\\x7f\\xff'");
  EXPECT_EQ(quote("\xc3\xa9\xf0\x9f\x98\x80"), "'\xc3\xa9\xf0\x9f\x98\x80'");  // well-formed UTF-8 stays
  EXPECT_EQ(quote("\xc0\xaf\xc2\x9b"), "'\\xc0\\xaf\\xc2\\x9b'");              // overlong; a C1 control
  EXPECT_EQ(quote("\xed\xa0\x80"), "'\\xed\\xa0\\x80'");                       // a surrogate
  EXPECT_THAT(quote(std::string(59, 'a') + "\xf0\x9f\x98\x80" + "b"), HasSubstr("\xf0\x9f\x98\x80...' (64 bytes)"));
}

TEST(Parse, real_numbers) {
  EXPECT_EQ(parse_real("0.95", 0, 1).value(), 0.95);
  EXPECT_EQ(parse_real("1", 0, 1).value(), 1.0);
  EXPECT_FALSE(parse_real("1.01", 0, 1));
  for (const auto& text : no_numbers()) EXPECT_FALSE(parse_real(text, 0, 1e9)) << text;
}

TEST(Parse, durations) {
  EXPECT_EQ(parse_duration("10").value(), seconds(10));
  EXPECT_EQ(parse_duration("10s").value(), seconds(10));
  EXPECT_EQ(parse_duration("300ms").value(), milliseconds(300));
  EXPECT_EQ(parse_duration("25us").value(), microseconds(25));
  EXPECT_EQ(parse_duration("7ns").value(), Duration(7));
  EXPECT_EQ(parse_duration("5m").value(), minutes(5));
  EXPECT_EQ(parse_duration("1h").value(), hours(1));
  EXPECT_EQ(parse_duration("1.5s").value(), milliseconds(1500));
  EXPECT_EQ(parse_duration("30S").value(), seconds(30));
  EXPECT_EQ(parse_duration("2M").value(), minutes(2));
  EXPECT_EQ(parse_duration("1H").value(), hours(1));
  for (const auto& text : no_numbers()) {
    EXPECT_FALSE(parse_duration(text)) << text;
    EXPECT_FALSE(parse_duration(text + "s")) << text;
  }
  for (const char* text : {"s", "1 s", "1sec", "1ss", "1d", "s1", "9999999999h", "1000000001s"})
    EXPECT_FALSE(parse_duration(text)) << text;
  EXPECT_FALSE(parse_duration("0s", milliseconds(1), hours(1)));
  EXPECT_THAT(parse_duration("2h", milliseconds(1), hours(1)).error().message,
              HasSubstr("'2h' is not allowed; a duration from 1ms to 1h"));
}

TEST(Parse, durations_are_written_in_the_largest_unit_that_divides_them) {
  EXPECT_EQ(format_duration(seconds(2)), "2s");
  EXPECT_EQ(format_duration(milliseconds(300)), "300ms");
  EXPECT_EQ(format_duration(microseconds(25)), "25us");
  EXPECT_EQ(format_duration(seconds(90)), "90s");
  EXPECT_EQ(format_duration(hours(1)), "1h");
  EXPECT_EQ(format_duration(Duration(0)), "0s");
  for (const std::int64_t ns : {1LL, 999LL, 1'000LL, 1'500'000LL, 60'000'000'000LL, 3'599'999'999'999LL})
    EXPECT_EQ(parse_duration(format_duration(Duration(ns))).value().count(), ns);
}

TEST(Parse, sizes) {
  EXPECT_EQ(parse_size("1GiB").value(), kGiB);
  EXPECT_EQ(parse_size("64KiB").value().bytes, 65536u);
  EXPECT_EQ(parse_size("4096").value().bytes, 4096u);
  EXPECT_EQ(parse_size("4096B").value().bytes, 4096u);
  for (const auto& text : no_numbers()) {
    EXPECT_FALSE(parse_size(text)) << text;
    EXPECT_FALSE(parse_size(text + "KiB")) << text;
  }
  for (const char* text : {"1K", "1GB", "1.5GiB", "KiB", "18446744073709551615KiB"})
    EXPECT_FALSE(parse_size(text)) << text;
  EXPECT_THAT(parse_size("1KiB", kMiB, kGiB).error().message, HasSubstr("a size from 1MiB to 1GiB"));
  for (const auto size : {Size{0}, Size{1}, Size{65536}, Size{65537}, kTiB})
    EXPECT_EQ(parse_size(format_size(size)).value(), size);
}

TEST(Parse, endpoints) {
  EXPECT_EQ(parse_endpoint("127.0.0.1:8080").value(), (Endpoint{"127.0.0.1", 8080, false}));
  EXPECT_EQ(parse_endpoint("localhost:0").value(), (Endpoint{"localhost", 0, false}));
  EXPECT_EQ(parse_endpoint("[::1]:80").value(), (Endpoint{"::1", 80, false}));
  EXPECT_TRUE(parse_endpoint("off").value().off);
  for (const char* text : {"", ":80", "8080", "localhost", "localhost:", "localhost:65536", "localhost:-1", "::1:80",
                           "[::1]", "[]:80", "[::1:80", "local host:80", "host:80 ", "OFF", "http://host:80"})
    EXPECT_FALSE(parse_endpoint(text)) << text;
  EXPECT_FALSE(parse_endpoint(std::string(254, 'a') + ":80"));
  for (const char* text : {"127.0.0.1:8080", "[::1]:80", "off"})
    EXPECT_EQ(format_endpoint(parse_endpoint(text).value()), text);
}

TEST(Parse, lists) {
  EXPECT_THAT(parse_unsigned_list("1,50,250", 1, 1000).value(), ElementsAre(1, 50, 250));
  EXPECT_THAT(parse_unsigned_list("7", 1, 1000).value(), ElementsAre(7));
  for (const char* text : {"", ",", "1,", ",1", "1,,2", "1, 2", "0", "1001", "1,1001", "-1", "1;2"})
    EXPECT_FALSE(parse_unsigned_list(text, 1, 1000)) << text;
  std::string long_list = "1";
  for (std::size_t i = 1; i < kLongestList; ++i) long_list += ",1";
  EXPECT_EQ(parse_unsigned_list(long_list, 1, 1).value().size(), kLongestList);
  EXPECT_FALSE(parse_unsigned_list(long_list + ",1", 1, 1));
  EXPECT_THAT(parse_unsigned_list("1,x", 1, 9).error().message, EndsWith("from 1 to 9, separated by commas"));
}

TEST(Parse, real_numbers_are_written_without_an_exponent) {
  EXPECT_EQ(format_real(0.25), "0.25");
  EXPECT_EQ(format_real(1e6), "1000000");
  EXPECT_EQ(parse_real(format_real(0.1), 0, 1).value(), 0.1);
}

}  // namespace
}  // namespace convoy
