// quiescence.h — Runs a change while no thread is inside a region in which it may take or hold a swappable lock.
// SPDX-License-Identifier: MIT
//
// A thread is a member by number. It enters a region before it may take a lock of a swappable class and leaves it when
// it holds none: a request, a batch of commands. Who changes something stops entries, waits until every member is
// outside, changes, and lets entries go: no lock of a swappable class is then held or waited for.
//
//   enter:  set the own flag, then look at the stop word (a Dekker pair, both seq_cst); stopped: step back out, wait
//   run:    leave the own region; set the stop word; wait for each flag; change; clear the stop word; enter again
//
// Inside a region a thread waits only for what needs no other thread's region to begin or end: policy locks, whose
// holders are inside as well, the disk, its own system calls. So every region ends. Who asks for a change is inside a
// region like anybody else, and leaves it first: else two who ask would wait for each other for ever.
//
// Words
//   stop  bit 0 set while a change waits or runs; bit 1 waiters, as in folio.h
//   flag  one a member: bit 0 inside; bit 1 somebody waits for it to leave
//
// Synchronizes-with
//   A: A1 flag set, then stop looked at → A2 stop set, then flags looked at; seq_cst: one of the two sees the other
//   B: B1 leave → B0 the change (what was done inside)
//   C: C1 end of the change → C0 enter (what was changed)
//   D: A1 flag set → D0 is_inside (what the member did before it entered)
//   W: see wait_table.h
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "wait_table.h"
#include "world.h"

namespace convoy {

template <World W>
class Quiescence {
 public:
  // From 0 to members - 1; each used by one thread at a time.
  using Member = std::uint32_t;

  enum class Outcome : std::uint8_t {
    kDone,
    kOccupied,  // nothing was changed: a member was still inside when the deadline passed
    kBusy,      // nothing was changed: another change was still under way when the deadline passed
  };

  explicit Quiescence(std::uint32_t members) : members_(members), flags_(new Flag[members]) {}
  Quiescence(const Quiescence&) = delete;
  Quiescence& operator=(const Quiescence&) = delete;

  // Two uncontended read-modify-writes with leave(); waits while a change is made. Not reentrant.
  void enter(Member me) {
    for (;;) {
      flags_[me].word.fetch_add(kInside, seq_cst);        // A1
      if ((stop_.load(seq_cst) & kStop) == 0) [[likely]]  // C0
        return;
      leave(me);
      wait_for_clear<W>(table_, stop_, kStop, kWaiters);
    }
  }

  // Requires: no lock of a swappable class is held.
  void leave(Member me) {
    auto& word = flags_[me].word;
    if ((word.fetch_sub(kInside, release) & kWaiters) != 0) [[unlikely]]  // B1, W1
      wake_all<W>(table_, word, kWaiters);
  }

  // Whether `member` is inside; out of date at once.
  bool is_inside(Member member) const { return (flags_[member].word.load(acquire) & kInside) != 0; }  // D0
  std::uint32_t members() const { return members_; }
  // Whether the calling member is inside. Relaxed: nobody else changes that bit.
  bool am_inside(Member me) const { return (flags_[me].word.load(relaxed) & kInside) != 0; }

  // Calls change() while nobody is inside; once `deadline` has passed, given_up() instead, while those who are still
  // inside can be seen by is_inside(). Called from inside a region, with no lock of a swappable class held; may be
  // called by several at once: one after the other has its turn. On return the caller is inside again, but for kBusy:
  // to enter would be to wait for that other change; it does so by enter() once it has said that it gave up.
  template <class Change, class GivenUp>
  Outcome run(Member me, Deadline deadline, Change change, GivenUp given_up) {
    leave(me);
    if (!stop_entries(deadline)) return Outcome::kBusy;
    Outcome outcome = Outcome::kOccupied;
    if (await_quiet(deadline)) {
      outcome = Outcome::kDone;
      change();
    } else {
      given_up();
    }
    if ((stop_.fetch_and(~kStop, release) & kWaiters) != 0) wake_all<W>(table_, stop_, kWaiters);  // C1, W1
    enter(me);
    return outcome;
  }

 private:
  static constexpr std::uint32_t kStop = 1;
  static constexpr std::uint32_t kInside = 1;
  static constexpr std::uint32_t kWaiters = 2;

  struct alignas(64) Flag {
    Atomic<W, std::uint32_t> word{0};
  };

  bool stop_entries(Deadline deadline) {
    while ((stop_.fetch_or(kStop, seq_cst) & kStop) != 0) {  // A2; C0 of the change before
      if (!wait_for_clear<W>(table_, stop_, kStop, kWaiters, deadline)) return false;
    }
    return true;
  }

  bool await_quiet(Deadline deadline) {
    for (Member member = 0; member < members_; ++member) {
      auto& word = flags_[member].word;
      while ((word.load(seq_cst) & kInside) != 0) {  // A2, B0
        if (!wait_for_clear<W>(table_, word, kInside, kWaiters, deadline)) return false;
      }
    }
    return true;
  }

  const std::uint32_t members_;
  std::unique_ptr<Flag[]> flags_;
  alignas(64) Atomic<W, std::uint32_t> stop_{0};
  WaitTable<W> table_;
};

// A region as a scope. It may end outside, after a run() that was kBusy.
template <World W>
class Region {
 public:
  Region(Quiescence<W>& quiescence, typename Quiescence<W>::Member me) : quiescence_(quiescence), me_(me) {
    quiescence_.enter(me_);
  }
  ~Region() {
    if (quiescence_.am_inside(me_)) quiescence_.leave(me_);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  // Goes inside again after a run() that was kBusy; may wait.
  void go_on() {
    if (!quiescence_.am_inside(me_)) quiescence_.enter(me_);
  }

 private:
  Quiescence<W>& quiescence_;
  const typename Quiescence<W>::Member me_;
};

}  // namespace convoy
