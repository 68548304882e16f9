// page_source.cc — Faults and reads of the page cache, with their errors in words.
// SPDX-License-Identifier: MIT
#include "server/page_source.h"

#include <fmt/format.h>

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

tl::expected<void, PageError> PageSource::map(const OpenFile& file, std::uint64_t index,
                                              std::vector<PinnedPage>& list) {
  const FileStore::File stored{file.version(), file.size(), file.fd(), &file.stamp()};
  const auto gather = [&](ServerCache::CachedFolio& folio) {
    const std::uint64_t size = std::min<std::uint64_t>(kPageBytes, file.size() - index * kPageBytes);
    list.push_back({folio.frame + cache_.page_in_folio(index) * kPageBytes, static_cast<std::uint32_t>(size), &folio});
  };
  const Fault fault = access_ == Access::kMmap ? cache_.map(stored, index, gather) : cache_.read(stored, index, gather);
  if (fault == Fault::kMapped) return {};
  return tl::unexpected(error_of(fault, file, index));
}

PageError PageSource::error_of(Fault fault, const OpenFile& file, std::uint64_t index) const {
  if (fault == Fault::kFull) {
    return {PageError::Kind::kFull, "every page of the page cache is in use: 'capacity' is small for this load"};
  }
  if (fault == Fault::kPastEnd) {
    return {PageError::Kind::kChanged, fmt::format("'{}' ends before page {}", file.path(), index)};
  }
  if (!is_still(file.fd(), file.stamp())) {
    return {PageError::Kind::kChanged, fmt::format("'{}' changes while it is read", file.path())};
  }
  return {PageError::Kind::kUnreadable, fmt::format("'{}' cannot be read", file.path())};
}

CacheReport PageSource::report() {
  const CacheNumbers numbers = cache_.numbers();
  CacheReport report;
  report.hits = numbers.hits;
  report.misses = numbers.misses;
  report.fills = numbers.fills;
  report.failed_fills = numbers.failed_fills;
  report.reclaims = numbers.reclaims;
  report.pins = numbers.pins;
  report.folios = numbers.folios;
  report.capacity = numbers.capacity;
  report.folio_bytes = cache_.folio_bytes();
  return report;
}

}  // namespace convoy
