// docroot.h — The folder that is served, and the table of its open files.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

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
// opened anew and gets a new version. So a response is at most a second behind the disk. Thread-safe.
class Docroot {
 public:
  static constexpr std::int64_t kTrustedNs = 1'000'000'000;

  // The file that a thread asked for last, so that a hot file costs it no lock of the table. One per thread.
  class Memo {
    friend class Docroot;
    std::string path_;
    std::weak_ptr<const OpenFile> file_;
    std::int64_t checked_ns_ = 0;
  };

  // Opens the folder. Errors: it does not exist, is no folder, cannot be read, or the kernel has no openat2.
  static Result<std::unique_ptr<Docroot>> open(const std::string& folder);
  ~Docroot();
  Docroot(const Docroot&) = delete;
  Docroot& operator=(const Docroot&) = delete;

  // The file at `path` (as url_to_path gives it); a folder stands for its index.html.
  FoundFile find(const std::string& path, Memo& memo);

  // As find(), but looks at the disk first: for a file that turned out shorter than it was.
  FoundFile find_again(const std::string& path, Memo& memo);

  const std::string& folder() const { return folder_; }

 private:
  struct Entry {
    std::shared_ptr<const OpenFile> file;
    std::int64_t checked_ns;
    std::list<std::string>::iterator use;  // its place in `by_use`
  };
  struct Shard {
    std::mutex mutex;  // protects the rest
    std::unordered_map<std::string, Entry> files;
    std::list<std::string> by_use;  // the most recently opened or checked first
  };

  Docroot(std::string folder, int fd, std::size_t max_files);
  FoundFile find_in_table(const std::string& path, Memo& memo, bool trust);
  FoundFile open_file(const std::string& path);
  FoundFile open_plain(const std::string& path, bool& is_folder);
  bool unchanged(const OpenFile& file) const;
  void remember(Shard& shard, const std::string& path, std::shared_ptr<const OpenFile> file, std::int64_t now_ns);
  static void forget(Shard& shard, const std::string& path);

  static constexpr std::size_t kShards = 16;
  const std::string folder_;
  const int fd_;
  const std::size_t max_files_per_shard_;
  std::atomic<std::uint64_t> next_version_{1};  // a number only; relaxed
  std::array<Shard, kShards> shards_;
};

}  // namespace convoy
