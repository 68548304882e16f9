// main.cc — convoy-loadgen: subcommands and their options.
// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include "common/command_line.h"
#include "common/log.h"
#include "common/version.h"
#include "loadgen/http_command.h"
#include "loadgen/sweep_command.h"

namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 ok, 1 requests or checks failed, 2 usage, 3 could not connect or aborted, 130/143 signals.";

}  // namespace

int main(int argc, char** argv) {
  using namespace convoy;
  start_log("convoy-loadgen");
  HttpOptions http;
  Settings http_settings = Settings::of(http);
  SweepOptions sweep;
  Settings sweep_settings = Settings::of(sweep);
  const std::vector<Command> commands{
      {"http",
       "Closed-loop HTTP load on a running server.",
       &http_settings,
       {"URL", "http://HOST[:PORT][/PATH]; one {1..1024} in it stands for a list.", 0, 1, &http.url},
       kExitCodes},
      {"sweep",
       "Policies x users x repeats, interleaved, the server started and stopped for each.",
       &sweep_settings,
       {"FILE.toml", "the sweep file; configs/sweeps has some", 1, 1, &sweep.file},
       kExitCodes},
  };
  const auto parsed = parse_command_line(
      "convoy-loadgen", version_text(),
      "Drives a server and says what its lock policy does to throughput, latency and fairness.", commands, argc, argv);
  if (parsed.exit_code) return *parsed.exit_code;
  const std::vector<std::string> command_line(argv, argv + argc);
  if (parsed.command == "sweep") return run_sweep(sweep, command_line);
  return run_http(http, command_line);
}
