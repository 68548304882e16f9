// host_test.cc — The host, the build and processor time: plausible, and counted where it was spent.
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>

#include "common/host_info.h"
#include "common/log.h"
#include "common/process_cpu.h"
#include "common/version.h"

namespace convoy {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Spends processor time until this process has used `seconds` more of it.
void burn(double seconds) {
  const auto begin = std::clock();
  while (static_cast<double>(std::clock() - begin) < seconds * CLOCKS_PER_SEC) {}
}

TEST(HostInfo, names_kernel_and_processor) {
  const auto host = read_host_info();
  EXPECT_THAT(host.kernel, StartsWith("Linux "));
  EXPECT_NE(host.cpu, "");
  EXPECT_GE(host.cores, 1u);
  EXPECT_EQ(host.cores, available_cores());
}

TEST(Version, names_version_and_commit) {
  EXPECT_THAT(version_text(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+ \\([0-9a-z-]+\\)"));
}

TEST(ProcessCpu, own_time_grows_by_what_is_burnt) {
  const auto before = own_cpu();
  burn(0.05);
  const auto used = own_cpu() - before;
  EXPECT_GE(used.user_s + used.sys_s, 0.04);
}

TEST(ProcessCpu, tree_includes_a_child_that_lives) {
  int ready[2], leave[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(leave), 0);
  const auto before = cpu_of_process_tree(::getpid()).value();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  char byte = 0;
  if (child == 0) {
    ::close(leave[1]);
    burn(0.2);
    const bool told = ::write(ready[1], "x", 1) == 1;
    ::_exit(told && ::read(leave[0], &byte, 1) == 0 ? 0 : 1);  // waits until the parent closes its end
  }
  ::close(ready[1]);
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const auto alive = cpu_of_process_tree(::getpid()).value() - before;
  const auto own = cpu_of_process_tree(child).value();
  ::close(leave[1]);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_GE(own.user_s + own.sys_s, 0.15);
  EXPECT_GE(alive.user_s + alive.sys_s, 0.15);
  const auto waited_for = cpu_of_process_tree(::getpid()).value() - before;
  EXPECT_GE(waited_for.user_s + waited_for.sys_s, 0.15);
  EXPECT_FALSE(cpu_of_process_tree(child));
  ::close(ready[0]);
  ::close(leave[0]);
}

TEST(Log, lines_go_to_stderr_under_the_program_s_name) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  start_log("tool", LogLevel::kWarning);
  log_info("hidden {}", 1);
  log_warning("shown {}", 2);
  log_error("bad {}", "{}");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tool: warning: shown 2\ntool: bad {}\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace convoy
