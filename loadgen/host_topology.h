// host_topology.h — How the processors that this process may use are related.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace convoy {

// From near to far, as the line transfers of a machine file.
enum class Nearness : std::uint8_t { kSmt, kCluster, kSocket, kCross };
inline constexpr std::array<std::string_view, 4> kNearnessNames{"hardware threads of a core", "same last-level cache",
                                                                "same socket, other cache", "other socket"};

struct HostCpu {
  int number = 0;
  int socket = 0;
  int cluster = 0;  // the last-level cache, by the first processor that shares it
  int core = 0;     // by the first processor of the core
};

struct HostTopology {
  std::vector<HostCpu> cpus;

  // Of the largest part of each kind.
  std::uint32_t sockets() const;
  std::uint32_t clusters_per_socket() const;
  std::uint32_t cores_per_cluster() const;
  std::uint32_t threads_per_core() const;

  // Two that are so near to each other, if there are such.
  std::optional<std::pair<int, int>> pair_of(Nearness nearness) const;
};

Nearness nearness_of(const HostCpu& a, const HostCpu& b);

// Reads /sys; what cannot be read counts as one socket, one cache, a core each.
HostTopology read_host_topology(const std::vector<int>& cpus, const std::string& sys = "/sys/devices/system/cpu");

}  // namespace convoy
