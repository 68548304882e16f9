// object_table.h — The explorer's memory of the objects that a schedule has built, by address.
// SPDX-License-Identifier: MIT
//
// Keyed by address and kept apart from the objects, so that a use after the end of an object finds its record, not its
// remains.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace convoy {

inline constexpr int kMaxExploredThreads = 4;

// A vector clock: a component a thread, and one for the memory, whose events are the delayed stores that reach it.
struct Clock {
  std::array<std::uint32_t, kMaxExploredThreads> at{};
  std::uint32_t memory = 0;
  void join(const Clock& other) {
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = at[i] < other.at[i] ? other.at[i] : at[i];
    memory = memory < other.memory ? other.memory : memory;
  }
};

struct ObjectRecord {
  std::uint64_t id = 0;  // by the thread that built it and its order there: the same in equivalent schedules
  bool alive = false;
  Clock dependence_read;       // of all reads so far
  Clock dependence_write;      // of the last write
  Clock synchronisation;       // what an acquire of it brings
  std::uint64_t releases = 0;  // by which releases (observed_pairs.h)
  unsigned releasers = 0;      // of which threads, a bit each
  Clock accesses;              // each thread's own time at its last access
  int writer = -1;             // of the last plain write, construction included
  std::uint32_t writer_time = 0;
};

class ObjectTable {
 public:
  ObjectTable() : slots_(1024) {}

  // Forgets all objects.
  void clear() {
    ++epoch_;
    used_ = 0;
  }
  // A fresh record for the address, replacing the one of an object that stood there.
  ObjectRecord& insert(const void* address) {
    if (used_ * 2 > slots_.size()) grow();
    Slot& slot = find_slot(address);
    if (slot.epoch != epoch_) {
      ++used_;
      slot.epoch = epoch_;
      slot.address = address;
    }
    slot.record = ObjectRecord{};
    return slot.record;
  }
  // Null when no object was ever built there.
  ObjectRecord* find(const void* address) {
    Slot& slot = find_slot(address);
    return slot.epoch == epoch_ ? &slot.record : nullptr;
  }

 private:
  struct Slot {
    const void* address = nullptr;
    std::uint64_t epoch = 0;
    ObjectRecord record;
  };
  Slot& find_slot(const void* address) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = (reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15ull) >> 20 & mask;
    while (slots_[i].epoch == epoch_ && slots_[i].address != address) i = (i + 1) & mask;
    return slots_[i];
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.epoch == epoch_) find_slot(slot.address) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::uint64_t epoch_ = 1;
  std::size_t used_ = 0;
};

}  // namespace convoy
