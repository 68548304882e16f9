// page_source.h — What a response needs of the page cache: pages of a file, pinned while they are sent.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/lock_report.h"
#include "common/result.h"
#include "server/file_store.h"
#include "server/open_file.h"
#include "server/page_waiters.h"
#include "server/server_locks.h"

namespace convoy {

// One page that stays in memory, unchanged, until it is unpinned.
struct PinnedPage {
  const std::byte* data;
  std::uint32_t size;  // kPageBytes, less in the last page of a file
  ServerCache::CachedFolio* folio;
};

// Why a page could not be mapped.
struct PageError {
  enum class Kind : std::uint8_t {
    kFull,        // every folio of the cache is in use: try later
    kChanged,     // the file is no longer the version that is open: open it again
    kUnreadable,  // the disk, or whatever it is, refused
  };
  Kind kind;
  std::string message;
};

// How a request takes pages.
enum class Access : std::uint8_t {
  kMmap,  // by page faults, under the page lock
  kRead,  // as read() does, without it
};

// Pages of open files, read once and kept as long as there is room. Thread-safe; map() and drop() may sleep in locks,
// map() may read the file.
class PageSource {
 public:
  struct Options {
    unsigned folio_order = 2;
    std::uint64_t capacity = 1 << 30;  // bytes
    Access access = Access::kMmap;
  };

  // The policies of the classes are set.
  PageSource(LockClasses& classes, const Options& options);

  // Maps page `index` of `file`, pins it and appends it to `list`, in one hold of the page lock. Room in the list is
  // the caller's care: it should not grow there.
  tl::expected<void, PageError> map(const OpenFile& file, std::uint64_t index, std::vector<PinnedPage>& list);

  // Gives every page lock the policy at `position` of PagePolicies. Requires: nobody is in a region.
  void reset_page_locks(std::uint8_t position) {
    cache_.for_each_page_lock([position](ServerCacheLocks::Page& lock) { lock.reset(position); });
  }

  // Ends the pins of a list and empties it; who waits for pages may then have these. Any thread; takes no policy lock.
  void unpin(std::vector<PinnedPage>& list) {
    if (list.empty()) return;
    for (const PinnedPage& page : list) cache_.unpin(*page.folio);
    list.clear();
    waiters_.room();
  }

  // Who found the cache full.
  PageWaiters& waiters() { return waiters_; }

  // A version of a file that is no more, or that nobody will name again: what is cached of it can go.
  void drop(std::uint64_t version, std::uint64_t size) { cache_.drop(version, size); }

  // As GET /locks shows it. Any thread.
  CacheReport report();

 private:
  PageError error_of(Fault fault, const OpenFile& file, std::uint64_t index) const;

  const Access access_;
  FileStore store_;
  ServerCache cache_;
  PageWaiters waiters_;
};

}  // namespace convoy
