// open_file.h — One version of a regular file that is open for reading.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace convoy {

// What tells two versions of a file apart.
struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  std::uint64_t size = 0;
  timespec modified{};
  timespec changed{};

  bool operator==(const FileStamp& other) const {
    return same_bytes(other) && changed.tv_sec == other.changed.tv_sec && changed.tv_nsec == other.changed.tv_nsec;
  }
  // All but the change time, which renaming, removing and linking move too.
  bool same_bytes(const FileStamp& other) const {
    return device == other.device && inode == other.inode && size == other.size &&
           modified.tv_sec == other.modified.tv_sec && modified.tv_nsec == other.modified.tv_nsec;
  }
};

FileStamp stamp_of(const struct stat& status);

// Whether the open file `fd` still has the bytes of the version `stamp`. A change moves the change time, before the
// first of its bytes can be read. A file that has lost its last name keeps its bytes, though that moves the time as
// well: there the modification time must do. Not seen: stores through a shared mapping, beyond the first.
bool is_still(int fd, const FileStamp& stamp);

// Immutable. A file that changes on disk becomes another OpenFile with another `version`, so a response that holds this
// one never mixes two versions in what it says about size and date. Closes its descriptor at the end.
class OpenFile {
 public:
  OpenFile(int fd, std::uint64_t version, const FileStamp& stamp, std::string path);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int fd() const { return fd_; }
  std::uint64_t size() const { return stamp_.size; }  // bytes
  std::uint64_t version() const { return version_; }  // unique in this process; the key of the page cache
  const FileStamp& stamp() const { return stamp_; }
  const std::string& path() const { return path_; }  // below the docroot
  // The header lines that every 200 of this file carries: Server, Last-Modified, Content-Length and Content-Type.
  const std::string& headers() const { return headers_; }

 private:
  const int fd_;
  const std::uint64_t version_;
  const FileStamp stamp_;
  const std::string path_;
  const std::string headers_;
};

// The media type that the suffix of `path` stands for; application/octet-stream for unknown ones.
std::string_view content_type_of(std::string_view path);

}  // namespace convoy
