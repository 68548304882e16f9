// log.cc — spdlog with one sink, stderr.
// SPDX-License-Identifier: MIT
#include "common/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace convoy {
namespace {

std::shared_ptr<spdlog::logger> make_logger(const std::string& program) {
  auto logger = std::make_shared<spdlog::logger>(program, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%n: %v");
  return logger;
}

std::shared_ptr<spdlog::logger>& logger() {
  static auto instance = make_logger("convoy");
  return instance;
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      break;
  }
  return spdlog::level::off;
}

}  // namespace

void start_log(const std::string& program, LogLevel least) {
  logger() = make_logger(program);
  logger()->set_level(spdlog_level(least));
}

void log_line(LogLevel level, std::string_view message) {
  const std::string_view prefix = level == LogLevel::kWarning ? "warning: " : "";
  logger()->log(spdlog_level(level), "{}{}", prefix, message);
}

}  // namespace convoy
