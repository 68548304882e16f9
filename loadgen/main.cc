// main.cc — convoy-loadgen: subcommands and their options.
// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include "common/command_line.h"
#include "common/log.h"
#include "common/version.h"
#include "loadgen/http_command.h"

int main(int argc, char** argv) {
  using namespace convoy;
  start_log("convoy-loadgen");
  HttpOptions http;
  Settings http_settings = Settings::of(http);
  const std::vector<Command> commands{
      {"http",
       "Closed-loop HTTP load on a running server",
       &http_settings,
       {"URL", "http://HOST[:PORT][/PATH]; one {1..1024} in it stands for a list", 0, 1, &http.url},
       "Exit codes: 0 ok, 1 requests or checks failed, 2 usage, 3 could not connect or aborted, 130/143 signals."},
  };
  const auto parsed = parse_command_line(
      "convoy-loadgen", version_text(),
      "Drives a server and says what its lock policy does to throughput, latency and fairness", commands, argc, argv);
  if (parsed.exit_code) return *parsed.exit_code;
  const std::vector<std::string> command_line(argv, argv + argc);
  return run_http(http, command_line);
}
