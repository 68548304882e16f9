// command_line.cc — CLI11 splits the arguments; what they mean, and every sentence, is ours.
// SPDX-License-Identifier: MIT
#include "common/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <deque>
#include <utility>

#include "common/command_line_help.h"
#include "common/files.h"

namespace convoy {
namespace {

// Returns the exit code of a program that was only asked for this text.
int print_answer(const std::string& text) {
  const auto written = write_text_file("-", text);
  if (written) return 0;
  fmt::print(stderr, "{}\n", written.error().message);
  return kFailedExitCode;
}

// CLI11's way to write the names of an option: "-c,--users,--alias".
std::string option_names(const Setting& setting) {
  std::string names = "--" + setting.key;
  if (!setting.alias.empty()) names += ",--" + setting.alias;
  if (!setting.short_name.empty()) names = "-" + setting.short_name + "," + names;
  return names;
}

// One parse of one command's arguments.
class Parse {
 public:
  explicit Parse(const Command& command) : command_(command) { app_.set_help_flag(""); }

  // Returns the keys that were set, or the sentence to print.
  Result<std::vector<std::string>> run(const std::vector<std::string>& arguments) {
    app_.add_flag("-h,--help", wants_help);
    app_.add_flag("--version", wants_version);
    app_.allow_extras(true);
    arguments_ = arguments;
    for (const auto& setting : *command_.settings) add_option(setting);
    try {
      app_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them in reverse
    } catch (const CLI::ParseError& error) {
      return fail("{}", sentence_of(error));
    }
    if (wants_help || wants_version) return given_;
    for (const auto& [setting, value] : flags_)
      if (!value.empty()) take_values(*setting, {value});
    if (!error_.empty()) return fail("{}", error_);
    if (auto done = take_positionals(app_.remaining()); !done) return tl::unexpected(done.error());
    return given_;
  }

  bool wants_help = false;
  bool wants_version = false;

 private:
  // How errors call a setting: by the name that was typed.
  std::string display_name(const Setting& setting) const {
    const auto is_typed = [this](const std::string& name) {
      return std::any_of(arguments_.begin(), arguments_.end(), [&](const std::string& argument) {
        return argument == name || argument.compare(0, name.size() + 1, name + "=") == 0;
      });
    };
    const auto key = "--" + setting.key;
    const auto alias = "--" + setting.alias;
    return !setting.alias.empty() && is_typed(alias) && !is_typed(key) ? alias : key;
  }

