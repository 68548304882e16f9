// compare_input.h — Result files, folders of them, and published tables, read from disk.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "common/result_schema.h"

namespace convoy {

// Returns the paths of all result files: a folder stands for every *.json in it, in the order of their names. Fails for
// a folder without any, and for a path that does not exist.
Result<std::vector<std::string>> expand_paths(const std::vector<std::string>& paths);

// Reads results, folders of results, and CSV tables (a path that ends in .csv).
Result<std::vector<ResultFile>> read_results(const std::vector<std::string>& paths);

// Reads a table "users,label,label,..." of transactions per second: one run a figure, in a workload named csv whose
// target is `name`. Lines that begin with # and empty ones are skipped, an empty field is no run; a second row of the
// same users is a further repeat. Errors carry `name` and the line.
Result<ResultFile> parse_published_csv(const std::string& text, const std::string& name);

}  // namespace convoy
