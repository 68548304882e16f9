// explorer_stores.cc — Delayed stores: issued, seen by their own thread, and at last by all.
// SPDX-License-Identifier: MIT
#include <utility>

#include "sim/explorer.h"

namespace convoy {
namespace {

constexpr std::uint64_t kDrain = 0, kRead = 1, kDelayedStore = 7;  // what sign() tells apart

}  // namespace

bool Explorer::delay_store(const void* address, std::uint64_t value, decltype(DelayedStore::write) write, bool release,
                           Loc loc) {
  if (!scheduling_) return false;
  ExploredThread& thread = me();
  if (thread.delayed.empty()) {
    if (delayed_left_ == 0 || is_fair()) return false;
    if (take(2, 2, guide_ == Guide::kPriorities && random_below(4) == 0 ? 1 : 0) == 0) return false;
    --delayed_left_;
  }
  ObjectRecord& object = object_at(address, loc);
  begin_event(thread);
  check_constructed(object, thread, loc);
  // Whoever ends the object must have synchronised with a later operation of this thread, which comes after the drain.
  object.accesses.at[static_cast<std::size_t>(running_)] =
      thread.synchronisation.at[static_cast<std::size_t>(running_)];
  sign(thread, object.id, kDelayedStore);
  thread.delayed.push_back({address, value, write, release, loc, thread.dependence, thread.synchronisation});
  ++delayed_now_;
  return true;
}

// The thread's oldest delayed store reaches the memory: an event of the memory, not of the thread, which does not see
// when it happens. All drains are in one order.
void Explorer::drain(int index) {
  ExploredThread& thread = threads_[static_cast<std::size_t>(index)];
  const DelayedStore store = thread.delayed.front();
  thread.delayed.erase(thread.delayed.begin());
  --delayed_now_;
  ObjectRecord& object = *objects_.find(store.object);
  memory_.join(store.dependence);
  memory_.join(object.dependence_write);
  memory_.join(object.dependence_read);
  ++memory_.memory;
  object.dependence_write = memory_;
  object.dependence_read = {};
  object.synchronisation = store.release ? store.synchronisation : Clock{};
  object.releases = store.release ? pairs_.release(store.loc) : 0;
  object.releasers = store.release ? 1u << index : 0;
  sign(memory_, index, object.id, kDrain);
  const int turn = std::exchange(running_, index);
  store.write(store.object, store.value, store.loc);
  running_ = turn;
}

void Explorer::fence() {
  if (!scheduling_) return;
  while (!me().delayed.empty()) drain(running_);
}

void Explorer::step_to_fence() {
  if (!scheduling_ || me().delayed.empty()) return;
  step();
  fence();
}

const std::uint64_t* Explorer::delayed_value(int index, const void* object) const {
  if (delayed_now_ == 0 || !scheduling_) return nullptr;  // Scenario::check() sees the memory
  const ExploredThread& thread = threads_[static_cast<std::size_t>(index)];
  for (auto store = thread.delayed.rbegin(); store != thread.delayed.rend(); ++store) {
    if (store->object == object) return &store->value;
  }
  return nullptr;
}

void Explorer::delayed_read(const void* address, Loc loc) {
  ObjectRecord& object = object_at(address, loc);
  ExploredThread& thread = me();
  begin_event(thread);
  sign(thread, object.id, kRead);
}

// An object ends while stores to it by its own thread are delayed: they are part of its end, and nobody saw them apart.
void Explorer::write_own_delayed(const void* address) {
  auto& delayed = me().delayed;
  for (auto store = delayed.begin(); store != delayed.end();) {
    if (store->object != address) {
      ++store;
      continue;
    }
    store->write(address, store->value, store->loc);
    store = delayed.erase(store);
    --delayed_now_;
  }
}

}  // namespace convoy
