// explorer.h — Runs a scenario under every schedule up to a bound, and says what went wrong in which.
// SPDX-License-Identifier: MIT
//
// Re-execution, not snapshots: a schedule is the list of choices taken, and the next schedule repeats a prefix of it.
// Threads are fibres of one OS thread; every operation of ExploreWorld that another thread could see is a step, before
// which any thread may go on. Searched depth first with at most `preemption_bound` preemptions: switches away from a
// thread that could go on, and cores that a thread is said to have lost (is_running, should_yield, the end of an
// optimistic spin).
//
// Pruning: happens-before caching (Musuvathi and Qadeer, MSR-TR-2007-12): two prefixes whose events have the same
// clocks lead to the same state, so the second is abandoned if it has not spent fewer preemptions. Sound under a
// preemption bound, as sleep sets are not.
//
// Delayed stores (x86-TSO; Owens, Sarkar and Sewell, TPHOLs 2009): with `delayed_stores`, a store may stay in a FIFO of
// its thread, where only its own loads see it, and reach the memory at any later moment: at the latest when the thread
// does what is a fence on x86 (a read-modify-write, a seq_cst store, parking, waking, a SpinLock) or ends. Up to that
// many stores a schedule are delayed by choice; a store behind a delayed one waits behind it.
//
// Liveness: from a sample of the prefixes that were run, threads go on in turns, time passes for who waits long, and no
// wake is spurious. Such a fair schedule must come to its end.
//
// Beyond the bound: sample() runs schedules by probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and
// Nagarakatte, ASPLOS 2010): random priorities, the highest that can goes on, and at a few random steps the running
// thread falls below all others.
//
// Found: deadlock (a lost wake-up is one), a claim of the scenario or a panic of the lock that fails, also when it is
// asked between two steps (Scenario::check), a data race on Plain data (two clocks a thread: *dependence* for the
// pruning, *synchronisation* for races), use of an object after its end, a spare node that is kept (leak), no end
// within `max_steps`, or within `fair_steps` of a fair schedule (starvation). Not found: what only a weaker memory
// order than x86-TSO lets happen, races apart.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory_resource>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "locks/lock_order.h"
#include "locks/spare_nodes.h"
#include "sim/fiber.h"
#include "sim/object_table.h"
#include "sim/observed_pairs.h"
#include "sim/scenario.h"

namespace convoy {

struct ExploreOptions {
  int preemption_bound = 3;
  bool cache = true;
  std::uint64_t max_schedules = 2'000'000;
  int spurious_wakes = 1;  // per schedule
  int delayed_stores = 0;  // per schedule; 0 is sequential consistency
  int max_steps = 5'000;
  int fair_schedules = 30;  // after the search, each from a prefix of its own
  int fair_steps = 2'000;
};

struct Defect {
  std::string kind;      // deadlock, race, claim, panic, dead_object, leak, no_progress, starvation
  std::string text;      // one sentence
  std::string schedule;  // for ExploreOptions-independent replay
  std::string ladder;    // one column per thread
};

struct Exploration {
  std::uint64_t schedules = 0;
  std::uint64_t pruned = 0;  // of these, abandoned because the state was known
  std::uint64_t steps = 0;
  bool exhausted = false;  // every schedule within the bound was run or pruned; of a replay: the schedule fitted
  bool complete = false;   // exhausted, and the bound cut nothing
  std::uint64_t fair_schedules = 0;
  std::optional<Defect> defect;
  std::vector<std::string> witnesses;  // what Explorer::witness() was called with, in any schedule
};

// Whether a text is a schedule as Defect::schedule gives it: "-", or POSITION:CHOICE pairs with rising positions; of a
// fair one the prefix and its length, then how many steps a turn has: PREFIX~LENGTH:STEPS.
bool is_schedule(const std::string& text);

class Explorer {
 public:
  // Runs schedules until one shows a defect, all are done, or max_schedules were run; then the fair ones.
  Exploration explore(const ScenarioFactory& make, const ExploreOptions& options);

