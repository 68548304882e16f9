// machine_events.h — When each thread of the machine has its next event, and which is the first.
// SPDX-License-Identifier: MIT
//
// A tournament tree: every slot has one time, a node is the earlier one of its two halves. A node is one number, the
// time above the slot, so that the earlier of two is the lesser, and of equal times the lower slot's.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace convoy {

// Virtual time in picoseconds, up to five hours.
using MachineTime = std::uint64_t;
inline constexpr unsigned kSlotBits = 10;
inline constexpr std::uint32_t kMaxSlots = std::uint32_t{1} << kSlotBits;
inline constexpr MachineTime kNoTime = ~MachineTime{0} >> kSlotBits;

class MachineEvents {
 public:
  MachineEvents() { grow(2); }

  // Makes room for so many slots; those that are there keep their times.
  void grow(std::size_t slots) {
    const std::size_t size = std::bit_ceil(slots);
    if (size <= size_) return;
    std::vector<std::uint64_t> nodes(2 * size);
    for (std::size_t i = 0; i < size; ++i) nodes[size + i] = i < size_ ? nodes_[size_ + i] : kNoTime << kSlotBits | i;
    for (std::size_t node = size - 1; node != 0; --node) nodes[node] = lesser(nodes[2 * node], nodes[2 * node + 1]);
    nodes_ = nodes;
    size_ = size;
  }

  std::uint32_t first() const { return static_cast<std::uint32_t>(nodes_[1] % kMaxSlots); }
  MachineTime earliest() const { return nodes_[1] >> kSlotBits; }
  MachineTime at(std::uint32_t slot) const { return nodes_[size_ + slot] >> kSlotBits; }

  void set(std::uint32_t slot, MachineTime time) {
    std::size_t node = size_ + slot;
    nodes_[node] = time << kSlotBits | slot;
    do {
      const std::uint64_t least = lesser(nodes_[node], nodes_[node ^ 1]);
      node /= 2;
      if (nodes_[node] == least) return;  // nothing changes above
      nodes_[node] = least;
    } while (node != 1);
  }

 private:
  static std::uint64_t lesser(std::uint64_t a, std::uint64_t b) { return b < a ? b : a; }

  std::size_t size_ = 0;
  std::vector<std::uint64_t> nodes_;  // the root is 1, slot i is size_ + i
};

}  // namespace convoy
