// main.cc — convoy-server: command line, signals, exit codes.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "common/command_line.h"
#include "common/files.h"
#include "common/log.h"
#include "common/toml_file.h"
#include "common/version.h"
#include "server/server.h"

namespace convoy {
namespace {

constexpr const char* kProgram = "convoy-server";
constexpr std::chrono::milliseconds kExitDeadline{4800};

// Many clients and open files need many descriptors; shells give 1,024 and allow far more.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);  // The old limit is a working one.
}

// Reads the command line, then the file that it names. Returns an exit code when the program is to end.
std::optional<int> read_settings(ServerSetup& setup, int argc, const char* const* argv) {
  const Command command{
      .name = "",
      .sentence = "Serves files over HTTP from a page cache whose lock policy can be chosen.",
      .settings = &setup.settings,
      .epilogue = "GET /locks, /server-status?auto and /config show the running server; PUT /config/NAME changes it."};
  const auto parsed = parse_command_line(kProgram, version_text(), command.sentence, {command}, argc, argv);
  if (parsed.exit_code) return parsed.exit_code;
  if (setup.config.list_policies) {
    const auto written = write_text_file("-", LockControl::list_policies());
    if (!written) fmt::print(stderr, "{}: {}\n", kProgram, written.error().message);
    return written ? 0 : kFailedExitCode;
  }
  if (setup.config.config.empty()) return std::nullopt;
  const auto file = read_toml_file(setup.config.config);
  if (!file) return usage_error(kProgram, "", fmt::format("config: {}", file.error().message));
  const auto applied = apply_flat(setup.settings, *file, setup.config.config, parsed.given);
  if (!applied) return usage_error(kProgram, "", applied.error().message);
  return std::nullopt;
}

int run(int argc, const char* const* argv) {
  auto setup = std::make_unique<ServerSetup>();
  if (const auto exit_code = read_settings(*setup, argc, argv)) return *exit_code;
  start_log(kProgram);
  raise_descriptor_limit();

  // Blocked before threads start, so that only sigwait sees them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  auto server = Server::start(std::move(setup));
  if (!server) {
    fmt::print(stderr, "{}: {}\n", kProgram, server.error().message);
    return server.error().exit_code;
  }
  fmt::print(stderr, "{}\n", (*server)->ready_line());
  int signal = 0;
  sigwait(&signals, &signal);
  // A request that hangs in the kernel must not keep the process.
  std::thread([] {
    std::this_thread::sleep_for(kExitDeadline);
    _exit(0);
  }).detach();
  (*server)->stop();
  return 0;
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) { return convoy::run(argc, argv); }
