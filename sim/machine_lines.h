// machine_lines.h — What an access to a cache line costs, by who has the line and how far away that is.
// SPDX-License-Identifier: MIT
//
// A line is held by one hardware thread alone, or shared by some. A load hits when the core has the line, a store and a
// read-modify-write when it has it alone. Everything else is a request, and a line serves one request at a time:
//
//   read    the nearest copy is sent; the line can serve the next read after its read occupancy, a write once the copy
//           has arrived
//   write   costs the way to the farthest copy; the next request is served when the line has arrived and been written
//
// Who has the line may still hit until a request reaches it, half-way; one that waited for its turn has come that far
// meanwhile, and takes the line as soon as it is served.
//
// Requests wait in the order in which they were made. With `nearest` service the one nearest to the line goes first, as
// long as the oldest has not waited for longer than the window. What an operation does to a word it does when the line
// has arrived.
//
// A thread that spins watches its lines: it holds a copy, and costs nothing until another core has written the line;
// then its next poll is a read request like any other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/machine_events.h"
#include "sim/machine_spec.h"
#include "sim/machine_thread.h"
#include "sim/machine_topology.h"

namespace convoy {

// All zero is a line that nobody has touched.
struct MachineLine {
  CpuSet copies;
  std::uint32_t alone = 0;         // 1 + who may write it at once; 0: nobody
  std::uint32_t number = 0;        // 1 + how many lines were touched before
  std::uint32_t home = 0;          // 1 + the socket whose memory it lies in
  std::uint32_t requests = 0;      // that are under way
  MachineTime free_at = 0;         // when it can serve the next request
  MachineTime reads_end = 0;       // when the last copy under way arrives
  MachineTime leaves_at = 0;       // when the request under way takes the line from who has it; 0: none does
  bool copies_leave = false;       // whether that ends the copies too, as a write does
  MachineThread* first = nullptr;  // of the requests that wait
  MachineThread* last = nullptr;
  LineWatch* watches = nullptr;
  std::uint32_t keepers = 0;  // of them that poll by read-modify-write
};

class MachineLines {
 public:
  MachineLines(const MachineSpec& spec, const MachineTopology& topology, MachineEvents& events);

  // Whether the core can do it at once, at what cost.
  bool hits(const MachineLine& line, std::uint32_t cpu, MachineTime now, Access access) const {
    if (line.alone == cpu + 1 && (line.leaves_at == 0 || now < line.leaves_at)) return true;
    return access == Access::kLoad && has_copy(line, cpu, now);
  }
  bool has_copy(const MachineLine& line, std::uint32_t cpu, MachineTime now) const {
    return line.copies.has(cpu) && (!line.copies_leave || now < line.leaves_at);
  }
  MachineTime hit_cost(Access access) const { return hit_costs_[static_cast<std::size_t>(access)]; }

  // The thread asks for the line; its event will be kArrive. Requires: no hit.
  void request(MachineThread& thread, MachineLine& line, Access access, MachineTime now);
  // How often a spinning thread asked for a line that it had lost.
  std::uint64_t polls() const { return polls_; }
  // The event kServe of the first in a line's queue.
  void serve(MachineLine& line, MachineTime now);
  // The event kArrive: the line is there, and the operation happens now.
  void arrive(MachineThread& thread, MachineTime now);

  void watch(LineWatch& watch, MachineThread& thread, MachineLine& line);
  void unwatch(LineWatch& watch);
  // Whether a write is under way that takes the copies of the line, from leaves_at on.
  bool is_being_taken(const MachineLine& line) const { return line.copies_leave && line.leaves_at != 0; }
  // The first poll of a spinning thread at or after `now`.
  MachineTime next_poll(const MachineThread& thread, MachineTime now) const;

 private:
  MachineTime latency(const MachineLine& line, std::uint32_t cpu, Access access) const;
  MachineThread& take_next(MachineLine& line, MachineTime now);
  void send(MachineThread& thread, MachineLine& line, MachineTime now);
  void send_reads(MachineLine& line, MachineTime now);
  void insert(MachineThread& thread, MachineLine& line);
  void wait_for_service(MachineLine& line, MachineTime now);
  void take_copies(MachineLine& line, std::uint32_t writer);
  void ask_again(MachineThread& thread, MachineLine& line, MachineTime poll);
  void tell_keepers(MachineLine& line, std::uint32_t writer, MachineTime now);

  const MachineTopology& topology_;
  MachineEvents& events_;
  MachineTime hit_costs_[3];
  MachineTime transfer_[5];  // by Distance
  MachineTime memory_local_;
  MachineTime memory_remote_;
  MachineTime read_occupancy_;
  MachineTime pause_;
  MachineTime window_;
  bool nearest_first_;
  std::uint64_t polls_ = 0;
};

// A number of a machine file in picoseconds.
inline MachineTime picoseconds(double ns) { return static_cast<MachineTime>(ns * 1000 + 0.5); }

}  // namespace convoy
