// compare_facts.cc — Headings and differences, read from the runs.
// SPDX-License-Identifier: MIT
#include "loadgen/compare_facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "common/parse.h"

namespace convoy {
namespace {

constexpr double kPageBytes = 4096;

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "3.0", or "3.0 to 5.9".
std::string range_text(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const auto first = fmt::format("{:.1f}", *low), last = fmt::format("{:.1f}", *high);
  return first == last ? first : first + " to " + last;
}

std::string seconds_text(double seconds) { return fmt::format("{:g}", std::round(seconds * 10) / 10); }

const std::map<std::string, std::string>* config_of(const LabelledRun& run) {
  return run.file->server && run.file->server->config ? &*run.file->server->config : nullptr;
}

std::string workload_line(const std::vector<LabelledRun>& runs, const Group& group) {
  if (group.workload == "csv") return fmt::format("{}: one figure a cell, as published", group.target);
  std::string line = group.workload == "http" ? "GET " : group.workload + " ";
  line += group.target;
  if (group.case_label) line += fmt::format(" (case {})", *group.case_label);
  double transactions = 0, bytes = 0;
  std::vector<double> acquisitions;
  for (const auto& [file, run, label] : runs) {
    transactions += static_cast<double>(run->transactions);
    bytes += static_cast<double>(run->bytes);
    if (run->acquisitions_per_transaction) acquisitions.push_back(*run->acquisitions_per_transaction);
  }
  const double each = transactions > 0 ? bytes / transactions : 0;
  if (each > 0) line += fmt::format(", {:.0f} bytes", each);
  if (runs[0].run->connection) line += fmt::format(", {}", *runs[0].run->connection);
  if (acquisitions.empty()) return line;
  if (each > 0) line += fmt::format("; {}", plural(static_cast<std::size_t>(std::ceil(each / kPageBytes)), "page"));
  return line + fmt::format(", {} page-lock acquisitions per request", range_text(acquisitions));
}

std::string server_line(const LabelledRun& first) {
  std::string line;
  const auto append = [&line](const std::string& text) { line += (line.empty() ? "" : ", ") + text; };
  if (const auto* config = config_of(first)) {
    const auto setting = [config](const char* name) {
      const auto found = config->find(name);
      return found == config->end() ? std::string() : found->second;
    };
    if (const auto value = setting("threading"); !value.empty()) append(value + " pattern");
    if (const auto value = setting("workers"); !value.empty()) append(value + " workers");
    if (const auto value = setting("folio-order"); !value.empty()) append("folio order " + value);
    if (const auto value = setting("access"); !value.empty()) append("access " + value);
  } else if (first.file->server && first.file->server->name) {
    append(*first.file->server->name);
  }
  const auto& run = *first.run;
  const auto world = run.world == "machine" ? fmt::format("simulated machine {}", run.machine.value_or("unknown"))
                                            : "real threads, " + plural(first.file->host.cores, "core");
  return line.empty() ? world : line + "; " + world;
}

std::string repeats_line(const std::vector<LabelledRun>& runs, const Group& group) {
  std::size_t most = 0;
  for (const auto& level : group.levels)
    for (const auto& cell : level.cells)
      if (cell) most = std::max(most, cell->values.size());
  auto line =
      group.fewest_runs == most ? plural(most, "run") : fmt::format("{} to {}", group.fewest_runs, plural(most, "run"));
  std::vector<double> durations;
  for (const auto& run : runs) durations.push_back(run.run->duration_s);
  const auto [low, high] = std::minmax_element(durations.begin(), durations.end());
  const auto shortest = seconds_text(*low), longest = seconds_text(*high);
  line += fmt::format(" of {} s a cell", shortest == longest ? shortest : shortest + " to " + longest);
  const auto interleaved = [](const LabelledRun& run) { return run.file->sweep && run.file->sweep->interleaved; };
  if (std::all_of(runs.begin(), runs.end(), interleaved)) return line + ", interleaved";
  return line + ", one label after the other (not interleaved: use sweep)";
}

// A policy or a knob of a role, or what differs between any two starts of a server.
bool is_expected_to_differ(const std::string& setting) {
  static const std::set<std::string> expected{"http", "resp", "docroot", "config"};
  for (const char* role : {"page", "mapping", "lru", "keyspace"}) {
    const auto policy = fmt::format("{}-lock", role);
    if (setting.compare(0, policy.size(), policy) == 0) return true;
  }
  return expected.count(setting) > 0;
}

// Everything that should be the same in runs that are compared, as far as the run says it.
std::map<std::string, std::string> conditions_of(const LabelledRun& labelled) {
  const auto& [file, run, label] = labelled;
  std::map<std::string, std::string> conditions;
  const auto add = [&conditions](const std::string& name, const std::string& value) {
    if (!value.empty()) conditions[name] = value;
  };
  add("kernel", file->host.kernel);
  add("cpu", file->host.cpu);
  add("cores", file->host.cores > 0 ? fmt::format("{}", file->host.cores) : "");
  add("generator", file->tool.version.empty() ? "" : file->tool.version + " " + file->tool.commit);
  if (file->server) {
    add("server", file->server->name.value_or(""));
    add("server version", file->server->version.value_or(""));
  }
  if (const auto* config = config_of(labelled))
    for (const auto& [name, value] : *config)
      if (!is_expected_to_differ(name)) add(name, value);
  add("world", run->world);
  add("machine", run->machine.value_or(""));
  add("connection", run->connection.value_or(""));
  add("seed", fmt::format("{}", run->seed));
  add("warm-up", seconds_text(run->warmup_s) + " s");
  add("duration", seconds_text(run->duration_s) + " s");
  return conditions;
}

}  // namespace

std::vector<std::string> heading_of(const std::vector<LabelledRun>& runs, const Group& group) {
  std::vector<std::string> lines{workload_line(runs, group)};
  if (group.workload == "csv") return lines;
  lines.push_back(server_line(runs[0]));
  lines.push_back(repeats_line(runs, group));
  return lines;
}

std::vector<std::string> differences_of(const std::vector<LabelledRun>& runs) {
  // Name of the condition, label, values.
  std::map<std::string, std::map<std::string, std::set<std::string>>> all;
  for (const auto& run : runs) {
    if (run.run->workload == "csv") continue;
    for (const auto& [name, value] : conditions_of(run)) all[name][run.label].insert(value);
  }
  std::vector<std::string> differences;
  for (const auto& [name, by_label] : all) {
    std::map<std::string, std::vector<std::string>> labels_by_value;
    std::set<std::set<std::string>> distinct;
    for (const auto& [label, values] : by_label) {
      distinct.insert(values);
      labels_by_value[fmt::format("{}", fmt::join(values, ", "))].push_back(label);
    }
    if (distinct.size() < 2) continue;
    std::string entry = name + ":";
    for (const auto& [value, labels] : labels_by_value)
      entry += fmt::format("{} {} ({})", entry.back() == ':' ? "" : ";", value, fmt::join(labels, ", "));
    differences.push_back(entry);
  }
  return differences;
}

}  // namespace convoy
