// file_store.h — Where the page cache's bytes come from: pread of an open file into an arena of frames.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/result.h"

namespace convoy {

// A BackingStore (cache/page_cache.h). The arena is reserved at once and takes memory only as frames are filled.
// Thread-safe.
class FileStore {
 public:
  // One version of one file, open for reading as long as the call that names it.
  struct File {
    std::uint64_t id;
    std::uint64_t size;  // bytes
    int fd;
  };
  struct Frame {
    std::byte* bytes;
  };

  // Room for `frames` frames of `frame_bytes` each. Panics when the address space cannot be reserved.
  FileStore(std::uint64_t frames, std::uint64_t frame_bytes);
  ~FileStore();
  FileStore(const FileStore&) = delete;
  FileStore& operator=(const FileStore&) = delete;

  Frame& frame(std::uint64_t number);

  // False when the file is shorter than `file.size` says, or reading failed.
  bool read(const File& file, std::uint64_t index, Frame& frame);

 private:
  const std::uint64_t frame_bytes_;
  const std::uint64_t arena_bytes_;
  std::byte* arena_;
  Frame* frames_;
};

}  // namespace convoy
