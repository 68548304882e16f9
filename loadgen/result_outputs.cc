// result_outputs.cc — Where a command's result goes.
// SPDX-License-Identifier: MIT
#include "loadgen/result_outputs.h"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "common/files.h"
#include "common/parse.h"

namespace convoy {
namespace {

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code none;
  return one == other || std::filesystem::equivalent(one, other, none);
}

}  // namespace

Result<void> check_outputs(const ResultOutputs& outputs,
                           const std::vector<std::pair<std::string, std::string>>& others) {
  if (outputs.json == "-" && outputs.csv == "-") return fail("--json - and --csv -: stdout takes one of them");
  auto files = others;
  for (const auto& [option, path] : {std::pair{"--json", outputs.json}, std::pair{"--csv", outputs.csv}}) {
    if (path.empty()) continue;
    if (auto ok = check_writable(path); !ok) return fail("{}: {}", option, ok.error().message);
    files.emplace_back(option, path);
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].second.empty() || files[i].second == "-") continue;
    for (std::size_t k = 0; k < i; ++k) {
      if (is_same_file(files[i].second, files[k].second))
        return fail("{}: {} is not allowed; it is the file of {}", files[i].first, quote(files[i].second),
                    files[k].first);
    }
  }
  return {};
}

Result<void> print_text(const ResultOutputs& outputs, const std::string& text) {
  if (outputs.json != "-" && outputs.csv != "-") return write_text_file("-", text);
  if (!outputs.quiet) std::fputs(text.c_str(), stderr);
  return {};
}

Result<void> put_out(const ResultOutputs& outputs, const std::string& text, const ResultFile& result) {
  Result<void> printed{}, json{}, csv{};
  if (!text.empty()) printed = print_text(outputs, text);
  if (!outputs.json.empty()) json = write_text_file(outputs.json, result_text(result));
  if (!outputs.csv.empty()) csv = write_text_file(outputs.csv, result_csv({result}));
  if (!printed) return printed;
  return json ? csv : json;
}

}  // namespace convoy
