// ck_peers.h — Concurrency Kit's locks, which are C and do not compile as C++, as functions for the bench.
// SPDX-License-Identifier: MIT
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Storage for any of the locks, and for any queue node, on lines of their own. A lock begins as zeroes.
struct CkStorage {
  unsigned char bytes[64];
} __attribute__((aligned(64)));

// Its lock and unlock are calls; the loops have Concurrency Kit's code inlined, n times lock, compiler barrier, unlock.
// The shared ones are null where there is no shared mode.
struct CkPeer {
  void (*lock)(struct CkStorage* lock, struct CkStorage* node);
  void (*unlock)(struct CkStorage* lock, struct CkStorage* node);
  void (*loop)(struct CkStorage* lock, struct CkStorage* node, uint64_t n);
  void (*lock_shared)(struct CkStorage* lock, struct CkStorage* node);
  void (*unlock_shared)(struct CkStorage* lock, struct CkStorage* node);
  void (*loop_shared)(struct CkStorage* lock, struct CkStorage* node, uint64_t n);
};

extern const struct CkPeer kCkTicket;
extern const struct CkPeer kCkMcs;
extern const struct CkPeer kCkRwlock;
extern const struct CkPeer kCkPflock;

#ifdef __cplusplus
}
#endif
