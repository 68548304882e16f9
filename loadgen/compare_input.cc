// compare_input.cc — Paths to results.
// SPDX-License-Identifier: MIT
#include "loadgen/compare_input.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "common/files.h"
#include "common/log.h"
#include "common/parse.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

bool is_csv(const std::string& path) { return fs::path(path).extension() == ".csv"; }

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const auto end = std::min(line.find(',', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

// Turns one row into runs.
Result<void> add_row(const std::vector<std::string>& labels, const std::vector<std::string>& row, ResultFile& file) {
  if (row.size() != labels.size()) return fail("{} fields, but the first line has {}", row.size(), labels.size());
  const auto users = parse_unsigned(row[0], 1, 1'000'000);
  if (!users) return fail("users: {}", users.error().message);
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i].empty()) continue;
    const auto value = parse_real(row[i], 0, 1e12);
    if (!value) return fail("{}: {}", labels[i], value.error().message);
    Run run;
    run.label = labels[i];
    run.workload = "csv";
    run.users = *users;
    run.transactions_per_second = *value;
    file.runs.push_back(std::move(run));
  }
  return {};
}

Result<void> check_labels(const std::vector<std::string>& labels) {
  if (labels.size() < 2 || labels[0] != "users") return fail("the first line is not users,label,label,...");
  std::set<std::string> seen;
  for (const auto& label : labels)
    if (label.empty() || !seen.insert(label).second) return fail("the label {} is empty or given twice", quote(label));
  return {};
}

}  // namespace

Result<std::vector<std::string>> expand_paths(const std::vector<std::string>& paths) {
  std::vector<std::string> expanded;
  for (const auto& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      if (!fs::exists(path, error)) return fail("{}: there is no such file or folder", path);
      expanded.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
      if (entry->path().extension() == ".json") inside.push_back(entry->path().string());
    if (error) return fail("{}: cannot be read: {}", path, error.message());
    if (inside.empty()) return fail("{}: has no .json file", path);
    std::sort(inside.begin(), inside.end());
    expanded.insert(expanded.end(), inside.begin(), inside.end());
  }
  return expanded;
}

Result<ResultFile> parse_published_csv(const std::string& text, const std::string& name) {
  ResultFile file;
  std::vector<std::string> labels;
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    const auto row = split(line);
    const auto done = labels.empty() ? check_labels(row) : add_row(labels, row, file);
    if (!done) return fail("{}:{}: {}", name, number, done.error().message);
    if (labels.empty()) labels = row;
  }
  if (file.runs.empty()) return fail("{}: holds no figures", name);
  for (auto& run : file.runs) run.target = name;
  return file;
}

namespace {

// Drops runs that are no repeats: cut short by a signal, or given twice (a file and its folder, or a copy).
void drop_what_is_no_repeat(std::vector<ResultFile>& files) {
  std::set<std::string> seen;
  std::size_t interrupted = 0, again = 0;
  for (ResultFile& file : files) {
    std::erase_if(file.runs, [&](const Run& run) {
      if (run.interrupted) return ++interrupted, true;
      if (run.started_at.empty()) return false;  // a published figure
      const bool fresh = seen.insert(fmt::format("{}\n{}\n{}\n{}\n{}\n{}", run.label, run.target, run.users, run.repeat,
                                                 run.started_at, run.transactions))
                             .second;
      return !fresh && (++again, true);
    });
  }
  if (interrupted > 0) log_warning("{} runs were cut short by a signal and are left out", interrupted);
  if (again > 0) log_warning("{} runs were given more than once and are counted once", again);
}

}  // namespace

Result<std::vector<ResultFile>> read_results(const std::vector<std::string>& paths) {
  const auto expanded = expand_paths(paths);
  if (!expanded) return tl::unexpected(expanded.error());
  std::vector<ResultFile> files;
  for (const auto& path : *expanded) {
    if (is_csv(path)) {
      const auto text = read_text_file(path);
      if (!text) return tl::unexpected(text.error());
      auto file = parse_published_csv(*text, fs::path(path).filename().string());
      if (!file) return tl::unexpected(file.error());
      files.push_back(std::move(*file));
    } else {
      auto file = read_result_file(path);
      if (!file) return tl::unexpected(file.error());
      files.push_back(std::move(*file));
    }
  }
  const auto published = static_cast<std::size_t>(std::count_if(expanded->begin(), expanded->end(), is_csv));
  if (published != 0 && published != expanded->size()) {
    return fail("a CSV of published figures and results of runs are no cells of one table: compare them one by one");
  }
  drop_what_is_no_repeat(files);
  return files;
}

}  // namespace convoy
