// command_line_help.h — The text that --help prints.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "common/command_line.h"

namespace convoy {

// Returns the help of one command: usage, sentence, arguments, options with what they allow and their default.
std::string command_help(const std::string& program, const Command& command);

// Returns the help of a program that has subcommands: usage, sentence, one line a subcommand.
std::string program_help(const std::string& program, const std::string& sentence, const std::vector<Command>& commands);

}  // namespace convoy
