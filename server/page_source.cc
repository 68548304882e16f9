// page_source.cc — Faults and reads of the page cache, with their errors in words.
// SPDX-License-Identifier: MIT
#include "server/page_source.h"

#include <algorithm>

namespace convoy {
namespace {

std::uint64_t folio_bytes(const PageSource::Options& options) { return kPageBytes << options.folio_order; }
std::uint64_t folio_count(const PageSource::Options& options) {
  return std::max<std::uint64_t>(options.capacity / folio_bytes(options), 1);
}

}  // namespace

PageSource::PageSource(LockClasses& classes, const Options& options)
    : access_(options.access),
      store_(folio_count(options), folio_bytes(options)),
      cache_({classes.page, classes.mapping, classes.lru}, store_, options.folio_order, folio_count(options)) {}

Result<PinnedPage> PageSource::map(const OpenFile& file, std::uint64_t index) {
  const FileStore::File stored{file.version(), file.size(), file.fd()};
  ServerCache::CachedFolio* folio = nullptr;
  switch (access_ == Access::kMmap ? cache_.map(stored, index, folio) : cache_.read(stored, index, folio)) {
    case Fault::kMapped:
      break;
    case Fault::kPastEnd:
      return fail("'{}' ends before page {}", file.path(), index);
    case Fault::kIoError:
      return fail("'{}' cannot be read, or is shorter than it was", file.path());
    case Fault::kFull:
      return fail("the page cache is full: 'capacity' is too small for the files in use");
  }
  const std::uint64_t size = std::min<std::uint64_t>(kPageBytes, file.size() - index * kPageBytes);
  return PinnedPage{folio->frame->bytes + cache_.page_in_folio(index) * kPageBytes, static_cast<std::uint32_t>(size),
                    folio};
}

}  // namespace convoy
