// page_source.h — What a response needs of the page cache: pages of a file, pinned while they are sent.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "common/result.h"
#include "server/open_file.h"

namespace convoy {

inline constexpr std::uint32_t kPageBytes = 4096;

// One page that stays in memory, unchanged, until it is unpinned.
struct PinnedPage {
  const std::byte* data;
  std::uint32_t size;  // kPageBytes, less in the last page of a file
  void* folio;
};

// Pages of open files, read once and kept. Thread-safe.
class PageSource {
 public:
  PageSource();
  ~PageSource();

  // Maps page `index` of `file` and pins it. Errors: reading failed, or the file ends before the page.
  Result<PinnedPage> map(const OpenFile& file, std::uint64_t index);

  // Ends a pin. Any thread.
  void unpin(const PinnedPage& page);

 private:
  struct Folio;
  std::mutex mutex_;  // protects folios_
  std::unordered_map<std::uint64_t, std::unique_ptr<Folio>> folios_;
};

}  // namespace convoy
