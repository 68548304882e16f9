// file_store.cc — The arena, and pread.
// SPDX-License-Identifier: MIT
#include "server/file_store.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace convoy {

FileStore::FileStore(std::uint64_t frames, std::uint64_t frame_bytes)
    : frame_bytes_(frame_bytes),
      chunks_((frames * frame_bytes + kChunkBytes - 1) / kChunkBytes),
      arena_(new std::byte*[chunks_]()) {}

FileStore::~FileStore() {
  for (std::uint64_t i = 0; i < chunks_; ++i) {
    if (arena_[i] != nullptr) ::munmap(arena_[i], kChunkBytes);
  }
}

FileStore::Frame* FileStore::frame(std::uint64_t number) {
  const std::uint64_t frames_per_chunk = kChunkBytes / frame_bytes_;
  std::byte*& chunk = arena_[number / frames_per_chunk];
  if (chunk == nullptr) {
    void* const memory =
        ::mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    chunk = static_cast<std::byte*>(memory);
  }
  return chunk + number % frames_per_chunk * frame_bytes_;
}

bool FileStore::read(const File& file, std::uint64_t index, Frame& frame) {
  const std::uint64_t begin = index * frame_bytes_;
  const std::uint64_t wanted = std::min(frame_bytes_, file.size - begin);
  std::uint64_t have = 0;
  while (have < wanted) {
    const ssize_t n = ::pread(file.fd, &frame + have, wanted - have, static_cast<off_t>(begin + have));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    have += static_cast<std::uint64_t>(n);
  }
  return is_still(file.fd, *file.stamp);
}

}  // namespace convoy
