// log.h — Terse lines on stderr.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace convoy {

enum class LogLevel { kInfo, kWarning, kError, kOff };

// Sets the name in front of every line and what is written at all. Call it once, before threads start; without it the
// name is "convoy" and everything is written.
void start_log(const std::string& program, LogLevel least = LogLevel::kInfo);

// Writes "PROGRAM: MESSAGE" ("PROGRAM: warning: MESSAGE") to stderr, never to stdout. Thread-safe.
void log_line(LogLevel level, std::string_view message);

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kError, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace convoy