  void add_option(const Setting& setting) {
    const auto take = [this, &setting](const CLI::results_t& values) {
      take_values(setting, values);
      return true;
    };
    if (setting.is_flag) {
      auto& flag = flags_.emplace_back(&setting, "");  // CLI11 writes "true", or what follows "="
      app_.add_flag(option_names(setting), flag.second)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    } else {
      app_.add_option(option_names(setting), take)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  }

  // The first error stays; later options are not read any more.
  void take_values(const Setting& setting, const CLI::results_t& values) {
    if (!error_.empty()) return;
    if (values.size() > 1 && !setting.repeats) {
      error_ = fmt::format("{} is given {} times; once is allowed", display_name(setting), values.size());
      return;
    }
    for (const auto& value : values) {
      if (is_option_name(value)) {
        error_ = fmt::format("{} needs a value, but {} follows; allowed: {}", display_name(setting), quote(value),
                             setting.allowed_text);
        return;
      }
      if (auto done = setting.set(value); !done) {
        error_ = fmt::format("{}: {}", display_name(setting), done.error().message);
        return;
      }
    }
    given_.push_back(setting.key);
  }

  // Whether a value is an option's long name: then the value itself has been forgotten.
  bool is_option_name(const std::string& value) const {
    return value.size() > 2 && value.compare(0, 2, "--") == 0 && command_.settings->find(value.substr(2)) != nullptr;
  }

  Result<void> take_positionals(const std::vector<std::string>& rest) {
    const auto& expected = command_.positionals;
    std::vector<std::string> taken;
    bool only_positionals = false;
    for (const auto& argument : rest) {
      if (argument == "--" && !only_positionals) {
        only_positionals = true;
      } else if (!only_positionals && argument.size() > 1 && argument.front() == '-') {
        return unknown_option(argument);
      } else if (taken.size() == expected.max) {
        return fail("unexpected argument {}; {}", quote(argument), allowed_positionals());
      } else if (argument.empty()) {
        return fail("'' is not allowed; {}: {}", expected.name, expected.sentence);
      } else {
        taken.push_back(argument);
      }
    }
    if (taken.size() < expected.min) return fail("{} is missing: {}", expected.name, expected.sentence);
    if (expected.out != nullptr) *expected.out = std::move(taken);
    return {};
  }

  std::string allowed_positionals() const {
    const auto& expected = command_.positionals;
    if (expected.max == 0) return "every value belongs to an option";
    return fmt::format("at most {} {} allowed", expected.max, expected.name);
  }

  tl::unexpected<Error> unknown_option(const std::string& argument) const {
    const auto name = argument.substr(0, argument.find('='));
    std::vector<std::string> known{"--help"};
    for (const auto& setting : *command_.settings) {
      known.push_back("--" + setting.key);
      if (!setting.alias.empty()) known.push_back("--" + setting.alias);
    }
    const auto nearest = nearest_name(name, known);
    if (!nearest.empty()) return fail("unknown option {}; did you mean {}?", quote(name), nearest);
    return fail("unknown option {}", quote(name));
  }

  // CLI11 names the option in front of a colon; a value that is missing is the one mistake it finds by itself.
  std::string sentence_of(const CLI::ParseError& error) const {
    const std::string text = error.what();
    for (const auto& setting : *command_.settings) {
      const auto key = "--" + setting.key;  // CLI11 calls it by its first name
      if (text.compare(0, key.size() + 1, key + ":") != 0) continue;
      return fmt::format("{} needs a value; allowed: {}", display_name(setting), setting.allowed_text);
    }
    return text;
  }

  const Command& command_;
  std::vector<std::string> arguments_;
  CLI::App app_;
  std::deque<std::pair<const Setting*, std::string>> flags_;  // a deque: CLI11 keeps references to the texts
  std::vector<std::string> given_;
  std::string error_;
};

// Finds the subcommand that the first argument names, or says how the program is to end.
const Command* choose_command(const std::string& program, const std::string& version, const std::string& sentence,
                              const std::vector<Command>& commands, const std::vector<std::string>& arguments,
                              ParsedCommandLine& parsed) {
  if (commands.size() == 1 && commands[0].name.empty()) return &commands[0];
  const std::string first = arguments.empty() ? "" : arguments[0];
  if (first == "--help" || first == "-h" || first == "help") {
    parsed.exit_code = print_answer(program_help(program, sentence, commands));
    return nullptr;
  }
  if (first == "--version") {
    parsed.exit_code = print_answer(fmt::format("{} {}\n", program, version));
    return nullptr;
  }
  std::vector<std::string> names;
  for (const auto& command : commands) {
    if (command.name == first) return &command;
    names.push_back(command.name);
  }
  const auto list = fmt::format("{}", fmt::join(names, ", "));
  const auto nearest = nearest_name(first, names);
  const auto hint = nearest.empty() ? std::string() : fmt::format("; did you mean {}?", nearest);
  const auto message = first.empty() ? fmt::format("a command is missing; one of {}", list)
                                     : fmt::format("{} is no command; one of {}{}", quote(first), list, hint);
  parsed.exit_code = usage_error(program, "", message);
  return nullptr;
}

}  // namespace

int usage_error(const std::string& program, const std::string& command, const std::string& message) {
  const auto full_name = command.empty() ? program : program + " " + command;
  fmt::print(stderr, "{}: {}\nTry '{} --help'.\n", full_name, message, full_name);
  return kUsageExitCode;
}

ParsedCommandLine parse_command_line(const std::string& program, const std::string& version,
                                     const std::string& sentence, const std::vector<Command>& commands, int argc,
                                     const char* const* argv) {
  ParsedCommandLine parsed;
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const auto* command = choose_command(program, version, sentence, commands, arguments, parsed);
  if (command == nullptr) return parsed;
  parsed.command = command->name;
  if (!command->name.empty()) arguments.erase(arguments.begin());
  Parse parse(*command);
  auto given = parse.run(arguments);
  if (!given) {
    parsed.exit_code = usage_error(program, command->name, given.error().message);
  } else if (parse.wants_help) {
    parsed.exit_code = print_answer(command_help(program, *command));
  } else if (parse.wants_version) {
    parsed.exit_code = print_answer(fmt::format("{} {}\n", program, version));
  } else {
    parsed.given = std::move(*given);
  }
  return parsed;
}

}  // namespace convoy
