// file_store.h — Where the page cache's bytes come from: pread of an open file into an arena of frames.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "server/open_file.h"

namespace convoy {

// A BackingStore (cache/page_cache.h). The arena is made in chunks as frames are first asked for, and takes memory only
// as they are filled.
class FileStore {
 public:
  // One version of one file, open for reading as long as the call that names it.
  struct File {
    std::uint64_t id;
    std::uint64_t size;  // bytes
    int fd;
    const FileStamp* stamp;
  };
  using Frame = std::byte;  // the first of frame_bytes

  // Room for `frames` frames of `frame_bytes` each (a power of two, at most a chunk).
  FileStore(std::uint64_t frames, std::uint64_t frame_bytes);
  ~FileStore();
  FileStore(const FileStore&) = delete;
  FileStore& operator=(const FileStore&) = delete;

  // Null when the system has no memory for it now. By one thread at a time.
  Frame* frame(std::uint64_t number);

  // False when reading failed, or when the file is no longer the version of `file.stamp`. Thread-safe.
  bool read(const File& file, std::uint64_t index, Frame& frame);

 private:
  // The address space of a chunk is asked for at once: 64 MiB, so that 1 TiB is a table of 128 KiB.
  static constexpr std::uint64_t kChunkBytes = 64 << 20;

  const std::uint64_t frame_bytes_;
  const std::uint64_t chunks_;
  const std::unique_ptr<std::byte*[]> arena_;  // by chunk; null where there is none yet
};

}  // namespace convoy
