// validate.cc — Reads every file strictly and says what it found.
// SPDX-License-Identifier: MIT
#include "loadgen/validate.h"

#include "common/files.h"
#include "common/log.h"
#include "common/result_schema.h"
#include "loadgen/compare_input.h"

namespace convoy {

int run_validate(const ValidateOptions& options) {
  constexpr int kOk = 0, kCheckFailed = 1, kUsage = 2;
  const auto paths = expand_paths(options.paths);
  if (!paths) {
    log_error("{}", paths.error().message);
    return kUsage;
  }
  int exit_code = kOk;
  std::string report;
  for (const auto& path : *paths) {
    const auto file = read_result_file(path);
    if (file) {
      report += fmt::format("{}: valid, {} run{}\n", path, file->runs.size(), file->runs.size() == 1 ? "" : "s");
    } else {
      log_error("{}", file.error().message);
      exit_code = kCheckFailed;
    }
  }
  if (options.quiet || report.empty()) return exit_code;
  if (auto done = write_text_file("-", report); !done) {
    log_error("{}", done.error().message);
    return kCheckFailed;
  }
  return exit_code;
}

}  // namespace convoy
