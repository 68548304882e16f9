// machine_lines.cc — The cost model of cache lines.
// SPDX-License-Identifier: MIT
#include "sim/machine_lines.h"

#include <algorithm>
#include <array>

namespace convoy {

MachineLines::MachineLines(const MachineSpec& spec, const MachineTopology& topology, MachineEvents& events)
    : topology_(topology),
      events_(events),
      hit_costs_{picoseconds(spec.hit_load), picoseconds(spec.hit_store), picoseconds(spec.hit_atomic)},
      transfer_{0, picoseconds(spec.transfer_smt), picoseconds(spec.transfer_cluster),
                picoseconds(spec.transfer_socket), picoseconds(spec.transfer_cross)},
      memory_local_(picoseconds(spec.memory_local)),
      memory_remote_(picoseconds(spec.memory_remote)),
      read_occupancy_(picoseconds(spec.read_occupancy)),
      pause_(picoseconds(spec.pause)),
      window_(picoseconds(spec.nearest_window)),
      nearest_first_(spec.line_service == "nearest") {}

void MachineLines::request(MachineThread& thread, MachineLine& line, Access access, MachineTime now) {
  thread.line = &line;
  thread.access = access;
  thread.asked_at = now;
  thread.next_in_line = nullptr;
  if (line.first == nullptr && line.free_at <= now) return send(thread, line, now);
  thread.next = Next::kNothing;
  if (line.first != nullptr) {
    line.last->next_in_line = &thread;
    line.last = &thread;
    events_.set(thread.index, kNoTime);
    return;
  }
  line.first = line.last = &thread;
  wait_for_service(line, now);
}

void MachineLines::serve(MachineLine& line, MachineTime now) {
  if (line.first->access == Access::kLoad && !nearest_first_) {
    send_reads(line, now);
  } else {
    send(take_next(line, now), line, now);
  }
  if (line.first != nullptr) wait_for_service(line, now);
}

// Reads in a row are served one after the other whoever comes later, so all are decided at once. One may get the line
// from a copy that an earlier one of the row has got by then.
void MachineLines::send_reads(MachineLine& line, MachineTime now) {
  const CpuSet copies = line.copies;
  std::array<const MachineThread*, kMaxCpus> under_way;
  std::size_t first = 0, last = 0;
  for (MachineTime at = now; line.first != nullptr && line.first->access == Access::kLoad && last < kMaxCpus;
       at = line.free_at) {
    for (std::size_t i = first; i < last; ++i) {
      if (under_way[i] != nullptr && events_.at(under_way[i]->index) <= at) {
        line.copies.add(under_way[i]->cpu);
        under_way[i] = nullptr;
      }
    }
    while (first < last && under_way[first] == nullptr) ++first;
    MachineThread& next = take_next(line, at);
    send(next, line, at);
    under_way[last++] = &next;
  }
  line.copies = copies;
}

// Puts the event of the queue into the slot of its first.
void MachineLines::wait_for_service(MachineLine& line, MachineTime now) {
  line.first->next = Next::kServe;
  events_.set(line.first->index, std::max(now, line.free_at));
}

MachineThread& MachineLines::take_next(MachineLine& line, MachineTime now) {
  MachineThread* before = nullptr;
  MachineThread* chosen = line.first;
  if (nearest_first_ && !line.copies.empty() && now - line.first->asked_at <= window_) {
    Distance best = topology_.nearest(chosen->cpu, line.copies);
    for (MachineThread* at = line.first; at->next_in_line != nullptr && best > Distance::kSmt; at = at->next_in_line) {
      const Distance distance = topology_.nearest(at->next_in_line->cpu, line.copies);
      if (distance >= best) continue;
      best = distance;
      before = at;
      chosen = at->next_in_line;
    }
  }
  if (before == nullptr) {
    line.first = chosen->next_in_line;
  } else {
    before->next_in_line = chosen->next_in_line;
  }
  if (line.last == chosen) line.last = before;
  chosen->next_in_line = nullptr;
  return *chosen;
}

MachineTime MachineLines::latency(const MachineLine& line, std::uint32_t cpu, Access access) const {
  if (line.copies.empty()) {
    return line.home == 0 || line.home == topology_.socket_of(cpu) + 1 ? memory_local_ : memory_remote_;
  }
  const Distance distance =
      access == Access::kLoad ? topology_.nearest(cpu, line.copies) : topology_.farthest(cpu, line.copies);
  if (distance == Distance::kSelf) return hit_costs_[static_cast<std::size_t>(access)];
  return transfer_[static_cast<std::size_t>(distance)];
}

void MachineLines::send(MachineThread& thread, MachineLine& line, MachineTime now) {
  const bool writes = thread.access != Access::kLoad;
  const MachineTime cost = latency(line, thread.cpu, thread.access);
  MachineTime arrival = now + cost;
  if (line.home == 0) line.home = topology_.socket_of(thread.cpu) + 1;
  if (writes) {  // waits for the copies under way
    arrival = std::max(arrival, line.reads_end);
    line.free_at = arrival + hit_costs_[static_cast<std::size_t>(thread.access)];
  } else {
    line.reads_end = std::max(line.reads_end, arrival);
    line.free_at = now + read_occupancy_;
  }
  // Half-way through it reaches who has the line.
  if (writes || line.leaves_at == 0) {
    line.leaves_at = arrival - cost / 2;
    line.copies_leave = writes;
  }
  ++line.requests;
  thread.next = Next::kArrive;
  events_.set(thread.index, arrival);
}

void MachineLines::arrive(MachineThread& thread, MachineTime now) {
  MachineLine& line = *thread.line;
  thread.line = nullptr;
  --line.requests;
  if (thread.access == Access::kLoad) {
    const bool is_first = line.copies.empty();
    line.copies.add(thread.cpu);
    line.alone = is_first ? thread.cpu + 1 : 0;
    if (line.requests == 0) line.leaves_at = 0;
    return;
  }
  line.copies.only(thread.cpu);
  line.alone = thread.cpu + 1;
  line.leaves_at = 0;
  line.copies_leave = false;
  tell_watchers(line, thread.cpu, now);
}

void MachineLines::tell_watchers(MachineLine& line, std::uint32_t writer, MachineTime now) {
  for (LineWatch* watch = line.watches; watch != nullptr; watch = watch->next) {
    MachineThread& thread = *watch->thread;
    if (thread.next != Next::kPoll || thread.cpu == writer) continue;
    const MachineTime poll = next_poll(thread, now);
    if (poll < events_.at(thread.index)) events_.set(thread.index, poll);
  }
}

void MachineLines::watch(LineWatch& watch, MachineThread& thread, MachineLine& line) {
  watch.thread = &thread;
  watch.line = &line;
  watch.previous = nullptr;
  watch.next = line.watches;
  if (line.watches != nullptr) line.watches->previous = &watch;
  line.watches = &watch;
}

void MachineLines::unwatch(LineWatch& watch) {
  if (watch.line == nullptr) return;
  if (watch.next != nullptr) watch.next->previous = watch.previous;
  if (watch.previous != nullptr) {
    watch.previous->next = watch.next;
  } else {
    watch.line->watches = watch.next;
  }
  watch.line = nullptr;
}

MachineTime MachineLines::next_poll(const MachineThread& thread, MachineTime now) const {
  if (now <= thread.spin.started) return thread.spin.started;
  const MachineTime polls = (now - thread.spin.started + pause_ - 1) / pause_;
  return thread.spin.started + polls * pause_;
}

}  // namespace convoy
