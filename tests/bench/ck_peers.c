// SPDX-License-Identifier: MIT
#include "tests/bench/ck_peers.h"

#include <ck_pflock.h>
#include <ck_rwlock.h>
#include <ck_spinlock.h>

_Static_assert(sizeof(ck_spinlock_ticket_t) <= sizeof(struct CkStorage), "a lock fits into its storage");
_Static_assert(sizeof(ck_spinlock_mcs_context_t) <= sizeof(struct CkStorage), "a node fits into its storage");
_Static_assert(sizeof(ck_rwlock_t) <= sizeof(struct CkStorage), "a lock fits into its storage");
_Static_assert(sizeof(ck_pflock_t) <= sizeof(struct CkStorage), "a lock fits into its storage");

// NAME_lock(), NAME_unlock() and NAME_loop() from a statement each, in terms of `lock` and `node`.
#define LOCK_FUNCTIONS(name, type, lock_it, unlock_it)                                     \
  static void name##_lock(struct CkStorage* storage, struct CkStorage* node) {             \
    type* const lock = (type*)storage;                                                     \
    (void)node;                                                                            \
    lock_it;                                                                               \
  }                                                                                        \
  static void name##_unlock(struct CkStorage* storage, struct CkStorage* node) {           \
    type* const lock = (type*)storage;                                                     \
    (void)node;                                                                            \
    unlock_it;                                                                             \
  }                                                                                        \
  static void name##_loop(struct CkStorage* storage, struct CkStorage* node, uint64_t n) { \
    type* const lock = (type*)storage;                                                     \
    (void)node;                                                                            \
    for (uint64_t i = 0; i < n; ++i) {                                                     \
      lock_it;                                                                             \
      __asm__ volatile("" ::: "memory");                                                   \
      unlock_it;                                                                           \
    }                                                                                      \
  }

#define MCS_NODE ((ck_spinlock_mcs_context_t*)node)
LOCK_FUNCTIONS(ticket, ck_spinlock_ticket_t, ck_spinlock_ticket_lock(lock), ck_spinlock_ticket_unlock(lock))
LOCK_FUNCTIONS(mcs, ck_spinlock_mcs_t, ck_spinlock_mcs_lock(lock, MCS_NODE), ck_spinlock_mcs_unlock(lock, MCS_NODE))
LOCK_FUNCTIONS(rwlock, ck_rwlock_t, ck_rwlock_write_lock(lock), ck_rwlock_write_unlock(lock))
LOCK_FUNCTIONS(rwlock_shared, ck_rwlock_t, ck_rwlock_read_lock(lock), ck_rwlock_read_unlock(lock))
LOCK_FUNCTIONS(pflock, ck_pflock_t, ck_pflock_write_lock(lock), ck_pflock_write_unlock(lock))
LOCK_FUNCTIONS(pflock_shared, ck_pflock_t, ck_pflock_read_lock(lock), ck_pflock_read_unlock(lock))

const struct CkPeer kCkTicket = {ticket_lock, ticket_unlock, ticket_loop, 0, 0, 0};
const struct CkPeer kCkMcs = {mcs_lock, mcs_unlock, mcs_loop, 0, 0, 0};
const struct CkPeer kCkRwlock = {rwlock_lock,        rwlock_unlock,        rwlock_loop,
                                 rwlock_shared_lock, rwlock_shared_unlock, rwlock_shared_loop};
const struct CkPeer kCkPflock = {pflock_lock,        pflock_unlock,        pflock_loop,
                                 pflock_shared_lock, pflock_shared_unlock, pflock_shared_loop};
