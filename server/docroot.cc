// docroot.cc — Opening files below a folder, and keeping them open.
// SPDX-License-Identifier: MIT
#include "server/docroot.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include "server/clock.h"

namespace convoy {
namespace {

int open_beneath(int folder, const char* path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  // EAGAIN means that a rename raced with the walk; three tries are more than enough for a docroot.
  for (int attempt = 0;; ++attempt) {
    const long fd = ::syscall(SYS_openat2, folder, path, &how, sizeof how);
    if (fd >= 0) return static_cast<int>(fd);
    if (errno != EINTR && !(errno == EAGAIN && attempt < 3)) return -1;
  }
}

FileStamp stamp_of(const struct stat& status) {
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size), status.st_mtim, status.st_ctim};
}

int status_of_errno(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case EINVAL:
      return 404;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return 503;
    default:
      return 403;  // EACCES, EPERM, EXDEV and ELOOP (a link that leads out), ENXIO (a socket or device)
  }
}

// A quarter of the descriptors the process may have: the rest is for connections.
std::size_t max_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 4096;
  return std::clamp<std::size_t>(limit.rlim_cur / 4, 16, 4096);
}

}  // namespace

Result<std::unique_ptr<Docroot>> Docroot::open(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail("docroot: '{}' cannot be opened as a folder: {}", folder, std::strerror(errno));
  const int probe = open_beneath(fd, ".", O_RDONLY | O_DIRECTORY);
  if (probe < 0) {
    const int error = errno;
    ::close(fd);
    return fail("docroot: '{}' cannot be searched with openat2 (Linux 5.6): {}", folder, std::strerror(error));
  }
  ::close(probe);
  return std::unique_ptr<Docroot>(new Docroot(folder, fd, max_open_files()));
}

Docroot::Docroot(std::string folder, int fd, std::size_t max_files)
    : folder_(std::move(folder)), fd_(fd), max_files_per_shard_(std::max<std::size_t>(1, max_files / kShards)) {}

Docroot::~Docroot() { ::close(fd_); }

FoundFile Docroot::find(const std::string& path, Memo& memo) {
  if (memo.checked_ns_ + kTrustedNs > coarse_now_ns() && memo.path_ == path) {
    if (auto file = memo.file_.lock()) return {std::move(file), 200};
  }
  return find_in_table(path, memo, true);
}

FoundFile Docroot::find_again(const std::string& path, Memo& memo) { return find_in_table(path, memo, false); }

FoundFile Docroot::find_in_table(const std::string& path, Memo& memo, bool trust) {
  Shard& shard = shards_[std::hash<std::string>{}(path) % kShards];
  const std::int64_t now_ns = coarse_now_ns();
  std::shared_ptr<const OpenFile> known;
  std::int64_t checked_ns = now_ns;
  {
    const std::lock_guard guard(shard.mutex);
    if (const auto found = shard.files.find(path); found != shard.files.end()) {
      known = found->second.file;
      checked_ns = found->second.checked_ns;
      // Who finds it too old checks it; the others go on with it meanwhile.
      if (!trust || checked_ns + kTrustedNs <= now_ns) {
        found->second.checked_ns = now_ns;
        shard.by_use.splice(shard.by_use.begin(), shard.by_use, found->second.use);
      }
    }
  }
  FoundFile result{known, 200};
  if (known == nullptr || !trust || checked_ns + kTrustedNs <= now_ns) {
    checked_ns = now_ns;
    if (known == nullptr || !unchanged(*known)) {
      result = open_file(path);
      const std::lock_guard guard(shard.mutex);
      if (result.file != nullptr)
        remember(shard, path, result.file, now_ns);
      else
        forget(shard, path);
    }
  }
  if (result.file != nullptr) {
    memo.path_ = path;
    memo.file_ = result.file;
    memo.checked_ns_ = checked_ns;
  }
  return result;
}

FoundFile Docroot::open_file(const std::string& path) {
  bool is_folder = path.empty() || path.back() == '/';
  if (!is_folder) {
    FoundFile found = open_plain(path, is_folder);
    if (!is_folder) return found;
  }
  const std::string folder = path.empty() || path.back() == '/' ? path : path + '/';
  bool index_is_folder = false;
  FoundFile index = open_plain(folder + "index.html", index_is_folder);
  if (index.file != nullptr || index.status != 404) return index;
  // A folder without an index is there but not shown.
  const int fd = open_beneath(fd_, folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY);
  if (fd < 0) return {nullptr, status_of_errno(errno)};
  ::close(fd);
  return {nullptr, 403};
}

FoundFile Docroot::open_plain(const std::string& path, bool& is_folder) {
  // O_NONBLOCK: opening a FIFO must not wait for its writer.
  const int fd = open_beneath(fd_, path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return {nullptr, status_of_errno(errno)};
  struct stat status {};
  const bool known = ::fstat(fd, &status) == 0;
  is_folder = known && S_ISDIR(status.st_mode);
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(fd);
    return {nullptr, 403};
  }
  const auto version = next_version_.fetch_add(1, std::memory_order_relaxed);
  return {std::make_shared<OpenFile>(fd, version, stamp_of(status), path), 200};
}

bool Docroot::unchanged(const OpenFile& file) const {
  // The path was resolved below the folder when it was opened; a different file behind it has a different inode and is
  // then resolved again.
  struct stat status {};
  return ::fstatat(fd_, file.path().c_str(), &status, 0) == 0 && stamp_of(status) == file.stamp();
}

void Docroot::remember(Shard& shard, const std::string& path, std::shared_ptr<const OpenFile> file,
                       std::int64_t now_ns) {
  forget(shard, path);
  if (shard.files.size() >= max_files_per_shard_) {
    const std::string oldest = shard.by_use.back();
    forget(shard, oldest);
  }
  shard.by_use.push_front(path);
  shard.files.emplace(path, Entry{std::move(file), now_ns, shard.by_use.begin()});
}

void Docroot::forget(Shard& shard, const std::string& path) {
  const auto found = shard.files.find(path);
  if (found == shard.files.end()) return;
  shard.by_use.erase(found->second.use);
  shard.files.erase(found);
}

}  // namespace convoy
