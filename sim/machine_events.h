// machine_events.h — When each thread and core of the machine has its next event, and which is the first.
// SPDX-License-Identifier: MIT
//
// A tournament tree: every slot has one time, a node knows the earlier one of its two halves. Equal times: the lower
// slot first.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace convoy {

// Virtual time in picoseconds.
using MachineTime = std::uint64_t;
inline constexpr MachineTime kNoTime = ~MachineTime{0};

class MachineEvents {
 public:
  explicit MachineEvents(std::size_t slots)
      : size_(std::bit_ceil(slots < 2 ? std::size_t{2} : slots)), times_(size_, kNoTime), winners_(size_, 0) {
    for (std::size_t node = size_ - 1; node != 0; --node) winners_[node] = earlier(left(node), right(node));
  }

  std::uint32_t first() const { return winners_[1]; }
  MachineTime earliest() const { return times_[winners_[1]]; }
  MachineTime at(std::uint32_t slot) const { return times_[slot]; }

  void set(std::uint32_t slot, MachineTime time) {
    times_[slot] = time;
    for (std::size_t node = (slot + size_) / 2; node != 0; node /= 2) {
      const std::uint32_t before = winners_[node];
      const std::uint32_t after = earlier(left(node), right(node));
      if (before == after && after != slot) return;  // nothing changes above
      winners_[node] = after;
    }
  }

 private:
  std::uint32_t left(std::size_t node) const { return winner_of(2 * node); }
  std::uint32_t right(std::size_t node) const { return winner_of(2 * node + 1); }
  std::uint32_t winner_of(std::size_t node) const {
    return node < size_ ? winners_[node] : static_cast<std::uint32_t>(node - size_);
  }
  std::uint32_t earlier(std::uint32_t a, std::uint32_t b) const { return times_[b] < times_[a] ? b : a; }

  std::size_t size_;
  std::vector<MachineTime> times_;
  std::vector<std::uint32_t> winners_;  // of the inner nodes, the root is 1
};

}  // namespace convoy
