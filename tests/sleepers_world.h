// sleepers_world.h — A world that knows which threads of a scenario have gone to sleep, so that a queue can be ordered.
// SPDX-License-Identifier: MIT
//
// A thread that parks has queued before: so a scenario that lets the next waiter come when the one before is asleep
// knows the order of the queue, on real threads and in the explorer. A thread is known by its place in the scenario.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "locks/world.h"

namespace convoy {

template <Host W>
struct SleepersWorld : W {
  static constexpr std::size_t kPlaces = 4;

  static void park() {
    note_asleep();
    W::park();
  }
  static bool park_until(Deadline deadline) {
    note_asleep();
    const bool in_time = W::park_until(deadline);
    if (!in_time) mine().timed_out = true;
    return in_time;
  }

  // Before the threads of a scenario start.
  static void forget_sleepers() {
    for (Place& place : notes().places) {
      place.noted = false;
      place.timed_out = false;
      place.asleep.store(0, relaxed);  // relaxed: the start of the threads publishes it
    }
  }
  static void take_place(int place) {
    const std::uint32_t index = W::self().index;
    W::require(index < notes().place_of.size(), "no more threads than the sleepers' world knows");
    notes().place_of[index] = static_cast<std::uint8_t>(place);
  }
  // The calling thread is asleep, or will not be any more.
  static void note_asleep() {
    if (mine().noted) return;
    mine().noted = true;
    mine().asleep.store(1, release);
  }
  static void await_asleep(int place) {
    W::await(notes().places[static_cast<std::size_t>(place)].asleep, acquire,
             [](std::uint32_t asleep) { return asleep == 1; });
  }
  // Whether a sleep of the calling thread ended at its deadline.
  static bool timed_out() { return mine().timed_out; }

 private:
  struct Place {
    typename W::template Atomic<std::uint32_t> asleep{0};
    bool noted = false;      // its own thread's
    bool timed_out = false;  // its own thread's
  };
  struct Notes {
    std::array<Place, kPlaces> places;
    std::array<std::uint8_t, 64> place_of{};  // by the world's number of the thread
  };
  static Notes& notes() { return W::template shared<Notes>(); }
  static Place& mine() { return notes().places[notes().place_of[W::self().index]]; }
};

}  // namespace convoy
