// machine_topology.h — Which hardware threads share a core, a cluster, a socket.
// SPDX-License-Identifier: MIT
//
// Numbered as Linux does on most machines: first one hardware thread of every core, socket by socket, then the
// siblings in the same order.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/machine_spec.h"

namespace convoy {

inline constexpr std::uint32_t kMaxCpus = 256;
inline constexpr std::uint32_t kNoCpu = kMaxCpus;

class CpuSet {
 public:
  bool has(std::uint32_t cpu) const { return (words_[cpu / 64] >> (cpu % 64) & 1) != 0; }
  void add(std::uint32_t cpu) { words_[cpu / 64] |= std::uint64_t{1} << (cpu % 64); }
  void only(std::uint32_t cpu) {
    words_ = {};
    add(cpu);
  }
  bool empty() const { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }
  bool meets(const CpuSet& other) const {
    return ((words_[0] & other.words_[0]) | (words_[1] & other.words_[1]) | (words_[2] & other.words_[2]) |
            (words_[3] & other.words_[3])) != 0;
  }
  bool reaches_beyond(const CpuSet& other) const {
    return ((words_[0] & ~other.words_[0]) | (words_[1] & ~other.words_[1]) | (words_[2] & ~other.words_[2]) |
            (words_[3] & ~other.words_[3])) != 0;
  }

 private:
  std::array<std::uint64_t, kMaxCpus / 64> words_{};
};

enum class Distance : std::uint8_t { kSelf, kSmt, kCluster, kSocket, kCross };

class MachineTopology {
 public:
  explicit MachineTopology(const MachineSpec& spec)
      : cpus_(spec.cpus()),
        cores_(cpus_ / spec.threads_per_core),
        cores_per_cluster_(spec.cores_per_cluster),
        cores_per_socket_(spec.clusters_per_socket * spec.cores_per_cluster),
        groups_(cpus_) {
    for (std::uint32_t cpu = 0; cpu < cpus_; ++cpu) {
      for (std::uint32_t other = 0; other < cpus_; ++other) {
        const Distance distance = between(cpu, other);
        if (distance <= Distance::kSelf) groups_[cpu].self.add(other);
        if (distance <= Distance::kSmt) groups_[cpu].core.add(other);
        if (distance <= Distance::kCluster) groups_[cpu].cluster.add(other);
        if (distance <= Distance::kSocket) groups_[cpu].socket.add(other);
      }
    }
  }

  std::uint32_t cpus() const { return cpus_; }
  std::uint32_t core_of(std::uint32_t cpu) const { return cpu % cores_; }
  std::uint32_t socket_of(std::uint32_t cpu) const { return core_of(cpu) / cores_per_socket_; }
  // kNoCpu when the core has one hardware thread.
  std::uint32_t sibling_of(std::uint32_t cpu) const { return cpus_ == cores_ ? kNoCpu : (cpu + cores_) % cpus_; }

  Distance between(std::uint32_t a, std::uint32_t b) const {
    if (a == b) return Distance::kSelf;
    if (core_of(a) == core_of(b)) return Distance::kSmt;
    if (core_of(a) / cores_per_cluster_ == core_of(b) / cores_per_cluster_) return Distance::kCluster;
    return socket_of(a) == socket_of(b) ? Distance::kSocket : Distance::kCross;
  }
  // Requires: the set is not empty.
  Distance nearest(std::uint32_t cpu, const CpuSet& set) const {
    const Groups& of = groups_[cpu];
    if (set.meets(of.self)) return Distance::kSelf;
    if (set.meets(of.core)) return Distance::kSmt;
    if (set.meets(of.cluster)) return Distance::kCluster;
    return set.meets(of.socket) ? Distance::kSocket : Distance::kCross;
  }
  Distance farthest(std::uint32_t cpu, const CpuSet& set) const {
    const Groups& of = groups_[cpu];
    if (set.reaches_beyond(of.socket)) return Distance::kCross;
    if (set.reaches_beyond(of.cluster)) return Distance::kSocket;
    if (set.reaches_beyond(of.core)) return Distance::kCluster;
    return set.reaches_beyond(of.self) ? Distance::kSmt : Distance::kSelf;
  }

 private:
  struct Groups {
    CpuSet self, core, cluster, socket;
  };
  std::uint32_t cpus_;
  std::uint32_t cores_;
  std::uint32_t cores_per_cluster_;
  std::uint32_t cores_per_socket_;
  std::vector<Groups> groups_;  // by cpu
};

}  // namespace convoy
