// process_cpu.cc — getrusage for ourselves, /proc for others.
// SPDX-License-Identifier: MIT
#include "common/process_cpu.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "common/parse.h"

namespace convoy {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

struct ProcessTimes {
  pid_t parent = 0;
  double user_s = 0;
  double sys_s = 0;
};

// Numbers that name entries of a folder under /proc.
std::vector<pid_t> numbered_entries(const std::string& path) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (!folder) return numbers;
  while (const auto* entry = ::readdir(folder.get()))
    if (const auto number = parse_unsigned(entry->d_name, 1, 1u << 30)) numbers.push_back(static_cast<pid_t>(*number));
  return numbers;
}

// Reads /proc/PID/stat; false when the process is gone.
bool read_times(pid_t pid, ProcessTimes& times) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return false;
  const auto name_end = line.rfind(')');  // the name in parentheses may hold anything, spaces and ')' included
  if (name_end == std::string::npos) return false;
  std::istringstream fields(line.substr(name_end + 1));
  std::string state, skipped;
  double user = 0, sys = 0, children_user = 0, children_sys = 0;
  fields >> state >> times.parent;
  for (int i = 5; i <= 13; ++i) fields >> skipped;  // numbered as in proc(5): pgrp to cmajflt
  fields >> user >> sys >> children_user >> children_sys;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  times.user_s = (user + children_user) / ticks;
  times.sys_s = (sys + children_sys) / ticks;
  return !fields.fail();
}

std::uint64_t context_switches_of(pid_t pid) {
  std::uint64_t sum = 0;
  const auto tasks = fmt::format("/proc/{}/task", pid);
  for (const auto task : numbered_entries(tasks)) {
    std::ifstream status(fmt::format("{}/{}/status", tasks, task));
    for (std::string line; std::getline(status, line);) {
      const auto colon = line.find("ctxt_switches:\t");
      if (colon == std::string::npos) continue;
      if (const auto count = parse_unsigned(std::string_view(line).substr(colon + 15))) sum += *count;
    }
  }
  return sum;
}

}  // namespace

ProcessCpu own_cpu() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {seconds(usage.ru_utime), seconds(usage.ru_stime),
          static_cast<std::uint64_t>(usage.ru_nvcsw) + static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

Result<ProcessCpu> cpu_of_process_tree(pid_t pid) {
  std::map<pid_t, ProcessTimes> processes;
  for (const auto one : numbered_entries("/proc"))
    if (ProcessTimes times; read_times(one, times)) processes.emplace(one, times);
  if (processes.find(pid) == processes.end()) return fail("{}: there is no such process", pid);
  ProcessCpu sum;
  std::vector<pid_t> tree{pid};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const auto& times = processes.at(tree[i]);
    sum.user_s += times.user_s;
    sum.sys_s += times.sys_s;
    sum.context_switches += context_switches_of(tree[i]);
    for (const auto& [child, child_times] : processes)
      if (child_times.parent == tree[i] && child != tree[i]) tree.push_back(child);
  }
  return sum;
}

}  // namespace convoy
