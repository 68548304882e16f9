// page_source.cc — Folios of four pages behind one mutex.
// SPDX-License-Identifier: MIT
#include "server/page_source.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace convoy {

namespace {
constexpr std::uint64_t kFolioPages = 4;
constexpr std::uint64_t kFolioBytes = kFolioPages * kPageBytes;
constexpr std::size_t kMaxFolios = 65536;  // 1 GiB

std::uint64_t key_of(std::uint64_t version, std::uint64_t folio) { return (version << 32) ^ folio; }
}  // namespace

struct PageSource::Folio {
  std::uint64_t bytes = 0;  // read from the file; the rest is past its end
  std::atomic<std::uint32_t> pins{0};
  std::byte data[kFolioBytes];
};

PageSource::PageSource() = default;
PageSource::~PageSource() = default;

Result<PinnedPage> PageSource::map(const OpenFile& file, std::uint64_t index) {
  const std::uint64_t number = index / kFolioPages;
  const std::lock_guard guard(mutex_);
  auto found = folios_.find(key_of(file.version(), number));
  if (found == folios_.end()) {
    if (folios_.size() >= kMaxFolios) {
      std::erase_if(folios_, [](const auto& entry) { return entry.second->pins.load(std::memory_order_acquire) == 0; });
    }
    auto folio = std::make_unique<Folio>();
    while (folio->bytes < kFolioBytes) {
      const auto offset = static_cast<off_t>(number * kFolioBytes + folio->bytes);
      const ssize_t n = ::pread(file.fd(), folio->data + folio->bytes, kFolioBytes - folio->bytes, offset);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return fail("'{}': {}", file.path(), std::strerror(errno));
      if (n == 0) break;
      folio->bytes += static_cast<std::uint64_t>(n);
    }
    found = folios_.emplace(key_of(file.version(), number), std::move(folio)).first;
  }
  Folio& folio = *found->second;
  const std::uint64_t wanted = std::min<std::uint64_t>(kPageBytes, file.size() - index * kPageBytes);
  const std::uint64_t offset = index % kFolioPages * kPageBytes;
  if (folio.bytes < offset + wanted) return fail("'{}' is shorter than it was", file.path());
  folio.pins.fetch_add(1, std::memory_order_relaxed);
  return PinnedPage{folio.data + offset, static_cast<std::uint32_t>(wanted), &folio};
}

void PageSource::unpin(const PinnedPage& page) {
  static_cast<Folio*>(page.folio)->pins.fetch_sub(1, std::memory_order_release);
}

}  // namespace convoy
