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
  if ((line.first == nullptr || line.first->asked_at > now) && line.free_at <= now) {
    send(thread, line, now);
    if (line.first != nullptr) wait_for_service(line, now);
    return;
  }
  insert(thread, line);
  if (line.first == &thread) wait_for_service(line, now);
}

// By the time of asking: behind it stand only polls that are still to come.
void MachineLines::insert(MachineThread& thread, MachineLine& line) {
  thread.next = Next::kNothing;
  if (events_.at(thread.index) != kNoTime) events_.set(thread.index, kNoTime);
  if (line.first == nullptr) {
    line.first = line.last = &thread;
    return;
  }
  if (line.last->asked_at <= thread.asked_at) {
    line.last->next_in_line = &thread;
    line.last = &thread;
    return;
  }
  MachineThread* before = nullptr;
  MachineThread* behind = line.first;
  for (; behind->asked_at <= thread.asked_at; behind = behind->next_in_line) before = behind;
  thread.next_in_line = behind;
  if (before != nullptr) {
    before->next_in_line = &thread;
    return;
  }
  line.first = &thread;
  behind->next = Next::kNothing;
  events_.set(behind->index, kNoTime);
}

void MachineLines::serve(MachineLine& line, MachineTime now) {
  if (line.first->access == Access::kLoad && !nearest_first_) {
    send_reads(line, now);
  } else {
    send(take_next(line, now), line, now);
  }
  if (line.first != nullptr) wait_for_service(line, now);
}

// Reads that wait in a row are served one after the other whoever comes later, so all are decided at once. One may get
// the line from a copy that an earlier one of the row has got by then.
void MachineLines::send_reads(MachineLine& line, MachineTime now) {
  const CpuSet copies = line.copies;
  struct UnderWay {
    MachineTime arrival;
    std::uint32_t cpu;
  };
  std::array<UnderWay, kMaxCpus> under_way;
  std::size_t count = 0, sent = 0;
  const auto is_next = [&] {
    return line.first != nullptr && line.first->access == Access::kLoad && line.first->asked_at <= now;
  };
  for (MachineTime at = now; is_next() && sent < kMaxCpus; at = line.free_at, ++sent) {
    for (std::size_t i = 0; i < count;) {
      if (under_way[i].arrival > at) {
        ++i;
        continue;
      }
      line.copies.add(under_way[i].cpu);
      under_way[i] = under_way[--count];
    }
    MachineThread& next = take_next(line, at);
    send(next, line, at);
    under_way[count++] = {events_.at(next.index), next.cpu};
  }
  line.copies = copies;
}

// Puts the event of the queue into the slot of its first.
void MachineLines::wait_for_service(MachineLine& line, MachineTime now) {
  line.first->next = Next::kServe;
  events_.set(line.first->index, std::max({now, line.free_at, line.first->asked_at}));
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
  // It reaches who has the line half-way; one that waited for its turn has come that far meanwhile.
  if (writes || line.leaves_at == 0) {
    line.leaves_at = std::max(now, thread.asked_at + cost / 2) + (arrival - (now + cost));
    line.copies_leave = writes;
    if (writes) take_copies(line, thread.cpu);
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
  if (line.keepers != 0) tell_keepers(line, thread.cpu, now);
}

// Who spins on the line asks for it again at its first poll without it. When that will be is known now, so the request
// is put into the queue, unless something else comes before it. The watches stand in the order of their phases: those
// whose poll comes in the period under way are before those of the next one.
void MachineLines::take_copies(MachineLine& line, std::uint32_t writer) {
  const MachineTime phase = line.leaves_at % pause_;
  const MachineTime period = line.leaves_at - phase;
  const auto ask = [&](const LineWatch& watch, MachineTime poll) {
    MachineThread& thread = *watch.thread;
    if (thread.next == Next::kPoll && thread.cpu != writer && !thread.spin.keeps_line) ask_again(thread, line, poll);
  };
  const LineWatch* watch = line.watches;
  while (watch != nullptr && watch->phase < phase) watch = watch->next;
  const LineWatch* const first = watch;
  for (; watch != nullptr; watch = watch->next) ask(*watch, period + watch->phase);
  for (watch = line.watches; watch != first; watch = watch->next) ask(*watch, period + watch->phase + pause_);
}

void MachineLines::ask_again(MachineThread& thread, MachineLine& line, MachineTime poll) {
  if (poll >= events_.at(thread.index)) return;
  if (thread.spin.watches[1].line != nullptr || nearest_first_) return events_.set(thread.index, poll);
  thread.line = &line;
  thread.access = Access::kLoad;
  thread.asked_at = poll;
  thread.next_in_line = nullptr;
  insert(thread, line);
  ++polls_;
}

void MachineLines::tell_keepers(MachineLine& line, std::uint32_t writer, MachineTime now) {
  for (LineWatch* watch = line.watches; watch != nullptr; watch = watch->next) {
    MachineThread& thread = *watch->thread;
    if (thread.next != Next::kPoll || thread.cpu == writer || !thread.spin.keeps_line) continue;
    const MachineTime poll = next_poll(thread, now);
    if (poll < events_.at(thread.index)) events_.set(thread.index, poll);
  }
}

// Sorted by phase, then by thread.
void MachineLines::watch(LineWatch& watch, MachineThread& thread, MachineLine& line) {
  watch.thread = &thread;
  watch.line = &line;
  watch.phase = thread.spin.started % pause_;
  LineWatch* before = nullptr;
  LineWatch* behind = line.watches;
  const auto is_before = [&](const LineWatch& other) {
    return other.phase != watch.phase ? other.phase < watch.phase : other.thread->index < thread.index;
  };
  for (; behind != nullptr && is_before(*behind); behind = behind->next) before = behind;
  watch.previous = before;
  watch.next = behind;
  if (behind != nullptr) behind->previous = &watch;
  (before != nullptr ? before->next : line.watches) = &watch;
  if (thread.spin.keeps_line) ++line.keepers;
}

void MachineLines::unwatch(LineWatch& watch) {
  if (watch.line == nullptr) return;
  if (watch.thread->spin.keeps_line) --watch.line->keepers;
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
