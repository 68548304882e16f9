// sweep_results.cc — The result folder of a sweep, valid at every moment.
// SPDX-License-Identifier: MIT
#include "loadgen/sweep_results.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <filesystem>
#include <set>

#include "common/files.h"
#include "common/host_info.h"
#include "common/parse.h"
#include "common/version.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

// A label as part of a file's name.
std::string file_name(const std::string& label) {
  std::string name = label;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '-' && c != '_' && c != '+'; },
      '_');
  return name;
}

}  // namespace

std::string default_results_folder(const std::string& name) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
  return fmt::format("results/{}-{}", name, text.data());
}

SweepResults::SweepResults(std::string folder, const SweepFile& file, const std::vector<std::string>& command)
    : folder_(std::move(folder)) {
  const HostInfo host = read_host_info();
  std::set<std::string> taken;
  for (const auto& one : file.cases) {
    for (const auto& policy : file.policies) {
      std::string name = one.label.empty() ? "" : file_name(one.label) + ".";
      name += file_name(policy.label);
      // Different labels may become the same name.
      while (!taken.insert(name).second) name += "_";
      Entry entry;
      entry.path = (fs::path(folder_) / (name + ".json")).string();
      entry.result.tool = ToolInfo{std::string(kVersion), std::string(kCommit)};
      entry.result.command = command;
      entry.result.host = host;
      const std::string& baseline = one.keys.baseline;
      entry.result.sweep = SweepInfo{file.name, true, baseline.empty() ? file.policies.front().label : baseline};
      places_[{one.label, policy.label}] = entries_.size();
      entries_.push_back(std::move(entry));
    }
  }
}

Result<SweepResults> SweepResults::create(const std::string& folder, const SweepFile& file,
                                          const std::vector<std::string>& command) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail("out: {} cannot be made: {}", quote(folder), error.message());
  if (fs::exists(fs::path(folder) / "all.csv", error)) {
    return fail("out: {} holds the results of a sweep already; name another folder", quote(folder));
  }
  const auto text = read_text_file(file.path);
  if (!text) return tl::unexpected(text.error());
  const auto copy = fs::path(folder) / fs::path(file.path).filename();
  if (auto ok = write_text_file(copy.string(), *text); !ok) return tl::unexpected(ok.error());
  return SweepResults(folder, file, command);
}

void SweepResults::add(const SweepCase& one, const SweepPolicy& policy, const std::optional<ServerInfo>& server,
                       Run run) {
  Entry& entry = entries_[places_.at({one.label, policy.label})];
  if (!entry.result.server) entry.result.server = server;
  entry.result.runs.push_back(std::move(run));
  entry.changed = true;
}

Result<void> SweepResults::save() {
  for (auto& entry : entries_) {
    if (!entry.changed) continue;
    if (auto ok = write_text_file(entry.path, result_text(entry.result)); !ok) return ok;
    entry.changed = false;
  }
  const auto all = files();
  if (all.empty()) return {};
  return write_text_file((fs::path(folder_) / "all.csv").string(), result_csv(all));
}

Result<void> SweepResults::save_report(const std::string& text) const {
  return write_text_file((fs::path(folder_) / "report.txt").string(), text);
}

std::vector<ResultFile> SweepResults::files() const {
  std::vector<ResultFile> all;
  for (const auto& entry : entries_) {
    if (!entry.result.runs.empty()) all.push_back(entry.result);
  }
  return all;
}

std::uint64_t SweepResults::failed_requests() const {
  std::uint64_t sum = 0;
  for (const auto& entry : entries_) {
    for (const auto& run : entry.result.runs) sum += run.failed();
  }
  return sum;
}

}  // namespace convoy