  // Runs `schedules` random ones, whatever the preemption bound is, until one shows a defect.
  Exploration sample(const ScenarioFactory& make, const ExploreOptions& options, std::uint64_t seed, int schedules);

  // Runs one schedule, as Defect::schedule gives it. Past its end the running thread goes on as long as it can.
  Exploration replay(const ScenarioFactory& make, const ExploreOptions& options, const std::string& schedule);

  // Seen in whatever this explorer has run.
  const ObservedPairs& pairs() const { return pairs_; }

  // The rest is for ExploreWorld, called on the fibre of the running thread.

  // The explorer whose scenario is being built, run or destroyed.
  static Explorer& current() { return *current_; }
  int running() const { return running_; }

  enum class Wake : std::uint8_t { kReady, kTimeout, kSpurious };
  // kMayGiveUp: may time out at the price of a preemption; for nothing when nobody else can go on.
  enum class Patience : std::uint8_t { kUntilReady, kMayTimeOut, kMayGiveUp, kMayWakeSpuriously };
  // A step that can be taken once ready() holds; what else may end the wait is a choice of the schedule.
  template <class Ready>
  Wake step(Ready ready, Patience patience = Patience::kUntilReady) {
    if (!scheduling_) return Wake::kReady;
    return wait_for_turn([](void* argument) { return (*static_cast<Ready*>(argument))(); }, &ready, patience);
  }
  void step() {
    step([] { return true; });
  }
  // One of n continuations, of which the schedule chooses.
  int choose(int n);
  // Whether somebody has lost a core: a choice of the schedule, at the price of a preemption.
  bool lose_core();

  // Objects: what an operation on the memory at `object` does to the clocks. Construction and destruction are plain
  // writes.
  void constructed(const void* object);
  void destroyed(const void* object);
  void plain_read(const void* object);
  void plain_write(const void* object);
  void atomic_read(const void* object, bool acquire, Loc loc);
  void atomic_write(const void* object, bool release, Loc loc);
  void atomic_rmw(const void* object, bool acquire, bool release, Loc loc);

  // A store that its thread has issued and nobody else sees yet. Its clocks are those of the moment of issue.
  struct DelayedStore {
    const void* object;
    std::uint64_t value;
    void (*write)(const void* object, std::uint64_t value, Loc loc);
    bool release;
    Loc loc;
    Clock dependence;
    Clock synchronisation;
  };
  // Whether the running thread's store is delayed: behind another delayed one always, otherwise by choice. If so,
  // write() is called when it reaches the memory.
  bool delay_store(const void* object, std::uint64_t value, decltype(DelayedStore::write) write, bool release, Loc loc);
  // All delayed stores of the running thread reach the memory: after a step; or by a step of their own, if there are
  // any.
  void fence();
  void step_to_fence();
  // The value of the thread's last delayed store to the object; null if there is none.
  const std::uint64_t* delayed_value(int thread, const void* object) const;
  // A load that was answered by delayed_value().
  void delayed_read(const void* object, Loc loc);

  std::uint64_t ordinal(const void* object);

  // The running thread's spare nodes. Memory of a node is kept until the execution ends.
  SpareNodes& spares() { return threads_[static_cast<std::size_t>(running_ < 0 ? 0 : running_)].spares; }
  // How many are in use, in all threads. One that is still when all have ended is lost.
  void count_spares(int change) { spares_in_use_ += change; }
  void* spare_memory(std::size_t bytes, std::size_t alignment) { return node_memory_.allocate(bytes, alignment); }
  // Ends the objects in a node, and begins them anew as they are.
  void retire(const void* node, std::size_t bytes);
  void revive(const void* node, std::size_t bytes);

  bool tracing() const { return tracing_ && scheduling_; }
  void trace(Loc loc, std::string text);

