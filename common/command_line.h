// command_line.h — A command line read into settings, with help and sentences for every mistake.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/settings.h"

namespace convoy {

// Arguments without a name, such as the URL of a load generator.
struct Positionals {
  std::string name;      // as help writes it: "URL"
  std::string sentence;  // what it is
  std::size_t min = 0;
  std::size_t max = 0;
  std::vector<std::string>* out = nullptr;
};

// A program, or one of its subcommands.
struct Command {
  std::string name;  // "" when the program has no subcommands
  std::string sentence;
  Settings* settings = nullptr;
  Positionals positionals = {};
  std::string epilogue = {};  // text below the options in help
};

struct ParsedCommandLine {
  std::optional<int> exit_code;    // set when the program is to end at once: 0 after help or version, 2 after an error,
                                   // 1 when stdout does not take the text
  std::string command;             // name of the subcommand, "" when there is none
  std::vector<std::string> given;  // keys of the settings that the command line has set, in their order
};

inline constexpr int kUsageExitCode = 2;
inline constexpr int kFailedExitCode = 1;

// Reads the command line into the settings of the command that it names. Understands --name VALUE, --name=VALUE,
// aliases, -x VALUE, -xVALUE, flags, --help, -h and --version. An unknown option or subcommand, a value missing or not
// allowed, an argument too many or too few: writes one sentence and a hint at --help to stderr and asks for exit code
// 2; some settings may then have been set. Help and version go to stdout.
ParsedCommandLine parse_command_line(const std::string& program, const std::string& version,
                                     const std::string& sentence, const std::vector<Command>& commands, int argc,
                                     const char* const* argv);

// Writes "PROGRAM: MESSAGE" and the hint at --help to stderr; returns the exit code of a usage error. For what only the
// caller can check: options that exclude each other.
int usage_error(const std::string& program, const std::string& command, const std::string& message);

}  // namespace convoy
