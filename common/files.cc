// files.cc — read, write, fsync, rename.
// SPDX-License-Identifier: MIT
#include "common/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace convoy {
namespace {

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close_now(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

  // Returns 0, or the error number with which closing failed.
  int close_now() {
    const int fd = std::exchange(fd_, -1);
    return fd >= 0 && ::close(fd) != 0 ? errno : 0;
  }

 private:
  int fd_;
};

// Returns 0 or an error number.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

tl::unexpected<Error> cannot_write(const std::string& path, int error) {
  return fail("{}: cannot be written: {}", path, std::strerror(error));
}

Result<void> write_in_place(const std::string& path, std::string_view text) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return cannot_write(path, errno);
  if (const int error = write_all(file.get(), text)) return cannot_write(path, error);
  return {};
}

// Where writing to `path` ends up: a symbolic link is followed, even to a file that is not there yet.
std::string destination(const std::string& path) {
  std::error_code error;
  std::filesystem::path file = path;
  constexpr int kMostLinks = 40;  // as the kernel's limit
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(file, error); ++i) {
    const auto target = std::filesystem::read_symlink(file, error);
    if (error) break;
    file = file.parent_path() / target;
  }
  return file.string();
}

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return fail("{}: cannot be read: {}", path, std::strerror(errno));
  std::string text;
  char block[65536];
  for (;;) {
    const auto got = ::read(file.get(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail("{}: cannot be read: {}", path, std::strerror(errno));
    if (got == 0) return text;
    if (text.size() + static_cast<std::size_t>(got) > max_bytes)
      return fail("{}: longer than {} bytes", path, max_bytes);
    text.append(block, static_cast<std::size_t>(got));
  }
}

Result<void> check_writable(const std::string& path) {
  if (path == "-") return {};
  const std::string target = destination(path);
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return cannot_write(path, EISDIR);
  const bool in_place = exists && !S_ISREG(status.st_mode);
  const int allowed = in_place ? ::access(target.c_str(), W_OK) : ::access(folder_of(target).c_str(), W_OK | X_OK);
  if (allowed != 0) return cannot_write(path, errno);
  return {};
}

Result<void> write_text_file(const std::string& path, std::string_view text) {
  if (path == "-") {
    std::fflush(stdout);
    if (const int error = write_all(STDOUT_FILENO, text)) return cannot_write("stdout", error);
    return {};
  }
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return cannot_write(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) return write_in_place(path, text);

  const std::string target = destination(path);
  std::string temporary = target + ".XXXXXX";
  Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.is_open()) return cannot_write(path, errno);
  const auto give_up = [&](int error) {
    ::unlink(temporary.c_str());
    return cannot_write(path, error);
  };
  if (const int error = write_all(file.get(), text)) return give_up(error);
  constexpr mode_t kReadableByAll = 0644;  // mkostemp makes 0600, which the next user of a results folder cannot read
  if (::fchmod(file.get(), exists ? status.st_mode & 07777 : kReadableByAll) != 0) return give_up(errno);
  if (::fsync(file.get()) != 0) return give_up(errno);
  if (const int error = file.close_now()) return give_up(error);
  if (::rename(temporary.c_str(), target.c_str()) != 0) return give_up(errno);
  return {};
}

}  // namespace convoy