  // The park word of each thread: true means that a wake has come.
  bool& park_permit(int thread) { return threads_[static_cast<std::size_t>(thread)].permit; }
  const void* park_object(int thread) const { return &threads_[static_cast<std::size_t>(thread)].permit; }

  // What the running thread holds, and the order of the lock classes in this execution.
  HeldLocks& held_locks() { return threads_[static_cast<std::size_t>(running_ < 0 ? 0 : running_)].held_locks; }
  LockOrder& lock_order() { return lock_order_; }

  // Whether the thread is in park(), or woken there and not yet on.
  bool& asleep(int thread) { return threads_[static_cast<std::size_t>(thread)].asleep; }

  // The one T of this execution. Built outside of the schedule: whoever asks first, all see it whole.
  template <class T>
  T& shared() {
    for (const SharedObject& shared : shared_objects_) {
      if (shared.type == &kTypeOf<T>) return *static_cast<T*>(shared.object);
    }
    const bool scheduling = std::exchange(scheduling_, false);
    const std::uint64_t others = std::exchange(setup_objects_, first_object_of(&kTypeOf<T>));
    T* const object = new T;
    setup_objects_ = others;
    scheduling_ = scheduling;
    shared_objects_.push_back({&kTypeOf<T>, object, [](void* old) { delete static_cast<T*>(old); }});
    return *object;
  }

  // A deadline passes at any moment, and stays passed.
  std::uint64_t new_deadline() {
    if (deadlines_ == deadline_objects_.size()) std::abort();
    constructed(&deadline_objects_[deadlines_]);
    return deadlines_++;
  }
  const void* deadline_object(std::uint64_t id) const { return &deadline_objects_[id]; }
  bool deadline_passed(std::uint64_t id) const { return (passed_deadlines_ >> id & 1) != 0; }
  void pass_deadline(std::uint64_t id) { passed_deadlines_ |= std::uint64_t{1} << id; }

  void witness(const char* name);
  // Ends this execution with a defect; does not return.
  [[noreturn]] void fail(const char* kind, std::string text);

 private:
  struct ExploredThread {
    Fiber fiber;
    bool done = true;
    bool permit = false;
    bool asleep = false;
    bool (*ready)(void*) = nullptr;
    void* ready_argument = nullptr;
    Patience patience = Patience::kUntilReady;
    Wake wake = Wake::kReady;
    Clock dependence;
    Clock synchronisation;
    std::uint32_t objects_made = 0;
    SpareNodes spares;
    HeldLocks held_locks;
    std::vector<DelayedStore> delayed;  // the oldest first
  };
  struct Choice {
    std::uint8_t taken;
    std::uint8_t of;
  };
  struct SharedObject {
    const void* type;
    void* object;
    void (*destroy)(void*);
  };
  // Its address stands for the type.
  template <class T>
  static constexpr char kTypeOf{};
  // Who chooses beyond the end of the path: the first candidate, turns, or priorities.
  enum class Guide : std::uint8_t { kFirst, kFair, kPriorities };
  struct Candidate {
    std::int8_t thread;
    Wake wake;
    bool preempts;
    bool drains;  // not the thread goes on, but its oldest delayed store reaches the memory
  };
  // Those that cost a preemption come last, so that the bound cuts the list and moves nothing in it.
  struct Candidates {
    std::array<Candidate, 2 * kMaxExploredThreads> all;
    int count = 0;
    int without_preemption = 0;
    bool here = false;  // whether the running thread can go on
    void add(int thread, Wake wake, bool preempts, bool drains = false) {
      all[static_cast<std::size_t>(count++)] = {static_cast<std::int8_t>(thread), wake, preempts, drains};
      if (!preempts) without_preemption = count;
    }
  };

