// server_locks.h — The server's lock classes, by role, and the locks that stand in its page cache.
// SPDX-License-Identifier: MIT
#pragma once

#include "cache/page_cache.h"
#include "locks/any_lock.h"
#include "locks/policies.h"
#include "server/file_store.h"

namespace convoy {

// The roles page, mapping and lru. Their policies are set before the first lock is built.
struct LockClasses {
  LockClass<RealWorld> page{"page"};
  LockClass<RealWorld> mapping{"mapping"};
  LockClass<RealWorld> lru{"lru"};
};

struct ServerCacheLocks {
  using Page = AnyLock<RealWorld, PagePolicies<RealWorld>>;
  using Mapping = AnyLock<RealWorld, MappingPolicies<RealWorld>>;
  using Lru = AnyLock<RealWorld, LruPolicies<RealWorld>>;
};

using ServerCache = PageCache<RealWorld, ServerCacheLocks, FileStore>;

}  // namespace convoy
