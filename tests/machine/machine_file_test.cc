// machine_file_test.cc — Goal: a machine file says where each number is from, and errors say what is allowed.
// SPDX-License-Identifier: MIT
#include "sim/machine_file.h"

#include <gmock/gmock.h>

#include <string>

#include "common/files.h"

namespace convoy {
namespace {

using testing::HasSubstr;

const std::string kPath = "configs/machines/xeon-2s-96t.toml";

std::string shipped() { return *read_text_file(kPath); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
  const auto file = parse_machine_file(text, "m.toml");
  return file ? "" : file.error().message;
}

TEST(MachineFile, shipped_machines_are_read) {
  for (const auto& [name, cpus] :
       {std::pair{"xeon-2s-96t", 96u}, std::pair{"laptop-8t", 8u}, std::pair{"epyc-2s-128c", 256u}}) {
    const auto file = read_machine_file("configs/machines/" + std::string(name) + ".toml");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->name, name);
    EXPECT_EQ(file->spec.cpus(), cpus);
  }
}

TEST(MachineFile, numbers_carry_mark_and_source) {
  const auto file = read_machine_file(kPath);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->spec.transfer_cross, 134);
  EXPECT_EQ(file->numbers.at("line-transfer-cross-ns").value, "134");
  EXPECT_EQ(file->numbers.at("line-transfer-cross-ns").mark, "borrowed");
  EXPECT_EQ(file->numbers.at("line-transfer-cross-ns").source, "8275CL");
}

TEST(MachineFile, errors_name_the_key_and_what_is_allowed) {
  const std::string hz = R"(hz = { value = 250, mark = "borrowed", source = "Ubuntu's default" })";
  EXPECT_EQ(error_of(shipped()), "");
  EXPECT_EQ(error_of(replaced(shipped(), hz, "")), "m.toml: hz is missing; a machine file gives every number");
  EXPECT_THAT(error_of(replaced(shipped(), hz, "hz = 250")), HasSubstr("hz: write it as { value = ..., mark"));
  EXPECT_THAT(error_of(replaced(shipped(), hz, R"(hz = { value = 250, mark = "guessed", source = "x" })")),
              HasSubstr("hz: mark: 'guessed' is not allowed; published, measured, derived, borrowed, fitted"));
  EXPECT_THAT(error_of(replaced(shipped(), hz, R"(hz = { value = 250, mark = "borrowed" })")),
              HasSubstr("hz: source is missing"));
  EXPECT_THAT(error_of(replaced(shipped(), hz, R"(hz = { value = 5, mark = "borrowed", source = "x" })")),
              HasSubstr("hz: '5' is not allowed; a whole number from 100 to 1000"));
  EXPECT_THAT(error_of(replaced(shipped(), "cores-per-cluster = { value = 24", "cores-per-cluster = { value = 65")),
              HasSubstr("is 260; at most 256"));
}

TEST(MachineFile, at_most_two_numbers_are_fitted) {
  std::string text = shipped();
  for (const char* key : {"wake-ns", "sleep-ns", "ipi-ns"}) {
    const auto mark = text.find("mark = \"", text.find("\n" + std::string(key)));
    text.replace(mark, text.find('"', mark + 8) + 1 - mark, "mark = \"fitted\"");
  }
  EXPECT_THAT(error_of(text), HasSubstr("numbers are fitted; at most 2"));
}

TEST(MachineFile, machine_set_changes_a_number) {
  auto file = read_machine_file(kPath);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(set_machine_numbers(*file, {"idle-1-exit-ns=4000"}));
  EXPECT_EQ(file->spec.idle_1_exit, 4000);
  EXPECT_EQ(file->numbers.at("idle-1-exit-ns").mark, "set");
  ASSERT_TRUE(set_machine_numbers(*file, {"mode=user"}));
  EXPECT_TRUE(file->spec.is_user_mode());
  const auto error = [&](std::string text) {
    const auto done = set_machine_numbers(*file, {std::move(text)});
    return done ? std::string() : done.error().message;
  };
  EXPECT_THAT(error("idle-1-exit-ns"), HasSubstr("'idle-1-exit-ns' is not allowed; KEY=VALUE"));
  EXPECT_THAT(error("idle-1-exit=4000"), HasSubstr("did you mean idle-1-exit-ns"));
  EXPECT_THAT(error("smt-slowdown=0.5"), HasSubstr("smt-slowdown: '0.5' is not allowed; a decimal number from 1 to 4"));
  EXPECT_THAT(error("sockets=8"), HasSubstr("at most 256"));
  EXPECT_EQ(file->spec.sockets, 2u) << "a refused change changes nothing";
  EXPECT_EQ(file->described(), "xeon-2s-96t idle-1-exit-ns=4000 mode=user");
  // What is set together is looked at together.
  EXPECT_TRUE(set_machine_numbers(*file, {"sockets=8", "cores-per-cluster=4"}));
  EXPECT_TRUE(set_machine_numbers(*file, {"idle-2-exit-ns=9000", "idle-2-residency-ns=20000"}));
  EXPECT_THAT(error("idle-3-exit-ns=10000"),
              HasSubstr("idle-3-residency-ns: 0 is not allowed; at least idle-2-residency-ns, 20000"));
  EXPECT_THAT(error("idle-1-exit-ns=9001"),
              HasSubstr("idle-2-exit-ns: 9000 is not allowed; at least idle-1-exit-ns, 9001"));
  EXPECT_THAT(error("hit-load-ns=0"), HasSubstr("hit-load-ns: '0' is not allowed"));
}

}  // namespace
}  // namespace convoy
