// lock_subjects.h — What the lock bench measures: our policies and the best known locks of others, under one interface.
// SPDX-License-Identifier: MIT
//
// A subject has kName, kSpins (needs a core per thread), lock(Node&), unlock(Node&) and perhaps lock_shared(Node&),
// unlock_shared(Node&). A Node is what a peer wants its caller to bring: one per thread, used again and again, which is
// the best case for it. Policies of ours bring their own.
#pragma once

#include <absl/synchronization/mutex.h>
#include <oneapi/tbb/queuing_rw_mutex.h>
#include <oneapi/tbb/rw_mutex.h>
#include <oneapi/tbb/spin_rw_mutex.h>
#include <pthread.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <string_view>

#include "locks/annotations.h"
#include "locks/policies.h"
#include "locks/std_lock.h"
#include "tests/bench/ck_peers.h"

namespace convoy {

struct NoNode {};

template <class S>
concept SharedSubject = requires(S s, typename S::Node node) {
  s.lock_shared(node);
};

// A lock with the standard's words.
template <class L>
class StandardSubject {
 public:
  using Node = NoNode;
  void lock(Node&) CONVOY_NO_TSA { lock_.lock(); }
  void unlock(Node&) CONVOY_NO_TSA { lock_.unlock(); }
  CONVOY_NO_TSA void lock_shared(Node&) requires SharedLockable<L> { lock_.lock_shared(); }
  CONVOY_NO_TSA void unlock_shared(Node&) requires SharedLockable<L> { lock_.unlock_shared(); }

 private:
  alignas(64) L lock_;
};

template <class P>
struct PolicySubject : StandardSubject<Lock<P>> {
  static constexpr std::string_view kName = P::kTraits.name;
  static constexpr bool kSpins = P::kTraits.needs_core_per_thread;
};

// The fast path of `bounded` with nobody counting: what event counting costs is the difference.
struct UncountedWorld : RealWorld {
  struct Counters {
    void add(std::uint32_t) {}
    std::uint64_t total(std::uint32_t) const { return 0; }
  };
};
class BoundedUncounted {
 public:
  static constexpr std::string_view kName = "bounded_uncounted";
  static constexpr bool kSpins = false;
  using Node = NoNode;
  void lock(Node&) CONVOY_NO_TSA { lock_.lock(); }
  void unlock(Node&) CONVOY_NO_TSA { lock_.unlock(); }

 private:
  LockClass<UncountedWorld> class_{"bounded_uncounted"};
  alignas(64) Bounded<UncountedWorld> lock_{class_};
};

class PthreadMutex {
 public:
  static constexpr std::string_view kName = "pthread_mutex";
  static constexpr bool kSpins = false;
  using Node = NoNode;
  void lock(Node&) { pthread_mutex_lock(&mutex_); }
  void unlock(Node&) { pthread_mutex_unlock(&mutex_); }

 private:
  alignas(64) pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

class AbslMutex {
 public:
  static constexpr std::string_view kName = "absl::Mutex";
  static constexpr bool kSpins = false;
  using Node = NoNode;
  void lock(Node&) CONVOY_NO_TSA { mutex_.Lock(); }
  void unlock(Node&) CONVOY_NO_TSA { mutex_.Unlock(); }
  void lock_shared(Node&) CONVOY_NO_TSA { mutex_.ReaderLock(); }
  void unlock_shared(Node&) CONVOY_NO_TSA { mutex_.ReaderUnlock(); }

 private:
  alignas(64) absl::Mutex mutex_;
};

// std::shared_mutex itself is the policy std-shared-mutex.
struct TbbRwMutex : StandardSubject<tbb::rw_mutex> {
  static constexpr std::string_view kName = "tbb::rw_mutex";
  static constexpr bool kSpins = false;
};
struct TbbSpinRwMutex : StandardSubject<tbb::spin_rw_mutex> {
  static constexpr std::string_view kName = "tbb::spin_rw_mutex";
  static constexpr bool kSpins = true;
};
class TbbQueuingRwMutex {
 public:
  static constexpr std::string_view kName = "tbb::queuing_rw_mutex";
  static constexpr bool kSpins = true;
  struct Node {
    alignas(64) tbb::queuing_rw_mutex::scoped_lock lock;
  };
  void lock(Node& node) { node.lock.acquire(mutex_, true); }
  void unlock(Node& node) { node.lock.release(); }
  void lock_shared(Node& node) { node.lock.acquire(mutex_, false); }
  void unlock_shared(Node& node) { node.lock.release(); }

 private:
  alignas(64) tbb::queuing_rw_mutex mutex_;
};

// Concurrency Kit's are inlined in the loops, and calls elsewhere.
template <const CkPeer& kPeer>
class CkSubject {
 public:
  static constexpr bool kSpins = true;
  using Node = CkStorage;
  void lock(Node& node) { kPeer.lock(&lock_, &node); }
  void unlock(Node& node) { kPeer.unlock(&lock_, &node); }
  void loop(Node& node, std::uint64_t n) { kPeer.loop(&lock_, &node, n); }

 protected:
  CkStorage lock_{};
};
template <const CkPeer& kPeer>
class CkSharedSubject : public CkSubject<kPeer> {
 public:
  void lock_shared(CkStorage& node) { kPeer.lock_shared(&this->lock_, &node); }
  void unlock_shared(CkStorage& node) { kPeer.unlock_shared(&this->lock_, &node); }
  void loop_shared(CkStorage& node, std::uint64_t n) { kPeer.loop_shared(&this->lock_, &node, n); }
};
struct CkTicket : CkSubject<kCkTicket> {
  static constexpr std::string_view kName = "ck_ticket";
};
struct CkMcs : CkSubject<kCkMcs> {
  static constexpr std::string_view kName = "ck_mcs";
};
struct CkRwlock : CkSharedSubject<kCkRwlock> {
  static constexpr std::string_view kName = "ck_rwlock";
};
struct CkPflock : CkSharedSubject<kCkPflock> {
  static constexpr std::string_view kName = "ck_pflock";
};

template <class... Ss>
struct SubjectList {};

using Peers = SubjectList<PthreadMutex, AbslMutex, CkTicket, CkMcs, CkRwlock, CkPflock, TbbRwMutex, TbbSpinRwMutex,
                          TbbQueuingRwMutex>;

template <class... Ps, class... Ss>
SubjectList<PolicySubject<Ps>..., Ss...> with_peers(PolicyList<Ps...>, SubjectList<Ss...>);

// Every policy of real threads, so that a new one joins by itself, then the peers.
using Subjects = decltype(with_peers(AllPolicies<RealWorld>{}, Peers{}));

// n times: lock, compiler barrier, unlock. Called through a pointer, so that a lock's address is not a constant to it.
template <class S>
void exclusive_loop(S& subject, std::uint64_t n) {
  typename S::Node node{};
  if constexpr (requires { subject.loop(node, n); }) {
    subject.loop(node, n);
  } else {
    for (std::uint64_t i = 0; i < n; ++i) {
      subject.lock(node);
      asm volatile("" ::: "memory");
      subject.unlock(node);
    }
  }
}
template <SharedSubject S>
void shared_loop(S& subject, std::uint64_t n) {
  typename S::Node node{};
  if constexpr (requires { subject.loop_shared(node, n); }) {
    subject.loop_shared(node, n);
  } else {
    for (std::uint64_t i = 0; i < n; ++i) {
      subject.lock_shared(node);
      asm volatile("" ::: "memory");
      subject.unlock_shared(node);
    }
  }
}

}  // namespace convoy