  Wake wait_for_turn(bool (*ready)(void*), void* argument, Patience patience);
  void count_step();
  void check_scenario();
  void execute(const ScenarioFactory& make);
  void run_threads();
  bool next_path();
  bool pick();
  bool can_go_on(int thread);
  Candidates collect_candidates();
  bool nobody_can_go_on();
  bool may_preempt() const { return preemptions_ < options_.preemption_bound; }
  bool known_state(bool here);
  int take(int allowed, int possible, int preferred = 0);
  bool go_on_with(int thread, Wake wake);
  bool is_fair() const { return guide_ == Guide::kFair && depth_ >= path_.size(); }
  bool pick_fairly();
  void set_priorities();
  int by_priority(const Candidates& candidates);
  std::uint64_t random();
  int random_below(int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); }
  void keep_prefix(std::uint64_t schedules);
  void run_fair_schedules(const ScenarioFactory& make, Exploration& result);
  std::uint64_t first_object_of(const void* type);
  void drain(int thread);
  void write_own_delayed(const void* object);
  void sign(const Clock& clock, int thread, std::uint64_t object, std::uint64_t kind);
  void sign(const ExploredThread& thread, std::uint64_t object, std::uint64_t kind) {
    sign(thread.dependence, running_, object, kind);
  }
  ObjectRecord& object_at(const void* address, Loc loc);
  void begin_event(ExploredThread& thread);
  void acquire(ExploredThread& thread, const ObjectRecord& object, Loc loc);
  void check_constructed(const ObjectRecord& object, const ExploredThread& thread, Loc loc);
  ExploredThread& me() { return threads_[static_cast<std::size_t>(running_)]; }
  std::string schedule_text() const;
  std::string ladder() const;
  void repeat_with_trace(const ScenarioFactory& make, Exploration& result);
  static void thread_body(void* explorer);

  static inline thread_local Explorer* current_ = nullptr;

  ExploreOptions options_;
  std::array<ExploredThread, kMaxExploredThreads> threads_;
  Fiber finish_fiber_;
  Scenario* scenario_ = nullptr;
  int thread_count_ = 0;
  int running_ = -1;
  bool scheduling_ = false;
  bool abandoned_ = false;
  bool pruned_ = false;
  bool foreign_ = false;  // the schedule asks for a choice that there is not
  bool in_finish_ = false;
  int spares_in_use_ = 0;
  bool cut_ = false;  // the bound has kept a schedule from being run

  std::vector<Choice> path_;
  std::size_t depth_ = 0;
  int preemptions_ = 0;
  int spurious_left_ = 0;
  int delayed_left_ = 0;  // how many stores may still be delayed by choice
  int delayed_now_ = 0;   // in all buffers
  Clock memory_;          // of the last delayed store that reached the memory
  int steps_ = 0;
  std::uint64_t signature_ = 0;
  std::unordered_map<std::uint64_t, std::uint8_t> seen_;

  Guide guide_ = Guide::kFirst;
  std::uint64_t random_ = 0;
  std::vector<std::vector<Choice>> prefixes_;
  int turn_steps_ = 1;  // of a fair schedule
  int turn_left_ = 0;
  int fair_steps_ = 0;
  std::array<int, kMaxExploredThreads> turns_missed_{};
  std::array<int, kMaxExploredThreads> priorities_{};  // the highest goes on
  std::array<int, 2> change_points_{};                 // steps at which the running thread falls below all others
  int longest_ = 0;                                    // schedule of a sample, in steps

  ObjectTable objects_;
  std::uint64_t setup_objects_ = 0;        // the number of the last one
  std::vector<const void*> shared_types_;  // kept from execution to execution
  ObservedPairs pairs_;
  std::pmr::monotonic_buffer_resource node_memory_;
  std::vector<SharedObject> shared_objects_;
  LockOrder lock_order_;
  std::uint64_t deadlines_ = 0;
  std::uint64_t passed_deadlines_ = 0;
  std::array<char, 64> deadline_objects_{};  // one name a deadline

  bool tracing_ = false;
  struct TraceLine {
    int thread;
    std::string text;
  };
  std::vector<TraceLine> trace_;
  std::vector<std::string> witnesses_;
  std::optional<Defect> defect_;
};

}  // namespace convoy
