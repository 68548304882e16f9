// docroot.h — The folder that is served, and the table of its open files.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/result.h"
#include "server/open_file.h"

namespace convoy {

// What a look-up gave: a file, or the HTTP status that refuses it.
struct FoundFile {
  std::shared_ptr<const OpenFile> file;
  int status = 200;  // 403, 404 or 503 without a file
};

// Opens the files of one folder for reading and keeps them open. Paths are resolved by the kernel below the folder
// (openat2 with RESOLVE_BENEATH): neither ".." nor a symbolic link leads out of it. Only regular files are served.
//
// A file in the table is trusted for kTrustedNs, then compared with the disk by one fstatat; a file that changed is
// opened anew and gets a new version. So a response is at most a second behind the disk. The table keeps a quarter of
// the process's descriptors open, and knows kMaxKnown files: one that it closed and opens again, unchanged, has the
// version that it had. Thread-safe.
//
// A version is told from the next by its stamp, and a stamp by times that move in ticks of up to 10 ms: a file is
// opened for serving once its last change is kSettledNs old, so that no later change can have the same stamp. Until
// then the request sleeps, kMaxSettles times at most; a file that is then still being written is refused with 503.
class Docroot {
 public:
  static constexpr std::int64_t kTrustedNs = 1'000'000'000;
  static constexpr std::int64_t kSettledNs = 20'000'000;
  static constexpr int kMaxSettles = 10;
  static constexpr std::size_t kMaxKnown = 1 << 18;  // some 300 bytes each, once they were asked for

  // Called with a version that nobody will find any more, and its size, outside of every lock of the table. Responses
  // that began with it may still hold it.
  using OnRetired = std::function<void(std::uint64_t version, std::uint64_t size)>;

  // The file that a thread asked for last, so that a hot file costs it no lock of the table. One per thread.
  class Memo {
    friend class Docroot;
    std::string path_;
    std::weak_ptr<const OpenFile> file_;
    std::int64_t checked_ns_ = 0;
  };

  // Opens the folder. Errors: it does not exist, is no folder, cannot be read, or the kernel has no openat2.
  static Result<std::unique_ptr<Docroot>> open(const std::string& folder, OnRetired on_retired = {});
  ~Docroot();
  Docroot(const Docroot&) = delete;
  Docroot& operator=(const Docroot&) = delete;

  // The file at `path` (as url_to_path gives it); a folder stands for its index.html.
  FoundFile find(const std::string& path, Memo& memo);

  // As find(), but looks at the disk first: for a file that turned out shorter than it was.
  FoundFile find_again(const std::string& path, Memo& memo);

  const std::string& folder() const { return folder_; }

 private:
  // A place in one of a shard's two lists, by the key in `files`.
  using Uses = std::list<const std::string*>;

  // A version of a file, open or closed.
  struct Entry {
    std::shared_ptr<const OpenFile> file;  // null when it is closed
    std::uint64_t version;
    FileStamp stamp;
    std::int64_t checked_ns;
    Uses::iterator use;
  };
  struct Shard {
    std::mutex mutex;  // protects the rest
    std::unordered_map<std::string, Entry> files;
    Uses open;    // the most recently opened or checked first
    Uses closed;  // the most recently closed first
  };
  // What the disk has at a path now: a descriptor and its stamp, or a status that refuses it.
  struct Found {
    int fd = -1;
    FileStamp stamp;
    std::string path;
    int status = 200;
    static Found refusal(int status) {
      Found found;
      found.status = status;
      return found;
    }
  };
  struct Retired {
    std::uint64_t version;
    std::uint64_t size;
  };

  Docroot(std::string folder, int fd, std::size_t max_files, OnRetired on_retired);
  FoundFile find_in_table(const std::string& path, Memo& memo, bool trust);
  FoundFile open_anew(Shard& shard, const std::string& path, std::int64_t now_ns);
  Found look(const std::string& path) const;
  Found look_at_plain(const std::string& path, bool& is_folder) const;
  bool unchanged(const OpenFile& file) const;
  std::shared_ptr<const OpenFile> remember(Shard& shard, const std::string& path, Found found, std::int64_t now_ns,
                                           std::vector<Retired>& retired);
  void make_room(Shard& shard, std::vector<Retired>& retired);
  static void forget(Shard& shard, const std::string& path, std::vector<Retired>& retired);

  static constexpr std::size_t kShards = 16;
  const std::string folder_;
  const int fd_;
  const std::size_t max_files_per_shard_;
  const OnRetired on_retired_;
  std::atomic<std::uint64_t> next_version_{1};  // a number only; relaxed
  std::array<Shard, kShards> shards_;
};

}  // namespace convoy
