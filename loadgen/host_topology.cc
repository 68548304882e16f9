// host_topology.cc — How the processors that this process may use are related.
// SPDX-License-Identifier: MIT
#include "loadgen/host_topology.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/files.h"
#include "common/parse.h"
#include "loadgen/cpu_list.h"

namespace convoy {
namespace {

std::string read_line(const std::string& path) {
  const auto text = read_text_file(path, 4096);
  if (!text) return "";
  return text->substr(0, text->find('\n'));
}

int read_number(const std::string& path, int otherwise) {
  const auto number = parse_unsigned(read_line(path), 0, 1u << 20);
  return number ? static_cast<int>(*number) : otherwise;
}

// The first processor of a list such as "0-3,8", which stands for those that share something.
int first_of_list(const std::string& path, int otherwise) {
  const auto cpus = parse_cpu_list(read_line(path));
  return cpus && !cpus->empty() ? cpus->front() : otherwise;
}

// The most parts that one whole has.
template <class Whole, class Part>
std::uint32_t most(const std::vector<HostCpu>& cpus, Whole whole, Part part) {
  std::map<int, std::set<int>> parts;
  for (const auto& cpu : cpus) parts[whole(cpu)].insert(part(cpu));
  std::size_t count = 1;
  for (const auto& [unused, of_one] : parts) count = std::max(count, of_one.size());
  return static_cast<std::uint32_t>(count);
}

int all(const HostCpu&) { return 0; }
int number(const HostCpu& cpu) { return cpu.number; }
int core(const HostCpu& cpu) { return cpu.core; }
int cluster(const HostCpu& cpu) { return cpu.cluster; }
int socket(const HostCpu& cpu) { return cpu.socket; }

}  // namespace

std::uint32_t HostTopology::sockets() const { return most(cpus, all, socket); }
std::uint32_t HostTopology::clusters_per_socket() const { return most(cpus, socket, cluster); }
std::uint32_t HostTopology::cores_per_cluster() const { return most(cpus, cluster, core); }
std::uint32_t HostTopology::threads_per_core() const { return most(cpus, core, number); }

std::optional<std::pair<int, int>> HostTopology::pair_of(Nearness nearness) const {
  for (std::size_t a = 0; a < cpus.size(); ++a) {
    for (std::size_t b = a + 1; b < cpus.size(); ++b) {
      if (nearness_of(cpus[a], cpus[b]) == nearness) return std::pair(cpus[a].number, cpus[b].number);
    }
  }
  return std::nullopt;
}

Nearness nearness_of(const HostCpu& a, const HostCpu& b) {
  if (a.core == b.core) return Nearness::kSmt;
  if (a.cluster == b.cluster) return Nearness::kCluster;
  return a.socket == b.socket ? Nearness::kSocket : Nearness::kCross;
}

HostTopology read_host_topology(const std::vector<int>& cpus, const std::string& sys) {
  HostTopology topology;
  for (const int number : cpus) {
    const auto folder = fmt::format("{}/cpu{}/", sys, number);
    HostCpu cpu;
    cpu.number = number;
    cpu.socket = read_number(folder + "topology/physical_package_id", 0);
    cpu.core = first_of_list(folder + "topology/thread_siblings_list", number);
    // The largest cache there is stands last.
    cpu.cluster = -1 - cpu.socket;
    for (const char* index : {"index2", "index3"}) {
      cpu.cluster = first_of_list(folder + "cache/" + index + "/shared_cpu_list", cpu.cluster);
    }
    topology.cpus.push_back(cpu);
  }
  return topology;
}

}  // namespace convoy
