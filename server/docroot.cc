// docroot.cc — Opening files below a folder, and keeping them open.
// SPDX-License-Identifier: MIT
#include "server/docroot.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
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

// Nanoseconds until the last change of a file is old enough for its stamp to be its own; 0 when it is, or lies in the
// future, where a clock was set back.
std::int64_t unsettled_ns(const FileStamp& stamp) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t age = (now.tv_sec - stamp.changed.tv_sec) * 1'000'000'000 + now.tv_nsec - stamp.changed.tv_nsec;
  return age < 0 || age >= Docroot::kSettledNs ? 0 : Docroot::kSettledNs - age;
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

Result<std::unique_ptr<Docroot>> Docroot::open(const std::string& folder, OnRetired on_retired) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail("docroot: '{}' cannot be opened as a folder: {}", folder, std::strerror(errno));
  const int probe = open_beneath(fd, ".", O_RDONLY | O_DIRECTORY);
  if (probe < 0) {
    const int error = errno;
    ::close(fd);
    return fail("docroot: '{}' cannot be searched with openat2 (Linux 5.6): {}", folder, std::strerror(error));
  }
  ::close(probe);
  return std::unique_ptr<Docroot>(new Docroot(folder, fd, max_open_files(), std::move(on_retired)));
}

Docroot::Docroot(std::string folder, int fd, std::size_t max_files, OnRetired on_retired)
    : folder_(std::move(folder)),
      fd_(fd),
      max_files_per_shard_(std::max<std::size_t>(1, max_files / kShards)),
      on_retired_(std::move(on_retired)) {}

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
      if (known != nullptr && (!trust || checked_ns + kTrustedNs <= now_ns)) {
        found->second.checked_ns = now_ns;
        shard.open.splice(shard.open.begin(), shard.open, found->second.use);
      }
    }
  }
  FoundFile result{known, 200};
  if (known == nullptr || !trust || checked_ns + kTrustedNs <= now_ns) {
    checked_ns = now_ns;
    if (known == nullptr || !unchanged(*known)) result = open_anew(shard, path, now_ns);
  }
  if (result.file != nullptr) {
    memo.path_ = path;
    memo.file_ = result.file;
    memo.checked_ns_ = checked_ns;
  }
  return result;
}

FoundFile Docroot::open_anew(Shard& shard, const std::string& path, std::int64_t now_ns) {
  Found found = look(path);
  for (int settles = 0; found.fd >= 0; ++settles) {
    const std::int64_t wait_ns = unsettled_ns(found.stamp);
    if (wait_ns == 0) break;
    ::close(found.fd);
    if (settles == kMaxSettles) {
      found = Found::refusal(503);
      break;
    }
    const timespec wait{0, wait_ns};
    ::nanosleep(&wait, nullptr);
    found = look(path);
  }
  FoundFile result{nullptr, found.status};
  std::vector<Retired> retired;
  {
    const std::lock_guard guard(shard.mutex);
    if (found.fd >= 0) {
      result.file = remember(shard, path, std::move(found), now_ns, retired);
    } else {
      forget(shard, path, retired);
    }
  }
  if (on_retired_) {
    for (const Retired& one : retired) on_retired_(one.version, one.size);
  }
  return result;
}

Docroot::Found Docroot::look(const std::string& path) const {
  bool is_folder = path.empty() || path.back() == '/';
  if (!is_folder) {
    Found found = look_at_plain(path, is_folder);
    if (!is_folder) return found;
  }
  const std::string folder = path.empty() || path.back() == '/' ? path : path + '/';
  bool index_is_folder = false;
  Found index = look_at_plain(folder + "index.html", index_is_folder);
  if (index.fd >= 0 || index.status != 404) return index;
  // A folder without an index is there but not shown.
  const int fd = open_beneath(fd_, folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY);
  if (fd < 0) return Found::refusal(status_of_errno(errno));
  ::close(fd);
  return Found::refusal(403);
}

Docroot::Found Docroot::look_at_plain(const std::string& path, bool& is_folder) const {
  // O_NONBLOCK: opening a FIFO must not wait for its writer.
  const int fd = open_beneath(fd_, path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return Found::refusal(status_of_errno(errno));
  struct stat status {};
  const bool known = ::fstat(fd, &status) == 0;
  is_folder = known && S_ISDIR(status.st_mode);
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(fd);
    return Found::refusal(403);
  }
  return Found{fd, stamp_of(status), path, 200};
}

bool Docroot::unchanged(const OpenFile& file) const {
  // The path was resolved below the folder when it was opened; a different file behind it has a different inode and is
  // then resolved again.
  struct stat status {};
  return ::fstatat(fd_, file.path().c_str(), &status, 0) == 0 && stamp_of(status) == file.stamp();
}

// The file of the entry for `path`, which is now open, checked, and of the version that was found. Takes the
// descriptor. Requires: the shard's mutex.
std::shared_ptr<const OpenFile> Docroot::remember(Shard& shard, const std::string& path, Found found,
                                                  std::int64_t now_ns, std::vector<Retired>& retired) {
  if (const auto known = shard.files.find(path); known != shard.files.end() && !(known->second.stamp == found.stamp)) {
    forget(shard, path, retired);
  }
  const auto [place, fresh] = shard.files.try_emplace(path);
  Entry& entry = place->second;
  if (fresh) {
    entry.version = next_version_.fetch_add(1, std::memory_order_relaxed);
    entry.stamp = found.stamp;
    entry.use = shard.closed.insert(shard.closed.begin(), &place->first);
  }
  entry.checked_ns = now_ns;
  if (entry.file != nullptr) {  // another request was faster
    ::close(found.fd);
  } else {
    entry.file = std::make_shared<OpenFile>(found.fd, entry.version, found.stamp, std::move(found.path));
    shard.open.splice(shard.open.begin(), shard.closed, entry.use);
  }
  std::shared_ptr<const OpenFile> file = entry.file;
  make_room(shard, retired);
  return file;
}

// Requires: the shard's mutex. Never closes or forgets the entry that was opened last.
void Docroot::make_room(Shard& shard, std::vector<Retired>& retired) {
  while (shard.open.size() > max_files_per_shard_) {
    Entry& oldest = shard.files.find(*shard.open.back())->second;
    oldest.file.reset();
    shard.closed.splice(shard.closed.begin(), shard.open, oldest.use);
  }
  while (shard.closed.size() > kMaxKnown / kShards) forget(shard, std::string(*shard.closed.back()), retired);
}

// Requires: the shard's mutex.
void Docroot::forget(Shard& shard, const std::string& path, std::vector<Retired>& retired) {
  const auto found = shard.files.find(path);
  if (found == shard.files.end()) return;
  Entry& entry = found->second;
  retired.push_back({entry.version, entry.stamp.size});
  (entry.file != nullptr ? shard.open : shard.closed).erase(entry.use);
  shard.files.erase(found);
}

}  // namespace convoy
