// compare_labels.cc — A name for runs that were not given one.
// SPDX-License-Identifier: MIT
#include <map>
#include <set>

#include "loadgen/compare_cells.h"

namespace convoy {
namespace {

// What tells policies apart: the text to print, by a key that is equal for equal things.
std::map<std::string, std::string> traits_of(const ResultFile& file, const Run& run) {
  std::map<std::string, std::string> traits;
  const auto server = file.server && file.server->name ? *file.server->name : std::string("unknown server");
  traits["0 server"] = server;
  if (run.policy)
    for (const auto& [role, policy] : *run.policy)
      traits["1 " + role] = role == "page" || role == "lock" ? policy : role + "=" + policy;
  if (run.knobs)
    for (const auto& [knob, value] : *run.knobs) {
      constexpr std::string_view kUsual = "page-lock-";
      const auto name = knob.compare(0, kUsual.size(), kUsual) == 0 ? knob.substr(kUsual.size()) : knob;
      traits["2 " + knob] = fmt::format("{}={}", name, value);
    }
  return traits;
}

}  // namespace

std::vector<LabelledRun> label_runs(const std::vector<ResultFile>& files) {
  std::vector<LabelledRun> runs;
  std::vector<std::map<std::string, std::string>> traits;
  std::map<std::string, std::set<std::string>> values;
  std::set<std::string> keys;
  for (const auto& file : files)
    for (const auto& run : file.runs) {
      runs.push_back({&file, &run, run.label});
      traits.push_back(traits_of(file, run));
      for (const auto& [key, text] : traits.back()) keys.insert(key);
    }
  for (const auto& key : keys)
    for (const auto& of_run : traits) {
      const auto found = of_run.find(key);
      values[key].insert(found == of_run.end() ? std::string() : found->second);
    }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].label.empty()) continue;
    for (const auto& [key, text] : traits[i])
      if (values[key].size() > 1) runs[i].label += (runs[i].label.empty() ? "" : " ") + text;
    for (const char* usual : {"1 page", "1 lock", "0 server"}) {
      const auto found = traits[i].find(usual);
      if (runs[i].label.empty() && found != traits[i].end()) runs[i].label = found->second;
    }
  }
  return runs;
}

}  // namespace convoy
