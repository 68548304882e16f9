// cell_program.h — The command line that the contract and explore programs share.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "tests/cell.h"

namespace convoy {

// arguments: --help | --list | --ctest PROGRAM LABEL ENVIRONMENT | POLICY SCENARIO; `options` is what the usage line
// says of the program's own, `help` what --help says below it. A cell that does not exist is an error: a filter that
// selects nothing must not pass. In ctest a test that depends on all cells requires the fixture of the label's name.
// Returns the exit status.
template <class Run>
int cell_program(const char* name, const char* world, const char* options, const std::vector<Cell>& cells,
                 const std::vector<std::string>& arguments, Run run, const char* help = "") {
  const std::string usage =
      std::string("usage: ") + name + " --list | --ctest PROGRAM LABEL ENVIRONMENT | POLICY SCENARIO" + options + "\n";
  if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::printf("%s%s", usage.c_str(), help);
    return 0;
  }
  if (arguments.size() == 1 && arguments[0] == "--list") {
    for (const Cell& cell : cells) std::printf("%s %s\n", cell.policy.c_str(), cell.scenario.c_str());
    return 0;
  }
  if (arguments.size() == 4 && arguments[0] == "--ctest") {
    for (const Cell& cell : cells) {
      const std::string test = "lock/" + cell.policy + "/" + world + "/" + cell.scenario;
      std::printf("add_test([[%s]] [[%s]] %s %s)\n", test.c_str(), arguments[1].c_str(), cell.policy.c_str(),
                  cell.scenario.c_str());
      std::printf(
          "set_tests_properties([[%s]] PROPERTIES LABELS %s TIMEOUT 300 FIXTURES_SETUP %s ENVIRONMENT [[%s]])\n",
          test.c_str(), arguments[2].c_str(), arguments[2].c_str(), arguments[3].c_str());
    }
    return 0;
  }
  if (arguments.size() != 2 || arguments[0].starts_with("--")) {
    std::fputs(usage.c_str(), stderr);
    return 2;
  }
  for (const Cell& cell : cells) {
    if (cell.policy == arguments[0] && cell.scenario == arguments[1]) return run(cell);
  }
  std::fprintf(stderr, "%s: no cell '%s %s'; --list names them\n", name, arguments[0].c_str(), arguments[1].c_str());
  return 2;
}

}  // namespace convoy
