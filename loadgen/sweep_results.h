// sweep_results.h — The result folder of a sweep, valid at every moment.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/result_schema.h"
#include "loadgen/sweep_file.h"

namespace convoy {

// Holds one result file a policy (a case and policy, if the sweep has cases), all.csv, a copy of the sweep file and at
// the end report.txt. Files are replaced whole, so an interrupt leaves those of the last save. Not thread-safe.
class SweepResults {
 public:
  // Makes the folder. Errors: it cannot be made, it holds results already, the sweep file cannot be copied.
  static Result<SweepResults> create(const std::string& folder, const SweepFile& file,
                                     const std::vector<std::string>& command);

  // Adds a run and the server that served it; nothing is written.
  void add(const SweepCase& one, const SweepPolicy& policy, const std::optional<ServerInfo>& server, Run run);

  // Writes what has been added since the last save.
  Result<void> save();
  Result<void> save_report(const std::string& text) const;

  const std::string& folder() const { return folder_; }

  // Those with runs, in the order of cases and policies.
  std::vector<ResultFile> files() const;

  std::uint64_t failed_requests() const;

 private:
  struct Entry {
    std::string path;
    ResultFile result;
    bool changed = false;
  };

  SweepResults(std::string folder, const SweepFile& file, const std::vector<std::string>& command);

  std::string folder_;
  std::vector<Entry> entries_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;  // By the labels of case and policy.
};

// "results/NAME-20260131T120000Z".
std::string default_results_folder(const std::string& name);

}  // namespace convoy
