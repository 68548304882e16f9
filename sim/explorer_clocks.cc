// explorer_clocks.cc — What operations do to clocks: dependence for the pruning, synchronisation for data races.
// SPDX-License-Identifier: MIT
//
// Synchronisation follows C++: a release store replaces what an acquire of the object brings, a relaxed store clears
// it, a release read-modify-write adds to it, a relaxed one keeps it (release sequence). Parking and unparking bring
// nothing.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/explorer.h"

namespace convoy {
namespace {

constexpr std::uint64_t kRead = 1, kWrite = 2, kReadModifyWrite = 3;
constexpr Loc kNowhere{"", 0};

constexpr std::uint64_t mix(std::uint64_t x) {  // the finaliser of splitmix64
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9;
  x ^= x >> 27;
  x *= 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

std::string place(Loc loc) { return loc.line == 0 ? "plain data" : fmt::format("{}:{}", loc.file, loc.line); }

}  // namespace

// A sum over events, so that their order does not matter, only their clocks.
void Explorer::sign(const Clock& clock, int thread, std::uint64_t object, std::uint64_t kind) {
  std::uint64_t hash = mix(object * 8 + kind) ^ static_cast<std::uint64_t>(clock.memory) << 32;
  for (const std::uint32_t time : clock.at) hash = mix(hash ^ time) + 0x9E3779B97F4A7C15;
  signature_ += mix(hash ^ static_cast<std::uint64_t>(thread));
}

void Explorer::begin_event(ExploredThread& thread) {
  ++thread.dependence.at[static_cast<std::size_t>(running_)];
  ++thread.synchronisation.at[static_cast<std::size_t>(running_)];
}

ObjectRecord& Explorer::object_at(const void* address, Loc loc) {
  ObjectRecord* object = objects_.find(address);
  if (object == nullptr || !object->alive) {
    std::string text = fmt::format("{}: use of an object that is not alive", place(loc));
    fail("dead_object", std::move(text));  // this frame is abandoned: it must own nothing
  }
  return *object;
}

void Explorer::constructed(const void* address) {
  ObjectRecord& object = objects_.insert(address);
  object.alive = true;
  if (!scheduling_) {
    object.id = ++setup_objects_;
    return;
  }
  ExploredThread& thread = me();
  begin_event(thread);
  object.id = (static_cast<std::uint64_t>(running_ + 2) << 32) + ++thread.objects_made;
  object.dependence_write = thread.dependence;
  object.writer = running_;
  object.writer_time = thread.synchronisation.at[static_cast<std::size_t>(running_)];
}

// Before the first object of the type. The same in every execution, whoever asks first.
std::uint64_t Explorer::first_object_of(const void* type) {
  auto known = std::find(shared_types_.begin(), shared_types_.end(), type);
  if (known == shared_types_.end()) known = shared_types_.insert(known, type);
  return static_cast<std::uint64_t>(known - shared_types_.begin() + 16) << 32;
}

void Explorer::destroyed(const void* address) {
  if (!scheduling_) return;
  write_own_delayed(address);
  plain_write(address);
  objects_.find(address)->alive = false;
}

// An object has an address of its own, so that the objects in a node are those known by an address in it.
void Explorer::retire(const void* node, std::size_t bytes) {
  const auto* first = static_cast<const char*>(node);
  for (const char* at = first; at != first + bytes; ++at) {
    if (objects_.find(at) != nullptr) destroyed(at);
  }
}

void Explorer::revive(const void* node, std::size_t bytes) {
  const auto* first = static_cast<const char*>(node);
  for (const char* at = first; at != first + bytes; ++at) {
    if (objects_.find(at) != nullptr) constructed(at);
  }
}

// The construction, or the last plain write, must have happened before.
void Explorer::check_constructed(const ObjectRecord& object, const ExploredThread& thread, Loc loc) {
  if (object.writer >= 0 && object.writer != running_ &&
      object.writer_time > thread.synchronisation.at[static_cast<std::size_t>(object.writer)]) {
    const int writer = object.writer;
    std::string text = fmt::format("{}: thread {} races with a write by thread {}", place(loc), running_, writer);
    fail("race", std::move(text));  // this frame is abandoned: it must own nothing
  }
}

void Explorer::plain_read(const void* address) {
  if (!scheduling_) return;
  ObjectRecord& object = object_at(address, kNowhere);
  ExploredThread& thread = me();
  begin_event(thread);
  check_constructed(object, thread, kNowhere);
  thread.dependence.join(object.dependence_write);
  object.dependence_read.join(thread.dependence);
  object.accesses.at[static_cast<std::size_t>(running_)] =
      thread.synchronisation.at[static_cast<std::size_t>(running_)];
  sign(thread, object.id, kRead);
}

void Explorer::plain_write(const void* address) {
  if (!scheduling_) return;
  ObjectRecord& object = object_at(address, kNowhere);
  ExploredThread& thread = me();
  begin_event(thread);
  check_constructed(object, thread, kNowhere);
  for (int i = 0; i < thread_count_; ++i) {
    const auto other = static_cast<std::size_t>(i);
    if (i != running_ && object.accesses.at[other] > thread.synchronisation.at[other]) {
      fail("race", fmt::format("thread {} writes, or ends, data while thread {} uses it", running_, i));
    }
  }
  thread.dependence.join(object.dependence_write);
  thread.dependence.join(object.dependence_read);
  object.dependence_write = thread.dependence;
  object.dependence_read = {};
  object.writer = running_;
  object.writer_time = thread.synchronisation.at[static_cast<std::size_t>(running_)];
  object.accesses.at[static_cast<std::size_t>(running_)] = object.writer_time;
  sign(thread, object.id, kWrite);
}

void Explorer::atomic_read(const void* address, bool acquire, Loc loc) {
  if (!scheduling_) return;
  ObjectRecord& object = object_at(address, loc);
  ExploredThread& thread = me();
  begin_event(thread);
  check_constructed(object, thread, loc);
  thread.dependence.join(object.dependence_write);
  object.dependence_read.join(thread.dependence);
  object.accesses.at[static_cast<std::size_t>(running_)] =
      thread.synchronisation.at[static_cast<std::size_t>(running_)];
  sign(thread, object.id, kRead);
  if (acquire) this->acquire(thread, object, loc);
}

// What the object brings; a pair is observed if another thread has a part in it.
void Explorer::acquire(ExploredThread& thread, const ObjectRecord& object, Loc loc) {
  if ((object.releasers & ~(1u << running_)) != 0) pairs_.acquire(loc, object.releases);
  thread.synchronisation.join(object.synchronisation);
}

void Explorer::atomic_write(const void* address, bool release, Loc loc) {
  if (!scheduling_) return;
  ObjectRecord& object = object_at(address, loc);
  ExploredThread& thread = me();
  begin_event(thread);
  check_constructed(object, thread, loc);
  thread.dependence.join(object.dependence_write);
  thread.dependence.join(object.dependence_read);
  object.dependence_write = thread.dependence;
  object.dependence_read = {};
  object.accesses.at[static_cast<std::size_t>(running_)] =
      thread.synchronisation.at[static_cast<std::size_t>(running_)];
  sign(thread, object.id, kWrite);
  object.synchronisation = release ? thread.synchronisation : Clock{};
  object.releases = release ? pairs_.release(loc) : 0;
  object.releasers = release ? 1u << running_ : 0;
}

void Explorer::atomic_rmw(const void* address, bool acquire, bool release, Loc loc) {
  if (!scheduling_) return;
  ObjectRecord& object = object_at(address, loc);
  ExploredThread& thread = me();
  begin_event(thread);
  check_constructed(object, thread, loc);
  thread.dependence.join(object.dependence_write);
  thread.dependence.join(object.dependence_read);
  object.dependence_write = thread.dependence;
  object.dependence_read = {};
  object.accesses.at[static_cast<std::size_t>(running_)] =
      thread.synchronisation.at[static_cast<std::size_t>(running_)];
  sign(thread, object.id, kReadModifyWrite);
  if (acquire) this->acquire(thread, object, loc);
  if (!release) return;
  object.synchronisation.join(thread.synchronisation);
  object.releases |= pairs_.release(loc);
  object.releasers |= 1u << running_;
}

std::uint64_t Explorer::ordinal(const void* address) {
  ObjectRecord* object = objects_.find(address);
  return object == nullptr ? 0 : object->id;
}

}  // namespace convoy
