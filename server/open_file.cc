// open_file.cc — Versions of files, and the header lines of one.
// SPDX-License-Identifier: MIT
#include "server/open_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "server/http_text.h"

namespace convoy {

FileStamp stamp_of(const struct stat& status) {
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size), status.st_mtim, status.st_ctim};
}

bool is_still(int fd, const FileStamp& stamp) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return false;
  const FileStamp now = stamp_of(status);
  return now == stamp || (status.st_nlink == 0 && now.same_bytes(stamp));
}

OpenFile::OpenFile(int fd, std::uint64_t version, const FileStamp& stamp, std::string path)
    : fd_(fd),
      version_(version),
      stamp_(stamp),
      path_(std::move(path)),
      headers_(fmt::format("Server: {}\r\nLast-Modified: {}\r\nContent-Length: {}\r\nContent-Type: {}\r\n", kServerName,
                           http_date(stamp.modified.tv_sec), stamp.size, content_type_of(path_))) {}

OpenFile::~OpenFile() { ::close(fd_); }

std::string_view content_type_of(std::string_view path) {
  struct Type {
    std::string_view suffix, type;
  };
  static constexpr Type kTypes[] = {
      {".html", "text/html; charset=utf-8"},
      {".htm", "text/html; charset=utf-8"},
      {".txt", "text/plain; charset=utf-8"},
      {".md", "text/plain; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".json", "application/json"},
      {".csv", "text/csv; charset=utf-8"},
      {".xml", "application/xml"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".jpg", "image/jpeg"},
      {".jpeg", "image/jpeg"},
      {".gif", "image/gif"},
      {".webp", "image/webp"},
      {".ico", "image/x-icon"},
      {".pdf", "application/pdf"},
      {".wasm", "application/wasm"},
  };
  const auto dot = path.rfind('.');
  if (dot != path.npos) {
    for (const auto& [suffix, type] : kTypes) {
      if (path.substr(dot) == suffix) return type;
    }
  }
  return "application/octet-stream";
}

}  // namespace convoy
