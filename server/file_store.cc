// file_store.cc — The arena, and pread.
// SPDX-License-Identifier: MIT
#include "server/file_store.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "locks/world_real.h"

namespace convoy {
namespace {

std::byte* reserve(std::uint64_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) RealWorld::panic("the page cache's capacity cannot be reserved as address space");
  return static_cast<std::byte*>(memory);
}

}  // namespace

FileStore::FileStore(std::uint64_t frames, std::uint64_t frame_bytes)
    : frame_bytes_(frame_bytes),
      arena_bytes_(frames * frame_bytes),
      arena_(reserve(arena_bytes_)),
      frames_(new Frame[frames]) {
  for (std::uint64_t i = 0; i < frames; ++i) frames_[i].bytes = arena_ + i * frame_bytes;
}

FileStore::~FileStore() {
  ::munmap(arena_, arena_bytes_);
  delete[] frames_;
}

FileStore::Frame& FileStore::frame(std::uint64_t number) { return frames_[number]; }

bool FileStore::read(const File& file, std::uint64_t index, Frame& frame) {
  const std::uint64_t begin = index * frame_bytes_;
  const std::uint64_t wanted = std::min(frame_bytes_, file.size - begin);
  std::uint64_t have = 0;
  while (have < wanted) {
    const ssize_t n = ::pread(file.fd, frame.bytes + have, wanted - have, static_cast<off_t>(begin + have));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    have += static_cast<std::uint64_t>(n);
  }
  return true;
}

}  // namespace convoy
