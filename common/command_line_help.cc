// command_line_help.cc — Lays out the help text, 100 columns wide.
// SPDX-License-Identifier: MIT
#include "common/command_line_help.h"

#include <algorithm>

namespace convoy {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kTextColumn = 32;

// Appends `text`, broken at spaces, from kTextColumn on; `label` stands in front, on a line of its own when it is long.
void append_entry(std::string& out, const std::string& label, std::string_view text) {
  out += label;
  std::size_t column = label.size();
  if (column + 2 > kTextColumn) {
    out += '\n';
    column = 0;
  }
  out.append(kTextColumn - column, ' ');
  column = kTextColumn;
  while (!text.empty()) {
    const auto length = std::min(text.find(' '), text.size());
    if (column > kTextColumn && column + 1 + length > kWidth) {
      out += '\n';
      out.append(kTextColumn, ' ');
      column = kTextColumn;
    } else if (column > kTextColumn) {
      out += ' ';
      ++column;
    }
    out += text.substr(0, length);
    column += length;
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  out += '\n';
}

std::string option_label(const Setting& setting) {
  std::string label = setting.short_name.empty() ? "      " : fmt::format("  -{}, ", setting.short_name);
  label += "--" + setting.key;
  if (!setting.alias.empty()) label += ", --" + setting.alias;
  if (!setting.is_flag) label += " " + setting.value_name;
  return label;
}

std::string option_text(const Setting& setting) {
  std::string text = setting.sentence;
  if (setting.is_flag) return text;
  text += fmt::format(" Allowed: {}", setting.allowed_text);
  if (!setting.default_text.empty()) text += fmt::format("; default {}", setting.default_text);
  if (setting.repeats) text += "; may be repeated";
  if (setting.when == When::kLive) text += "; can change while it runs";
  return text + ".";
}

std::string positionals_usage(const Positionals& positionals) {
  if (positionals.max == 0) return "";
  const auto& name = positionals.name;
  const auto dots = positionals.max > 1 ? "..." : "";
  return positionals.min == 0 ? fmt::format(" [{}{}]", name, dots) : fmt::format(" {}{}", name, dots);
}

}  // namespace

std::string command_help(const std::string& program, const Command& command) {
  const auto full_name = command.name.empty() ? program : program + " " + command.name;
  std::string out = fmt::format("usage: {} [OPTION...]{}\n\n{}\n", full_name, positionals_usage(command.positionals),
                                command.sentence);
  if (command.positionals.max > 0) {
    out += "\narguments:\n";
    append_entry(out, "  " + command.positionals.name, command.positionals.sentence);
  }
  out += "\noptions:\n";
  for (const auto& setting : *command.settings) append_entry(out, option_label(setting), option_text(setting));
  append_entry(out, "  -h, --help", "Prints this text.");
  if (command.name.empty()) append_entry(out, "      --version", "Prints the version.");
  if (!command.epilogue.empty()) out += "\n" + command.epilogue + "\n";
  return out;
}

std::string program_help(const std::string& program, const std::string& sentence,
                         const std::vector<Command>& commands) {
  std::string out = fmt::format("usage: {} COMMAND [OPTION...] [ARGUMENT...]\n\n{}\n\ncommands:\n", program, sentence);
  for (const auto& command : commands) append_entry(out, "  " + command.name, command.sentence);
  out += fmt::format("\n{} COMMAND --help explains a command, {} --version prints the version.\n", program, program);
  return out;
}

}  // namespace convoy
