// page_source.h — What a response needs of the page cache: pages of a file, pinned while they are sent.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/result.h"
#include "server/file_store.h"
#include "server/open_file.h"
#include "server/server_locks.h"

namespace convoy {

// One page that stays in memory, unchanged, until it is unpinned.
struct PinnedPage {
  const std::byte* data;
  std::uint32_t size;  // kPageBytes, less in the last page of a file
  ServerCache::CachedFolio* folio;
};

// How a request takes pages.
enum class Access : std::uint8_t {
  kMmap,  // by page faults, under the page lock
  kRead,  // as read() does, without it
};

// Pages of open files, read once and kept. Thread-safe; map() may sleep in locks and read the file.
class PageSource {
 public:
  struct Options {
    unsigned folio_order = 2;
    std::uint64_t capacity = 1 << 30;  // bytes
    Access access = Access::kMmap;
  };

  // The policies of the classes are set.
  PageSource(LockClasses& classes, const Options& options);

  // Maps page `index` of `file` and pins it. Errors: reading failed, the file ends before the page, the cache is full.
  Result<PinnedPage> map(const OpenFile& file, std::uint64_t index);

  // Ends a pin. Any thread.
  void unpin(const PinnedPage& page) { cache_.unpin(*page.folio); }

 private:
  const Access access_;
  FileStore store_;
  ServerCache cache_;
};

}  // namespace convoy
